//go:build linux && amd64

package tracer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"lockpick/internal/tempdir"
)

// launch starts the root process and brings it to its first instruction, with the filter in
// place.
func (r *Run) launch() error {
	if err := r.pin(); err != nil {
		return err
	}
	if err := quietChildren(); err != nil {
		return err
	}
	// Addresses are equal in every run.
	if _, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, 0x0040000 /* ADDR_NO_RANDOMIZE */, 0, 0); e != 0 {
		return fmt.Errorf("tracer: programs cannot be traced here, for personality(ADDR_NO_RANDOMIZE) is refused: %w; "+
			"%s", e, inContainer)
	}
	env, err := r.environment()
	if err != nil {
		return err
	}
	program, err := r.lookUp(env)
	if err != nil {
		return err
	}
	work, err := r.workDir()
	if err != nil {
		return err
	}
	files, err := r.streams()
	if err != nil {
		return err
	}
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(program, r.c.Argv, &syscall.ProcAttr{
		Dir: work, Env: env, Files: fds,
		Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL, Setsid: true},
	})
	for _, f := range files {
		f.Close()
	}
	switch {
	case errors.Is(err, unix.EPERM): // of ptrace(PTRACE_TRACEME), mostly
		return fmt.Errorf("tracer: %s cannot be traced here, for ptrace(2) is refused: %w; %s; where "+
			"kernel.yama.ptrace_scope is 2 it also needs --cap-add SYS_PTRACE", program, err, inContainer)
	case err != nil:
		return fmt.Errorf("tracer: start %s: %w", program, err)
	}
	refused := func(err error) error {
		return fmt.Errorf("tracer: %s cannot be traced here, for a call that lockpick needs is refused: %w; %s", program,
			err, inContainer)
	}
	if err := r.adopt(pid); err != nil {
		reap(pid)
		return refused(err)
	}
	p := r.addProcess(nil, pid, r.c.Pid)
	p.name = filepath.Base(r.c.Argv[0])
	if exe, err := filepath.EvalSymlinks(program); err == nil {
		r.executed(exe)
	}
	p.cwd, p.atDir = r.c.Cwd, r.c.Cwd == r.c.Dir
	t := r.addThread(p, pid)
	if program == standIn {
		return t.becomeVirtual()
	}
	switch err := r.freshImage(t); {
	case errors.Is(err, unix.EFAULT): // its memory is there, and process_vm_readv(2) is refused
		return refused(err)
	case err != nil:
		return err
	}
	t.goOn(unix.PTRACE_CONT)
	return nil
}

// inContainer is what to do where calls are refused.
const inContainer = "in a container, start that with: docker run --security-opt seccomp=unconfined; gVisor cannot do it"

// reap ends a process of which nothing else is known, and waits until it is gone. It stops at its exit, too.
func reap(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, wallNoThread, nil)
		if err != nil && err != unix.EINTR || err == nil && !ws.Stopped() {
			return
		}
		_ = ptrace(unix.PTRACE_CONT, pid, 0, 0)
	}
}

// pin binds this thread, and so everything that it starts, to one CPU: the one that the configuration
// says, or that it is on. A thread that has just been made is often on the CPU of its maker.
func (r *Run) pin() error {
	var cpu uint32
	if _, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); e != 0 {
		return fmt.Errorf("tracer: getcpu: %w", e)
	}
	if r.c.CPU > 0 {
		var may unix.CPUSet
		if err := unix.SchedGetaffinity(0, &may); err != nil {
			return fmt.Errorf("tracer: sched_getaffinity: %w", err)
		}
		cpu = uint32(nthCPU(&may, r.c.CPU))
	}
	r.cpu.Set(int(cpu))
	if err := unix.SchedSetaffinity(0, &r.cpu); err != nil {
		return fmt.Errorf("tracer: sched_setaffinity: %w", err)
	}
	return nil
}

