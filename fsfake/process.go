package fsfake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A proc is a running process. A dead one is gone: whoever started it reaps it at once.
type proc struct {
	own      *token
	pid      int
	parent   int // no call shows it
	uid, gid uint32
	start    int64
	skew     int64 // how far its clock is ahead. Constant, so no part of a key
	inside   int   // its pid in a namespace of its own; 0: it has none. Constant, so no part of a key
	cwd      InodeID
	fds      []fdesc   // sorted by fd
	seen     []InodeID // under InodesCanonical: inode numbers handed out, from 1
	pinned   bool      // numbers handed out are not forgotten any more
	cells    []cell    // sorted by name
	waits    []wait    // sorted by task
}

// A ProcSpec describes a process to [Machine.AddProc].
type ProcSpec struct {
	Pid      int
	Parent   int
	UID, GID uint32
	Start    int64  // start time in clock ticks since boot, as in /proc/PID/stat
	Tasks    int    // how many tasks it may have; 0 means one
	Cwd      string // working directory; empty means "/"
	// Inside, unless 0, is its pid in a pid namespace of its own, as the first process of a container
	// has. It sees nobody else there; who is in none sees it by Pid.
	Inside int
	// Skew is how far the process's time of day is ahead of the clock that stamps files, negative
	// where it is behind: on another host than the disk. Sleeps last as long as anybody's.
	Skew time.Duration
}

// AddProc starts a process without any open files but the standard streams, which come
// from outside of the machine. The pid may
// be that of a dead process. It panics when the pid is not positive, or is a living
// process's, and when Cwd is no directory.
func (m *Machine) AddProc(s ProcSpec) {
	if s.Pid <= 0 || m.proc(s.Pid) != nil {
		panic(fmt.Sprintf("fsfake: AddProc: pid %d is not free", s.Pid))
	}
	cwd := rootID
	if s.Cwd != "" {
		id, ok := m.Lookup(s.Cwd)
		if !ok || m.inode(id).kind != KindDir {
			panic(fmt.Sprintf("fsfake: AddProc: %q is no directory", s.Cwd))
		}
		cwd = id
	}
	if s.Tasks > 1 {
		m.keepQueues()
	}
	m.addProc(proc{pid: s.Pid, parent: s.Parent, uid: s.UID, gid: s.GID, start: s.Start, inside: s.Inside, skew: int64(s.Skew), cwd: cwd, fds: standard})
}

func (m *Machine) addProc(p proc) {
	p.own = m.owner()
	m.procs = insert(m.procs, m.procAt(p.pid), &p)
	m.ownProcs = true
	m.maxPid = max(m.maxPid, p.pid)
	m.version++
}

// Alive reports whether a process runs.
func (m *Machine) Alive(pid int) bool { return m.proc(pid) != nil }

// KillProc ends a process as SIGKILL does, at any moment: descriptors close, the kernel
// drops its locks, blocked calls end, files stay as they are. It does nothing to a
// process that does not run.
func (m *Machine) KillProc(pid int) {
	p := m.proc(pid)
	if p == nil {
		return
	}
	m.dropWaits(pid, -1)
	m.unpaced(pid)
	m.napless(pid)
	m.unsignalled(pid)
	fds := m.proc(pid).fds
	shown := m.shownBy(fds)
	m.mutProc(pid).fds = nil
	for _, f := range fds {
		m.letGo(pid, f)
	}
	m.procs = remove(m.procs, m.procAt(pid))
	m.ownProcs = true
	m.owner()
	m.reap(p.cwd)
	m.version++
	m.lookInVain()
	m.unsign(m.family(pid))
	if len(m.procs) == 1 {
		m.unshare()
	}
	if len(shown) > 0 && !m.familyLives(m.family(pid)) {
		m.unshare(shown...)
	}
}

// familyLives reports whether some process of a family does.
func (m *Machine) familyLives(family int) bool {
	return slices.ContainsFunc(m.procs, func(p *proc) bool { return m.family(p.pid) == family })
}

// SetSign names a file or an empty directory by which a command shows where it is, such as the mark of
// lockpick run --inside. The sign of a dead command means nothing. So when the first process of a family
// ([Options.ChildPids]) is killed, the sign that the family has made goes with its last process.
func (m *Machine) SetSign(path string) { m.mutSetup().sign = path }

