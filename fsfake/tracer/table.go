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

// A part is the calls of one kind, and what is done about them.
type part struct {
	what  string
	calls []spec
}

// parts are all calls that are known.
func parts() []part {
	return []part{
		{"modelled: files by name", byName},
		{"modelled: files by descriptor", byDescriptor},
		{"modelled: processes and signals", aboutProcesses},
		{"modelled: clocks and waiting", aboutTime},
		{"modelled: timers", aboutAlarms},
		{"modelled: sockets", aboutSockets},
		{"modelled: others", other},
		{"outside", outsideOnly},
		{"harmless", harmless},
		{"refused", refusedCalls},
		{"ends the run", endsRun},
	}
}

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
	for _, part := range parts() {
		c = append(c, part.calls...)
	}
	sort.Slice(c, func(i, j int) bool { return c[i].nr < c[j].nr })
	return c
}

// harmless calls touch no file, wait for nobody, and answer the same in every run.
var harmless = []spec{
	{unix.SYS_MUNMAP, "munmap", 2, nil},
	{unix.SYS_BRK, "brk", 1, nil},
	{unix.SYS_RT_SIGPROCMASK, "rt_sigprocmask", 4, nil},
	{unix.SYS_RT_SIGRETURN, "rt_sigreturn", 0, nil},
	{unix.SYS_RT_SIGPENDING, "rt_sigpending", 2, nil},
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
	{unix.SYS_MEMBARRIER, "membarrier", 3, nil},
	{unix.SYS_CLOCK_GETRES, "clock_getres", 2, nil},
	{unix.SYS_PKEY_ALLOC, "pkey_alloc", 2, nil},
	{unix.SYS_PKEY_FREE, "pkey_free", 1, nil},
}

// outsideOnly calls are made on what lies outside of the virtual directory. On a file of the fake they end the run.
var outsideOnly = []spec{
	{unix.SYS_INOTIFY_RM_WATCH, "inotify_rm_watch", 2, realOnly},
	{unix.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", 3, notInside(1)},
	{unix.SYS_GETDENTS, "getdents", 3, realOnly},
	{unix.SYS_SPLICE, "splice", 6, noneFake(0, 2)},
	{unix.SYS_TEE, "tee", 4, noneFake(0, 1)},
	{unix.SYS_VMSPLICE, "vmsplice", 4, noneFake(0)},
	{unix.SYS_SIGNALFD4, "signalfd4", 4, (*thread).signalfd},
	{unix.SYS_SIGNALFD, "signalfd", 3, (*thread).signalfd},
}

// refusedCalls fail as on a kernel that does not have them, or does not permit them. Programs go on another way.
var refusedCalls = []spec{
	{unix.SYS_PTRACE, "ptrace", 4, func(t *thread, c *call) { t.refuse(unix.EPERM) }},
	{unix.SYS_FUTEX_WAITV, "futex_waitv", 5, noSuchCall},
	// The kernel would write into memory on which CPU a thread is, by which equal states differ. No file is used by it.
	{unix.SYS_RSEQ, "rseq", 4, func(t *thread, _ *call) { t.fail(unix.ENOSYS) }},
	{unix.SYS_IO_URING_SETUP, "io_uring_setup", 2, otherFiles},
	{unix.SYS_IO_SETUP, "io_setup", 2, otherFiles},
	{unix.SYS_BPF, "bpf", 3, noSuchCall},
	{unix.SYS_PERF_EVENT_OPEN, "perf_event_open", 5, noSuchCall},
	{unix.SYS_USERFAULTFD, "userfaultfd", 1, noSuchCall},
	{unix.SYS_LANDLOCK_CREATE_RULESET, "landlock_create_ruleset", 3, noSuchCall},
	{unix.SYS_LANDLOCK_ADD_RULE, "landlock_add_rule", 4, noSuchCall},
	{unix.SYS_LANDLOCK_RESTRICT_SELF, "landlock_restrict_self", 2, noSuchCall},
	{unix.SYS_NAME_TO_HANDLE_AT, "name_to_handle_at", 5, otherFiles},
	{unix.SYS_OPEN_BY_HANDLE_AT, "open_by_handle_at", 3, otherFiles},
	{unix.SYS_FANOTIFY_INIT, "fanotify_init", 2, noSuchCall},
	{unix.SYS_KCMP, "kcmp", 5, noSuchCall},
	{unix.SYS_ADD_KEY, "add_key", 5, noSuchCall},
	{unix.SYS_REQUEST_KEY, "request_key", 4, noSuchCall},
	{unix.SYS_KEYCTL, "keyctl", 5, noSuchCall},
	{unix.SYS_CACHESTAT, "cachestat", 4, noSuchCall},
	{unix.SYS_MAP_SHADOW_STACK, "map_shadow_stack", 3, noSuchCall},
	{unix.SYS_STATMOUNT, "statmount", 4, noSuchCall},
	{unix.SYS_LISTMOUNT, "listmount", 4, noSuchCall},
	{unix.SYS_MSEAL, "mseal", 3, noSuchCall},
}

// endsRun calls end the run.
var endsRun = []spec{
	{unix.SYS_TIMERFD_CREATE, "timerfd_create", 2, unmodelled("timers as descriptors are not handled")},
	{unix.SYS_RECVMMSG, "recvmmsg", 5, unmodelled("it is not handled")},
	{unix.SYS_SECCOMP, "seccomp", 3, unmodelled("its own seccomp filter is not handled")},
	{unix.SYS_UNSHARE, "unshare", 1, unmodelled("namespaces are not handled")},
	{unix.SYS_SETNS, "setns", 2, unmodelled("namespaces are not handled")},
	{unix.SYS_CHROOT, "chroot", 1, unmodelled("another root directory is not handled")},
	{unix.SYS_PIVOT_ROOT, "pivot_root", 2, unmodelled("another root directory is not handled")},
	{unix.SYS_MOUNT, "mount", 5, unmodelled("mounts are not handled")},
	{unix.SYS_UMOUNT2, "umount2", 2, unmodelled("mounts are not handled")},
}

func noSuchCall(t *thread, _ *call) { t.refuse(unix.ENOSYS) }

// otherFiles is noSuchCall for a call with which a program uses files in another way, which most kernels have.
func otherFiles(t *thread, _ *call) { t.refuseUnlike(unix.ENOSYS) }
