//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// A Machine carries out calls on the real kernel, in real processes on a real directory.
// Its methods are those of [fsfake.Machine] as far as they go; an error is a fault of the
// machinery, never what a program did. It is not for concurrent use.
type Machine struct {
	root    string
	options Options
	slots   slots
	procs   []*simulated // in the order of pids
	nursery *process     // forks workers, once there is one
	maxPid  int
}

// A simulated process is a pid and the worker that is it.
type simulated struct {
	pid      int
	*process            // its main thread, the first task
	more     []*process // its other threads
}

// Options says where a [Machine] lives.
type Options struct {
	// Dir is where its directory is made; empty means /dev/shm when that is a tmpfs, the
	// default directory for temporary files otherwise.
	Dir string
	// Disk is a directory that is the disk as it is, in place of an empty one: nothing is made in it
	// or removed from it. Empty means a new directory in Dir.
	Disk string
	// CPU is the CPU that the workers run on, counting from 0 those of [CPUs].
	CPU int
	// Tasks is how many tasks a process has at most; 0 means one.
	Tasks int
	// Umask is every process's umask, as in [fsfake.Options].
	Umask uint32
	// CallsOnly: the processes have one task. They are
	// then forked, which costs a tenth of what executing the binary again does.
	CallsOnly bool
}

// New makes a machine whose disk is as [fsfake.New] makes it: an empty "/" and "/tmp".
func New(o Options) (*Machine, error) {
	if o.CallsOnly && o.Tasks > 1 {
		return nil, errors.New("kernel: a process of several tasks cannot be forked: leave CallsOnly or Tasks out")
	}
	dir := o.Dir
	if dir == "" {
		dir = DefaultDir()
	}
	root, err := o.Disk, error(nil)
	if root == "" {
		if root, err = os.MkdirTemp(dir, "lockpick-"); err != nil {
			return nil, fmt.Errorf("kernel: making the disk: %w", err)
		}
	}
	if o.Umask == 0 {
		o.Umask = 0o022
	}
	m := &Machine{root: root, options: o}
	if err := m.slots.open(); err != nil {
		m.Close()
		return nil, fmt.Errorf("kernel: making pipes: %w", err)
	}
	if err := m.format(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// DefaultDir returns /dev/shm when that is a tmpfs, the default directory for temporary
// files otherwise.
func DefaultDir() string {
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err == nil && st.Type == unix.TMPFS_MAGIC &&
		unix.Access("/dev/shm", unix.W_OK|unix.X_OK) == nil {
		return "/dev/shm"
	}
	return os.TempDir()
}

// Rooted reports whether the driver is root. Then paths mean in a worker exactly what they
// mean in the fake, and there may be several users. Otherwise a path must not climb out of
// the directory with "..", must not be "/" itself, and everybody is the driver's user.
func (m *Machine) Rooted() bool { return os.Geteuid() == 0 }

// Root returns the directory that is the disk. Whoever looks there from outside must not
// follow absolute symlinks.
func (m *Machine) Root() string { return m.root }

// format makes the disk empty, but for /tmp.
func (m *Machine) format() error {
	if m.options.Disk != "" {
		return nil
	}
	if err := os.Chmod(m.root, 0o755); err != nil {
		return fmt.Errorf("kernel: the disk: %w", err)
	}
	if m.Rooted() {
		if err := os.Chown(m.root, 0, 0); err != nil {
			return fmt.Errorf("kernel: the disk: %w", err)
		}
	}
	entries, err := os.ReadDir(m.root)
	for _, e := range entries {
		if err == nil {
			err = m.remove(m.root + "/" + e.Name())
		}
	}
	if err == nil {
		err = os.Mkdir(m.root+"/tmp", 0o777)
	}
	if err == nil {
		err = os.Chmod(m.root+"/tmp", 0o777|os.ModeSticky)
	}
	if err != nil {
		return fmt.Errorf("kernel: emptying the disk: %w", err)
	}
	return nil
}

// remove removes a tree, also when permissions are in the way of somebody else than root.
func (m *Machine) remove(path string) error {
	if unix.Unlink(path) == nil || unix.Rmdir(path) == nil {
		return nil
	}
	err := os.RemoveAll(path)
	if err == nil || m.Rooted() {
		return err
	}
	openUp(path)
	return os.RemoveAll(path)
}

func openUp(dir string) {
	os.Chmod(dir, 0o700)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			openUp(dir + "/" + e.Name())
		}
	}
}