// unsign removes the sign of a family that was killed.
func (m *Machine) unsign(family int) {
	if m.sign == "" || m.familyLives(family) {
		return
	}
	_, ended := m.exitAt(family)
	id, is := m.LookupName(m.sign)
	if n := m.findInode(id); !ended && is && n.ino>>inoFamily == uint64(family) {
		if init := m.proc(1); n.kind == KindDir {
			m.rmdir(init, m.sign)
		} else {
			m.unlink(init, m.sign)
		}
	}
}

// dropWaits ends the blocked calls of a process's tasks but one.
func (m *Machine) dropWaits(pid, except int) {
	for i := 0; i < len(m.proc(pid).waits); {
		if m.proc(pid).waits[i].task == except {
			i++
			continue
		}
		if w := m.unblock(pid, i); w.desc != 0 {
			m.wake(predecessor{waiter: Task{pid, w.task}})
			m.unrefDesc(w.desc)
		}
	}
	m.lookAgain()
}

// visible is the process that another one knows by a pid, or nil.
func (m *Machine) visible(by *proc, pid int) *proc {
	switch {
	case by.inside == 0:
		return m.proc(pid)
	case by.inside == pid:
		return by
	}
	return nil
}

// startTime reads when a process started.
func (m *Machine) startTime(p *proc, pid int, r *Result) {
	if o := m.visible(p, pid); o != nil {
		r.N = o.start
	} else {
		r.Errno = ENOENT
	}
}

// pids lists the processes that a listing of /proc shows, in order: Data has the pids, with NUL in between.
func (m *Machine) pids(p *proc, r *Result) {
	var pids []int
	for _, o := range m.procs {
		switch {
		case p.inside == 0:
			pids = append(pids, o.pid)
		case o == p:
			pids = append(pids, p.inside)
		}
	}
	slices.Sort(pids)
	names := make([]string, len(pids))
	for i, pid := range pids {
		names[i] = strconv.Itoa(pid)
	}
	r.Data, r.N = strings.Join(names, "\x00"), int64(len(names))
}

// kill is kill(pid, 0). Pid 0 is the caller's process group, in which at least the caller may
// be signalled: whoever reads a pid from an empty file finds it alive.
func (m *Machine) kill(p *proc, pid, sig int, r *Result) {
	switch {
	case pid == 0 && sig == 0:
		return
	case pid <= 0:
		*r = unmodelled("kill of a process group that is not one's own")
		return
	}
	o := m.visible(p, pid)
	switch {
	case o == nil:
		r.Errno = ESRCH
	case p.uid != 0 && p.uid != o.uid:
		r.Errno = EPERM
	case sig != 0:
		m.send(o.pid, sig, r)
	}
}

// ticksPerSecond is the kernel's USER_HZ.
const ticksPerSecond = 100

// fork is fork(2): the child shares the open file descriptions, and so their flock and
// OFD locks, has a copy of the memory, and none of the record locks. Only the calling
// task goes on in it.
//
// pid is the child's, or 0 for the next one that no process has had.
func (m *Machine) fork(p *proc, pid int) int {
	c := *p
	if pid == 0 {
		pid = m.maxPid + 1
	}
	c.pid, c.parent = pid, p.pid
	c.start = (m.clock + m.back - m.boot) / (1e9 / ticksPerSecond)
	c.waits = nil
	c.bequeath()
	for i := range c.fds {
		if !c.fds[i].outside() {
			m.mutDesc(c.fds[i].desc).refs++
		}
	}
	next := m.maxPid + 1
	m.addProc(c)
	m.keepQueues()
	if pid != next {
		m.maxPid = next - 1 // a chosen pid does not count
	}
	return c.pid
}

func (m *Machine) forkNext(c *request) {
	if c.p.inside != 0 {
		*c.r = unmodelled("fork in a pid namespace of its own")
		return
	}
	c.r.N = int64(m.fork(c.p, 0))
}

// exec is execve(2) of another program by one task: descriptors with O_CLOEXEC close,
// the memory is gone, and so are the other tasks. Locks stay with what stays open.
func (m *Machine) exec(t Task) {
	m.dropWaits(t.Pid, t.N)
	for i := 0; i < len(m.proc(t.Pid).fds); {
		if f := m.proc(t.Pid).fds[i]; f.cloexec {
			m.closeFD(t.Pid, int(f.fd))
		} else {
			i++
		}
	}
	if p := m.proc(t.Pid); p.uid != 0 && len(p.fds) != 0 {
		m.mutProc(t.Pid).bequeath()
	}
	if len(m.proc(t.Pid).cells) != 0 {
		m.mutProc(t.Pid).cells = nil
		m.version++
	}
	m.lookInVain()
}