// nthCPU is the n-th CPU of a set that is not empty, from 1; after the last comes the first again.
func nthCPU(set *unix.CPUSet, n int) int {
	left := (n - 1) % set.Count()
	for cpu := 0; ; cpu++ {
		switch {
		case !set.IsSet(cpu):
		case left == 0:
			return cpu
		default:
			left--
		}
	}
}

// environment is the fixed one, and what the configuration says. The locale is C but for the
// characters: LANG would say the same, and have each program read a dozen files at its start.
func (r *Run) environment() ([]string, error) {
	env := []string{
		"PATH=" + searchPath(), "HOME=/", "TZ=UTC", "TERM=dumb",
		"PYTHONHASHSEED=0", "GODEBUG=asyncpreemptoff=1", "PERL_HASH_SEED=0",
	}
	for _, e := range r.c.Env {
		name, _, _ := strings.Cut(e, "=")
		at := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		switch {
		case at < 0:
			env = append(env, e)
		case name == "GODEBUG":
			env[at] += "," + strings.TrimPrefix(e, "GODEBUG=")
		default:
			env[at] = e
		}
	}
	if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "LANG=") || strings.HasPrefix(e, "LC_CTYPE=") }) {
		env = append(env, "LC_CTYPE=C.UTF-8")
	}
	if r.c.Lines {
		return r.withHooks(env)
	}
	return env, nil
}

func searchPath() string {
	if p := os.Getenv("PATH"); p != "" {
		return p
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// standIn is what is started for a program that only the fake has. It is replaced before its
// first instruction.
const standIn = "/proc/self/exe"

// lookUp finds the program as execvp(3) would with that environment.
func (r *Run) lookUp(env []string) (string, error) {
	name := r.c.Argv[0]
	if strings.Contains(name, "/") {
		at := name
		if !filepath.IsAbs(at) && r.c.Cwd != "" {
			at = filepath.Join(r.c.Cwd, at)
		}
		if filepath.IsAbs(at) && r.virtual(filepath.Clean(at)) {
			return standIn, nil
		}
		return at, nil // the real working directory is another one
	}
	for _, e := range env {
		if list, ok := strings.CutPrefix(e, "PATH="); ok {
			for _, dir := range filepath.SplitList(list) {
				if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(p) {
					return p, nil
				}
			}
		}
	}
	return "", fmt.Errorf("tracer: no program %s in PATH: install it, or give its path", name)
}

// workDir is the real working directory.
func (r *Run) workDir() (string, error) {
	switch {
	case r.c.Through != "" && r.c.Cwd != "":
		return r.standsFor(r.c.Cwd), nil
	case r.c.Work != "":
		return r.c.Work, nil
	case r.c.Cwd != "":
		return "/", nil
	}
	return r.tempDir()
}

// tempDir makes the run's temporary directory.
func (r *Run) tempDir() (_ string, err error) {
	if r.temp.Path == "" {
		r.temp, err = tempdir.New()
	}
	return r.temp.Path, err
}

// streams makes the program's standard streams.
func (r *Run) streams() ([]*os.File, error) {
	in, err := input(r.c.Stdin)
	if err != nil {
		return nil, fmt.Errorf("tracer: standard input: %w", err)
	}
	files := []*os.File{in}
	for _, s := range []*stream{&r.out.stdout, &r.out.stderr} {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return nil, fmt.Errorf("tracer: a pipe for the output: %w", err)
		}
		_, _ = unix.FcntlInt(uintptr(p[0]), unix.F_SETPIPE_SZ, pipeSize)
		if err := unix.SetNonblock(p[0], true); err != nil {
			return nil, fmt.Errorf("tracer: a pipe for the output: %w", err)
		}
		s.fd = p[0]
		files = append(files, os.NewFile(uintptr(p[1]), "output"))
	}
	return files, nil
}

// pipeSize is how much a program can print until somebody takes it.
const pipeSize = 1 << 20

// input is a file that can be read but has no name.
func input(text string) (*os.File, error) {
	if text == "" {
		return os.Open(os.DevNull)
	}
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if _, err := f.WriteString(text); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// adopt takes a process that stands at its first exec by PTRACE_TRACEME over to PTRACE_SEIZE,
// whose stops are unambiguous, and installs the filter. It passes a stop by SIGSTOP: while
// nobody traces the process, it must not run.
func (r *Run) adopt(pid int) error {
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, wallNoThread, nil); err != nil {
		return err
	}
	if !ws.Stopped() {
		return errors.New("it ended before its first instruction")
	}
	if err := ptrace(unix.PTRACE_DETACH, pid, 0, uintptr(unix.SIGSTOP)); err != nil {
		return err
	}
	if err := r.seize(pid); err != nil {
		return err
	}
	return r.install(pid)
}

// seize traces a process that nobody traces, and that is stopped by SIGSTOP or about to be. It
// stands at its next instruction then.
func (r *Run) seize(pid int) error {
	var ws unix.WaitStatus
	if err := ptrace(unix.PTRACE_SEIZE, pid, 0, eventOptions); err != nil {
		return err
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		return err
	}
	for range 16 {
		if _, err := unix.Wait4(pid, &ws, wallNoThread, nil); err != nil {
			return err
		}
		if ws.Stopped() && ws.TrapCause() <= 0 && ws.StopSignal() == unix.SIGCONT {
			return nil
		}
		if err := ptrace(unix.PTRACE_CONT, pid, 0, 0); err != nil {
			return err
		}
	}
	return errors.New("it does not stop")
}

// install makes the process install the filter, set its umask and close what it has inherited. Nothing is left of these
// calls.
func (r *Run) install(pid int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	prog := filter()
	at := (regs.Rsp - 0x4000) &^ 15
	b := putUint64s(uint64(len(prog)), at+16)
	for _, f := range prog {
		b = append(b, (*[8]byte)(unsafe.Pointer(&f))[:]...)
	}
	if err := writeMem(pid, at, b); err != nil {
		return err
	}
	err := inject(pid, regs, func(c *injector) {
		// Descriptors that this process has inherited are none of the program's.
		if c.call(unix.SYS_CLOSE_RANGE, 3, 1<<31-1, 0); errors.Is(c.err, unix.ENOSYS) {
			c.err = nil
		}
		c.call(unix.SYS_UMASK, firstUmask)
		c.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0)
		c.call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, at)
	})
	if err != nil {
		return err
	}
	return writeMem(pid, at, make([]byte, len(b)))
}