// Close ends all workers and removes the directory, unless it was given.
func (m *Machine) Close() error {
	for _, s := range m.procs {
		m.end(s)
	}
	if m.nursery != nil {
		m.end(&simulated{process: m.nursery})
	}
	m.procs, m.nursery = nil, nil
	m.slots.close()
	if m.options.Disk != "" {
		return nil
	}
	return m.remove(m.root)
}

// Reset ends all processes and empties the disk.
func (m *Machine) Reset() error {
	for _, s := range m.procs {
		m.end(s)
	}
	m.procs, m.maxPid = nil, 0
	return m.format()
}

// end kills a worker and gives its slots back.
func (m *Machine) end(s *simulated) {
	s.kill()
	m.slots.free(s.slot)
	for _, p := range s.more {
		p.forget()
		m.slots.free(p.slot)
	}
}

// find returns the simulated process of a pid.
func (m *Machine) find(pid int) (*simulated, error) {
	i, ok := m.at(pid)
	if !ok {
		return nil, fmt.Errorf("kernel: there is no process %d", pid)
	}
	return m.procs[i], nil
}

func (m *Machine) at(pid int) (int, bool) {
	return slices.BinarySearchFunc(m.procs, pid, func(s *simulated, pid int) int { return s.pid - pid })
}

func (m *Machine) enter(pid int, p *process) {
	i, _ := m.at(pid)
	m.procs = slices.Insert(m.procs, i, &simulated{pid: pid, process: p})
	m.maxPid = max(m.maxPid, pid)
}

// AddProc starts a process. Its start time is not the simulated one, and neither is its
// parent. Only a [Machine.Rooted] machine has users, and pid namespaces (ProcSpec.Inside, which is 1 then),
// those only with Options.CallsOnly.
func (m *Machine) AddProc(s fsfake.ProcSpec) error {
	if _, there := m.at(s.Pid); there || s.Pid <= 1 {
		return fmt.Errorf("kernel: pid %d is not free", s.Pid)
	}
	if s.Cwd == "" {
		s.Cwd = "/"
	}
	if !m.Rooted() && s.UID != 0 && int(s.UID) != os.Geteuid() {
		return errors.New("kernel: only root can start processes of other users")
	}
	if s.Inside > 1 || s.Inside == 1 && !(m.Rooted() && m.options.CallsOnly) {
		return errors.New("kernel: only root can start the first process of a pid namespace, and one that only makes calls")
	}
	p, err := m.start(s)
	if err != nil {
		return err
	}
	m.enter(s.Pid, p)
	return nil
}

// start starts a worker.
func (m *Machine) start(s fsfake.ProcSpec) (*process, error) {
	slot, err := m.slots.take()
	if err != nil {
		return nil, err
	}
	uid, gid := -1, -1
	if m.Rooted() {
		uid, gid = int(s.UID), int(s.GID)
	}
	var pid int
	if m.options.CallsOnly {
		pid, err = m.spawn(slot, uid, gid, s.Cwd, s.Inside == 1)
	} else {
		e := m.environment(stageStart, slot)
		e.UID, e.GID, e.Cwd = uid, gid, s.Cwd
		pid, err = m.slots.execute(e)
	}
	if err != nil {
		return nil, err
	}
	p := m.process(pid, slot)
	p.inside = s.Inside == 1
	return p, nil
}

func (m *Machine) environment(s stage, slot int) *environment {
	cpus := CPUs()
	return &environment{
		Stage: s, Slot: slot, Root: m.root, Chroot: m.Rooted(), UID: -1, GID: -1,
		CPU: cpus[m.options.CPU%len(cpus)], Tasks: max(m.options.Tasks, 1), Umask: int(m.options.Umask & 0o777),
		CallsOnly: m.options.CallsOnly,
	}
}

