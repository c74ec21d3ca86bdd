//go:build linux && amd64

package tracer

import (
	"sort"

	"golang.org/x/sys/unix"
)

// A spec is what is done about one system call.
type spec struct {
	nr   int
	name string
	args int
	do   func(*thread, *call) // nil: harmless, never stops
}

type callTable []spec // sorted by number

// calls is every system call that is known. One that is not here is a fault.
var calls = newTable()

func (c callTable) of(nr int) *spec {
	i := sort.Search(len(c), func(i int) bool { return c[i].nr >= nr })
	if i < len(c) && c[i].nr == nr {
		return &c[i]
	}
	return nil
}

func newTable() callTable {
	var c callTable
	for _, part := range [][]spec{harmless, byName, byDescriptor, aboutProcesses, aboutTime, aboutAlarms, aboutSockets, other} {
		c = append(c, part...)
	}
	sort.Slice(c, func(i, j int) bool { return c[i].nr < c[j].nr })
	return c
}

// harmless calls touch no file, wait for nobody, and answer the same in every run.
var harmless = []spec{
	{unix.SYS_MPROTECT, "mprotect", 3, nil},
	{unix.SYS_MUNMAP, "munmap", 2, nil},
	{unix.SYS_BRK, "brk", 1, nil},
	{unix.SYS_RT_SIGPROCMASK, "rt_sigprocmask", 4, nil},
	{unix.SYS_RT_SIGRETURN, "rt_sigreturn", 0, nil},
	{unix.SYS_RT_SIGPENDING, "rt_sigpending", 2, nil},
	{unix.SYS_MREMAP, "mremap", 5, nil},
	{unix.SYS_MSYNC, "msync", 3, nil},
	{unix.SYS_MINCORE, "mincore", 3, nil},
	{unix.SYS_MADVISE, "madvise", 3, nil},
	{unix.SYS_MLOCK, "mlock", 2, nil},
	{unix.SYS_MLOCK2, "mlock2", 3, nil},
	{unix.SYS_MUNLOCK, "munlock", 2, nil},
	{unix.SYS_PIPE, "pipe", 1, nil},
	{unix.SYS_PIPE2, "pipe2", 2, nil},
	{unix.SYS_EVENTFD, "eventfd", 1, nil},
	{unix.SYS_EVENTFD2, "eventfd2", 2, nil},
	{unix.SYS_SIGNALFD, "signalfd", 3, nil},
	{unix.SYS_EPOLL_CREATE, "epoll_create", 1, nil},
	{unix.SYS_EPOLL_CREATE1, "epoll_create1", 1, nil},
	{unix.SYS_INOTIFY_INIT, "inotify_init", 0, nil},
	{unix.SYS_INOTIFY_INIT1, "inotify_init1", 1, nil},
	{unix.SYS_MEMFD_CREATE, "memfd_create", 2, nil},
	{unix.SYS_SOCKET, "socket", 3, nil},
	{unix.SYS_SOCKETPAIR, "socketpair", 4, nil},
	{unix.SYS_UNAME, "uname", 1, nil},
	{unix.SYS_GETRLIMIT, "getrlimit", 2, nil},
	{unix.SYS_GETUID, "getuid", 0, nil},
	{unix.SYS_GETGID, "getgid", 0, nil},
	{unix.SYS_GETEUID, "geteuid", 0, nil},
	{unix.SYS_GETEGID, "getegid", 0, nil},
	{unix.SYS_GETGROUPS, "getgroups", 2, nil},
	{unix.SYS_GETRESUID, "getresuid", 3, nil},
	{unix.SYS_GETRESGID, "getresgid", 3, nil},
	{unix.SYS_SIGALTSTACK, "sigaltstack", 2, nil},
	{unix.SYS_ARCH_PRCTL, "arch_prctl", 2, nil},
	{unix.SYS_SCHED_GET_PRIORITY_MAX, "sched_get_priority_max", 1, nil},
	{unix.SYS_SCHED_GET_PRIORITY_MIN, "sched_get_priority_min", 1, nil},
	{unix.SYS_GETCPU, "getcpu", 3, nil},
	{unix.SYS_SET_ROBUST_LIST, "set_robust_list", 2, nil},
	{unix.SYS_RSEQ, "rseq", 4, nil},
	{unix.SYS_MEMBARRIER, "membarrier", 3, nil},
	{unix.SYS_CLOCK_GETRES, "clock_getres", 2, nil},
	{unix.SYS_PKEY_MPROTECT, "pkey_mprotect", 4, nil},
	{unix.SYS_PKEY_ALLOC, "pkey_alloc", 2, nil},
	{unix.SYS_PKEY_FREE, "pkey_free", 1, nil},
}
