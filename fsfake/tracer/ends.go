//go:build linux && amd64

package tracer

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// EndsBeside reports whether a process asks for its end, and that commutes with all calls but two kinds: the ends
// of other children of its parent, which may be told of them in another order, and calls of some processes.
// These have a pipe in common with it, or with one that has, and may notice that its end closes an end of that: by
// EPIPE or a look that does not wait. Who only reads what it writes waits for more until it has ended, and cannot tell.
// That nobody looks without waiting is a guess until somebody does ([Run.Peeked]).
//
// Its parent only waits, for a child or for what a pipe brings, and is told of nothing else. No lock is given back that
// the parent does not keep, and no child becomes an orphan.
func (r *Run) EndsBeside(pid int) (pids []int, commutes bool) {
	p := r.process(pid)
	if p == nil || len(p.threads) != 1 || p.locks || p.parent == nil {
		return nil, false
	}
	t := p.threads[0]
	if t.state != asking || t.op.Call != fsfake.CallExit ||
		!p.parent.isIn(unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_RT_SIGSUSPEND, unix.SYS_READ) {
		return nil, false
	}
	for _, d := range p.fds { // order does not matter: each is looked at
		if d.known() && !p.parent.has(d.file) && (d.file.locks || t.shares(d.file)) {
			return nil, false
		}
	}
	for _, q := range r.procs {
		if q.parent == p && !q.gone {
			return nil, false
		}
	}
	return r.connected(p, func(e pipeEnd) bool { return e.reads || r.peeks })
}

// Unseen reports whether a process asks, and no other can tell when it goes on but by the calls that it makes: it has
// no shared memory and no timer, and who has a pipe in common with it only waits. Its own threads could tell.
func (r *Run) Unseen(pid int) bool {
	p := r.process(pid)
	if p == nil || len(p.alarms) > 0 || p.sharesMemory("maps") != nil {
		return false
	}
	with, known := r.connected(p, func(pipeEnd) bool { return true })
	return known && !slices.ContainsFunc(with, func(pid int) bool {
		return !r.process(pid).isIn(unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_RT_SIGSUSPEND, unix.SYS_READ)
	})
}

// connected are the pids of other processes that have a pipe in common with one, at an end of it that counts, or with
// one of these; false where the pipes of a process are not known.
func (r *Run) connected(p *process, counts func(end pipeEnd) bool) (pids []int, known bool) {
	pipes := map[*process][]pipeEnd{}
	for _, q := range r.procs {
		if q.gone {
			continue
		}
		if q.ends == nil {
			of, known := q.pipes()
			q.ends = &knownEnds{of, known}
		}
		if !q.ends.known {
			return nil, false
		}
		pipes[q] = q.ends.of
	}
	var with []uint64
	for _, e := range pipes[p] {
		if counts(e) {
			with = append(with, e.pipe)
		} else {
			r.eofs = true
		}
	}
	for more := true; more; {
		more = false
		for _, q := range r.procs {
			shares := func(e pipeEnd) bool { return slices.Contains(with, e.pipe) }
			if q != p && !slices.Contains(pids, q.pid) && slices.ContainsFunc(pipes[q], shares) {
				pids, more = append(pids, q.pid), true
				for _, e := range pipes[q] {
					with = append(with, e.pipe)
				}
			}
		}
	}
	return pids, true
}

// A pipeEnd is one that a process has open: the inode number of its pipe, and whether it can be read.
type pipeEnd struct {
	pipe  uint64
	reads bool
}

// A knownEnds is what [process.pipes] says. It stays so until a thread of the process has stopped again, or one of any
// process is about to change the flags of a description, which others may have as well.
type knownEnds struct {
	of    []pipeEnd
	known bool
}

// pipes are the ends of pipes that a process has open, without those that the run reads itself. They are not known
// where it has something else that two processes may share and wait for, a socket for one, or does not wait for a pipe.
func (p *process) pipes() (of []pipeEnd, known bool) {
	base := "/proc/" + strconv.Itoa(p.real) + "/fd/"
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		var s unix.Stat_t
		if p.fds[fd].isFake() {
			continue
		}
		if unix.Stat(base+e.Name(), &s) != nil {
			return nil, false
		}
		switch s.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR:
		case unix.S_IFCHR:
			if s.Rdev == unix.Mkdev(5, 0) || s.Rdev == unix.Mkdev(5, 2) { // a terminal
				return nil, false
			}
		case unix.S_IFIFO:
			if p.r.out.of(&s) != nil {
				continue
			}
			var flags int
			info, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/fdinfo/" + e.Name())
			if n, _ := fmt.Sscanf(string(info), "pos:%d\nflags:%o\n", new(int64), &flags); n != 2 ||
				flags&(unix.O_NONBLOCK|unix.O_ASYNC) != 0 {
				return nil, false
			}
			of = append(of, pipeEnd{s.Ino, flags&unix.O_ACCMODE != unix.O_WRONLY})
		default:
			return nil, false
		}
	}
	return of, true
}