// spawn has the nursery fork a worker.
func (m *Machine) spawn(slot, uid, gid int, cwd string, inside bool) (int, error) {
	if m.nursery != nil && m.nursery.forked > maxForks {
		m.end(&simulated{process: m.nursery})
		m.nursery = nil
	}
	if m.nursery == nil {
		if err := m.found(); err != nil {
			return 0, err
		}
	}
	n := m.nursery
	e := n.body()
	e.int(int64(slot))
	e.int(int64(uid))
	e.int(int64(gid))
	e.string(cwd)
	e.bool(inside)
	n.forked++
	if err := n.send(frameSpawn, e.b); err != nil {
		return 0, err
	}
	r, err := n.takeResult()
	if err == nil && !r.OK() {
		err = fmt.Errorf("kernel: forking a worker: %w", r.Errno)
	}
	return int(r.N), err
}

// found starts a nursery.
func (m *Machine) found() error {
	slot, err := m.slots.take()
	if err != nil {
		return err
	}
	for range 20 {
		pid, err := m.slots.execute(m.environment(stageNursery, slot))
		if err != nil {
			return err
		}
		n := m.process(pid, slot)
		if err = n.born(); err != nil {
			return err
		}
		if n.greeted {
			m.nursery = n
			return nil
		}
		n.kill()
		m.slots.free(slot)
		m.slots.used[slot] = true
	}
	return errors.New("kernel: no process that was forked from an executed one is well")
}

// unwell is how long a nursery that is well may take to say so; one that takes longer is not
// used, which costs a few milliseconds.
const unwell = time.Second / 2

// born has the executed process say which process the nursery is, and that one, if it is
// well, that it is; either may come first. If not, it is left for the caller to kill.
func (p *process) born() error {
	executed, well, tid := *p, false, 0
	for heard := 0; heard < 2; heard++ {
		if p.pid != executed.pid && !p.arrives(unwell) {
			break
		}
		k, body, err := p.expect(frameResult, frameHello)
		if err != nil {
			executed.kill()
			return err
		}
		d := decoder{body}
		if k == frameHello {
			well, tid = true, int(d.int())
			continue
		}
		r := d.result()
		if !r.OK() {
			executed.kill()
			return fmt.Errorf("kernel: forking the nursery: %w", r.Errno)
		}
		p.pid = int(r.N)
	}
	executed.reaped()
	p.greeted, p.tid = well, tid
	return nil
}

func (m *Machine) process(pid, slot int) *process {
	return &process{
		channel: channel{r: m.slots.drivers[slot].r, w: m.slots.drivers[slot].w},
		slot:    slot, pid: pid,
	}
}

// thread returns the thread that is task n of a process, which starts it when it is new.
func (m *Machine) thread(s *simulated, n int) (*process, error) {
	if err := s.greet(); err != nil || n == 1 {
		return s.process, err
	}
	if n < 1 || n > max(m.options.Tasks, 1) || n-2 > len(s.more) {
		return nil, fmt.Errorf("kernel: task %d of process %d: tasks start in order, up to Options.Tasks", n, s.pid)
	}
	if n-2 < len(s.more) {
		return s.more[n-2], nil
	}
	if s.blocked != nil {
		return nil, fmt.Errorf("kernel: task %d of process %d: the first task, which would start it, is blocked", n, s.pid)
	}
	slot, err := m.slots.take()
	if err != nil {
		return nil, err
	}
	p := m.process(s.process.pid, slot)
	s.more = append(s.more, p)
	e := s.body()
	e.int(int64(slot))
	if err := s.send(frameTask, e.b); err != nil {
		return nil, err
	}
	return p, p.greet()
}

// Start starts a task, which otherwise starts with its first call. Those of a process start in order.
func (m *Machine) Start(t fsfake.Task) error {
	s, err := m.find(t.Pid)
	if err == nil {
		_, err = m.thread(s, t.N)
	}
	return err
}

// RealPid returns the real pid of a process, which is ready then.
func (m *Machine) RealPid(pid int) (int, error) {
	s, err := m.find(pid)
	if err != nil {
		return 0, err
	}
	return s.process.pid, s.greet()
}