// Entries of the auxiliary vector, as getauxval(3) has them.
const (
	atNull        = 0
	atIgnore      = 1
	atRandom      = 25
	atSysinfoEhdr = 33
)

// freshImage prepares a program that has just been loaded: it takes the kernel's clocks out of the
// vDSO, for they are no system calls, sets the bytes that AT_RANDOM points to, and gives it addresses of its own.
//
// Its clocks are ahead by nanoseconds of its own (aheadOf). A fork has its parent's clocks, for what it has read there
// before.
func (r *Run) freshImage(t *thread) error {
	t.p.clock, t.p.ahead, t.p.ticks, t.p.heap = shownClock{}, aheadOf(t.p.pid), 0, false
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return err
	}
	stack := words{tid: t.tid, at: regs.Rsp}
	stack.at += 8 * (stack.next() + 1) // the arguments, which end with a NULL
	for stack.b = nil; stack.next() != 0; {
	} // and the environment
	for stack.err == nil {
		at := stack.at
		switch key, v := stack.next(), stack.next(); {
		case stack.err != nil:
		case key == atNull:
			return t.shiftAddresses(regs, stack.at)
		case key == atSysinfoEhdr:
			if r.c.AskTime || t.ownClock(v) != nil {
				stack.err = writeMem(t.tid, at, putUint64s(atIgnore))
			}
		case key == atRandom:
			stack.err = writeMem(t.tid, v, t.p.unnoticed(16))
		}
	}
	return stack.err
}
