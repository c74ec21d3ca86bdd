//go:build linux

package kernel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// workerEnv holds the environment of a worker, as JSON; its presence makes a worker.
const workerEnv = "LOCKPICK_KERNEL_WORKER"

// Descriptors. Those of the simulated process are below maxFDs, the limit on open files
// that the worker sets itself, a worker's own ones above.
const (
	numStreams     = 3 // the standard streams
	maxFDs         = 1024
	firstPrivateFD = 1100

	fdExe   = firstPrivateFD     // the binary
	fdSlash = firstPrivateFD + 1 // the real "/"
	fdRoot  = firstPrivateFD + 2 // the directory that is the disk
	fdCwd   = firstPrivateFD + 3 // the working directory
	fdNull  = firstPrivateFD + 4 // what the standard input and output are
	fdErr   = firstPrivateFD + 5 // what the standard error is: the driver's
	fdSlots = firstPrivateFD + 6 // two for each slot: read, write
)

type stage string

const (
	stageStart   stage = "start"   // started by the driver
	stageNursery stage = "nursery" // started by the driver, to fork workers
	stageFork    stage = "fork"    // started by another worker
	stageExec    stage = "exec"    // the same process, after execve
)

// An environment is what a worker is told when it is executed.
type environment struct {
	Stage       stage
	Slots, Slot int
	Root        string // the directory that is the disk
	Chroot      bool
	UID, GID    int  // -1: stay who you are
	CPU         int  // -1: any
	Tasks       int  // threads that make calls
	CallsOnly   bool // see Options
	Umask       int
	Cwd         string
	CloseOnExec []int `json:",omitempty"` // after fork
	Closed      []int `json:",omitempty"` // the standard streams that are closed
	NonBlocking []int `json:",omitempty"` // those that have O_NONBLOCK
}

// String returns the environment as text.
func (e *environment) String() string {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // nothing in it can fail
	}
	return string(b)
}

// self is the path of the binary, valid outside of the chroot, whoever the user is.
func (e *environment) self() string { return "/proc/self/fd/" + strconv.Itoa(fdExe) }

// channel returns a worker's end of a slot.
func (e *environment) channel(slot int) channel {
	return channel{r: fdSlots + 2*slot, w: fdSlots + 2*slot + 1}
}

// start makes this process what its environment says.
func (w *worker) start(spec string) error {
	e := &w.env
	if err := json.Unmarshal([]byte(spec), e); err != nil {
		return fmt.Errorf("kernel: %s: %w", workerEnv, err)
	}
	if !e.Chroot {
		w.prefix = e.Root
	}
	if e.Stage == stageStart || e.Stage == stageNursery {
		if err := e.takeDescriptors(); err != nil {
			return fmt.Errorf("kernel: setting descriptors up: %w", err)
		}
	}
	if e.CPU >= 0 {
		if err := Pin(e.CPU); err != nil {
			return err
		}
	}
	unix.Umask(e.Umask)
	if err := noRestart(); err != nil {
		return fmt.Errorf("kernel: changing a signal's action: %w", err)
	}
	if e.Stage == stageNursery {
		return nil // what it forks becomes workers
	}
	return e.settleIn(e.Stage == stageStart)
}

// settleIn makes the process one of the simulated machine: its place, its descriptors, and,
// if it is new there, its user.
func (e *environment) settleIn(first bool) error {
	if err := e.enter(first); err != nil {
		return fmt.Errorf("kernel: entering %s: %w", e.Root, err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("kernel: getrlimit: %w", err)
	}
	limit.Cur = maxFDs
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("kernel: setrlimit: %w", err)
	}
	for _, fd := range e.Closed { // the Go runtime has opened them
		unix.Close(fd)
	}
	for _, fd := range e.NonBlocking {
		setNonBlocking(fd, true)
	}
	for _, fd := range e.CloseOnExec {
		unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC)
	}
	if first && e.UID >= 0 {
		if err := e.become(); err != nil {
			return fmt.Errorf("kernel: becoming user %d: %w", e.UID, err)
		}
	}
	return nil
}

// takeDescriptors moves the slots' descriptors, which start at 3, out of the way, and
// opens the private ones.
func (e *environment) takeDescriptors() error {
	for i := range 2 * e.Slots {
		if err := unix.Dup3(numStreams+i, fdSlots+i, 0); err != nil {
			return err
		}
	}
	for _, d := range [...]struct{ from, to int }{{0, fdNull}, {2, fdErr}} {
		if err := unix.Dup3(d.from, d.to, 0); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		fd   int
		path string
	}{{fdExe, "/proc/self/exe"}, {fdSlash, "/"}, {fdRoot, e.Root}} {
		fd, err := unix.Open(o.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := unix.Dup3(fd, o.fd, 0); err != nil {
			return err
		}
	}
	return unix.CloseRange(numStreams, firstPrivateFD-1, 0)
}

// setNonBlocking changes the flag of a descriptor, which F_GETFL shows.
func setNonBlocking(fd int, on bool) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if flags &^= unix.O_NONBLOCK; on {
		flags |= unix.O_NONBLOCK
	}
	if err == nil {
		unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	}
}

// hideNonBlocking takes O_NONBLOCK off the standard streams that have it. Package os would
// open an epoll instance for them in the next image, which sets the flag again.
func (e *environment) hideNonBlocking() {
	e.NonBlocking = nil
	for fd := range numStreams {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && flags&unix.O_NONBLOCK != 0 && flags&unix.O_PATH == 0 {
			e.NonBlocking = append(e.NonBlocking, fd)
		}
	}
	for _, fd := range e.NonBlocking {
		setNonBlocking(fd, false)
	}
}

// enter goes to the root directory and from there to the working directory.
func (e *environment) enter(first bool) error {
	if err := unix.Fchdir(fdRoot); err != nil {
		return err
	}
	if e.Chroot {
		if err := unix.Chroot("."); err != nil {
			return err
		}
	}
	if !first {
		return unix.Fchdir(fdCwd)
	}
	cwd := "." + e.Cwd
	// Of any other kind, its closing would take the process's record locks on the directory away.
	fd, err := unix.Open(cwd, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Dup3(fd, fdCwd, 0); err != nil {
		return err
	}
	return unix.Fchdir(fdCwd)
}

// outside runs f outside of the chroot, where the binary and its libraries are.
func (t *thread) outside(f func() error) error {
	if !t.env.Chroot {
		return f()
	}
	if err := unix.Fchdir(fdSlash); err != nil {
		return err
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	err := f()
	if back := t.env.enter(false); err == nil {
		err = back
	}
	return err
}

// become changes the user, for good: without supplementary groups and without any
// privilege but that of chroot, which no file operation asks for and which must survive
// execve. It concerns this thread, the main one.
func (e *environment) become() error {
	set := func(nr, a, b, c uintptr) error {
		if _, _, err := unix.RawSyscall(nr, a, b, c); err != 0 {
			return err
		}
		return nil
	}
	if err := set(unix.SYS_SETGROUPS, 0, 0, 0); err != nil {
		return err
	}
	if e.UID == 0 && e.GID == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return err
	}
	gid, uid := uintptr(e.GID), uintptr(e.UID)
	if err := set(unix.SYS_SETRESGID, gid, gid, gid); err != nil {
		return err
	}
	if err := set(unix.SYS_SETRESUID, uid, uid, uid); err != nil || uid == 0 {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	bit := uint32(1) << unix.CAP_SYS_CHROOT
	data := [2]unix.CapUserData{{Effective: bit, Permitted: bit, Inheritable: bit}}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_SYS_CHROOT, 0, 0)
}

// CPUs lists the CPUs that this process may run on.
func CPUs() []int {
	var set unix.CPUSet
	var all []int
	if unix.SchedGetaffinity(0, &set) == nil {
		for i := range 8 * int(unsafe.Sizeof(set)) {
			if set.IsSet(i) {
				all = append(all, i)
			}
		}
	}
	if all == nil {
		return []int{0}
	}
	return all
}

// Pin ties the calling thread, and what it starts, to one CPU. The caller must have locked
// its goroutine to the thread.
func Pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("kernel: pinning to CPU %d: %w", cpu, err)
	}
	return nil
}

// interruptSignal interrupts a blocked call. It is one that the Go runtime handles and
// ignores.
const interruptSignal = unix.SIGURG

// noRestart takes SA_RESTART off the action of interruptSignal.
func noRestart() error {
	const restart = 0x10000000
	var act struct{ handler, flags, restorer, mask uintptr }
	const sizeofMask = 8
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(interruptSignal), 0, uintptr(unsafe.Pointer(&act)), sizeofMask, 0, 0); e != 0 {
		return e
	}
	act.flags &^= restart
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(interruptSignal), uintptr(unsafe.Pointer(&act)), 0, sizeofMask, 0, 0); e != 0 {
		return e
	}
	return nil
}
