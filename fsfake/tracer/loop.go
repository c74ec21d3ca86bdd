//go:build linux && amd64

package tracer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// settle lets the program run until it is at rest, or has a fault. Of its threads only one is
// in user mode at any time; when that one asks, waits or ends, the next in order may go on, but
// only when every other has come to rest from what the first has done.
func (r *Run) settle() {
	if r.c.Through != "" {
		r.moved = true // others may have woken somebody
	}
	for r.err == nil {
		r.late()
		switch {
		case r.err != nil:
		case r.eventComes():
			r.wait(0)
		case r.cur != nil && r.cur.state == ready && r.cur.polls < manyPolls:
			r.cur.resume()
		case !r.quiet():
		default:
			t := r.next()
			if t == nil && !r.wakeSleepers() && !r.out.drain() {
				return
			}
			if r.cur != nil {
				r.cur.polls = 0
			}
			r.cur, r.moved = t, true
		}
	}
}

// manyPolls is how often a thread looks whether something has come, and does not wait, before others may go on: it may
// wait for one of them, as the event loop of Node.js does for V8's threads.
const manyPolls = 100

// eventComes reports whether some thread is bound to stop.
func (r *Run) eventComes() bool {
	for _, p := range r.procs {
		if p.dying && !p.gone {
			return true
		}
		for _, t := range p.threads {
			if t.state == running || t.state == starting {
				return true
			}
		}
	}
	return false
}

// next returns the thread whose turn it is: the first in order after the last one.
func (r *Run) next() *thread {
	var first, after *thread
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state != ready {
				continue
			}
			if first == nil {
				first = t
			}
			if after == nil && r.cur != nil && (p.pid > r.cur.p.pid || p.pid == r.cur.p.pid && t.n > r.cur.n) {
				after = t
			}
		}
	}
	if after != nil {
		return after
	}
	return first
}

// quiet reports whether all threads in real calls sleep, and takes the stops of those that do
// not. One look at each is not enough: one that was asleep may have been woken by one that was
// looked at later. In two passes in which all are asleep and none has had the CPU in between,
// nobody can have woken anybody.
func (r *Run) quiet() bool {
	if !r.moved {
		return true
	}
	var seen []string
	for pass := range 2 {
		i := 0
		for _, p := range r.procs {
			for _, t := range p.threads {
				if t.state == waiting && !t.ended() {
					r.pause()
					return false
				}
				if t.state != inCall {
					continue
				}
				waits, turns := t.asleep()
				if !waits || pass == 1 && (i >= len(seen) || seen[i] != turns) {
					r.pause()
					return false
				}
				if pass == 0 {
					seen = append(seen, turns)
				}
				i++
			}
		}
		if i == 0 {
			break
		}
		if r.wait(unix.WNOHANG) {
			return false
		}
	}
	r.moved = false
	return true
}

// pause lets others have the CPU, and takes stops.
func (r *Run) pause() {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	for range 3 {
		if r.wait(unix.WNOHANG) {
			return
		}
	}
	r.out.drain()
	ts := unix.Timespec{Nsec: 20_000}
	_ = unix.Nanosleep(&ts, nil)
}

// wait takes the next stop, and reports whether there was one.
func (r *Run) wait(flags int) bool {
	var ws unix.WaitStatus
	if flags == 0 {
		r.dog.begin(r.cur)
	}
	tid, err := unix.Wait4(-1, &ws, wallNoThread|flags, nil)
	if flags == 0 {
		r.dog.end()
	}
	switch {
	case err == unix.EINTR:
		return true
	case err != nil && r.err == nil && flags == 0:
		r.err = fmt.Errorf("tracer: wait4: %w", err)
		return false
	case tid <= 0:
		return false
	}
	r.event(tid, ws)
	return true
}

// pending is the set of what is asked, at rest.
func (r *Run) pending() ([]Pending, error) {
	var set []Pending
	alive := false
	missed := r.missed()
	for _, p := range r.procs {
		alive = alive || !p.gone
		from := len(set)
		for _, t := range p.threads {
			if t.state == asking || t.state == inCall && t.blocked {
				ends, comes := t.interrupted()
				set = append(set, Pending{
					Task: t.task(), Op: t.op, Path: p.named(t.op.Path), Exit: t.exit, Clock: p.looked,
					Maps:    t.c.nr == unix.SYS_MMAP && t.op.Flags&fsfake.Shares == 0,
					Blocked: t.blocked, Interrupted: ends, Signalled: comes,
					Missed: missed[t], Commutes: t.commutes(), Parent: p.ppid, Threads: len(p.threads) > 1, Kin: t.kin(),
				})
			}
		}
		slices.SortStableFunc(set[from:], func(a, b Pending) int { return compareOps(a.Op, b.Op) })
		if timer := p.soonest(); timer != nil {
			timer.Clock = p.looked
			set = append(set, *timer)
		}
	}
	if len(set) == 0 && alive {
		return nil, r.stuck()
	}
	return set, nil
}

// compareOps orders calls by what is asked, and not by which thread happens to ask.
func compareOps(a, b fsfake.Op) int {
	return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Path2, b.Path2),
		cmp.Compare(a.FD, b.FD), cmp.Compare(a.Flags, b.Flags), cmp.Compare(a.Off, b.Off), cmp.Compare(a.Len, b.Len),
		cmp.Compare(a.Data, b.Data), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Time, b.Time))
}

// stuck is the error of a program whose threads all wait for each other or for the outside.
func (r *Run) stuck() error {
	var who []string
	var first *process
	for _, p := range r.procs {
		for _, t := range p.threads {
			if first == nil {
				first = p
			}
			what := t.state.String()
			if t.state == inCall {
				what = "in " + t.c.String()
			}
			who = append(who, fmt.Sprintf("%s (pid %d, thread %d) %s", p.name, p.pid, t.n, what))
		}
	}
	r.err = &Error{
		Program: first.name, Pid: first.pid,
		What: "it waits for something that nobody will do: " + strings.Join(who, ", ") + "; is there input that it waits for?",
	}
	return r.err
}

// answer gives a task the answer to its call.
func (r *Run) answer(task fsfake.Task, res fsfake.Result) error {
	p := r.process(task.Pid)
	if p == nil {
		return fmt.Errorf("tracer: an answer for process %d, which does not run", task.Pid)
	}
	if res.Unmodelled != "" {
		return fmt.Errorf("tracer: %s (pid %d): the fake has no answer: %s", p.name, p.pid, res.Unmodelled)
	}
	p.looked = false
	if timer := p.soonest(); timer != nil && timer.Task == task {
		r.answers++
		p.rounds = 0
		p.fire()
		return nil
	}
	for _, t := range p.threads {
		if t.state != asking || t.task() != task {
			continue
		}
		was := t.blocked
		if t.blocked = res.Blocked; t.blocked {
			return nil
		}
		r.answers++
		p.rounds = 0
		p.fresh = false
		f := t.answer
		if was && res.Errno == unix.EINTR && t.op.Call != fsfake.CallOpenFIFO && t.restarts() {
			f = func(fsfake.Result) { t.again() }
		}
		t.answer, t.exit = nil, Exit{}
		if w := r.c.Wrong; w != nil && w.Told != nil && r.c.Through == "" {
			res = w.Told(t.op, res)
		}
		t.heard = append(t.heard, res)
		f(res)
		return nil
	}
	return fmt.Errorf("tracer: an answer for task %d of process %d, which has not asked", task.N, task.Pid)
}

// end ends all processes and removes what is left.
func (r *Run) end() {
	r.killAll()
	r.out.drain()
	r.out.close()
	for _, m := range r.mirrors {
		m.file.Close()
	}
	r.temp.Remove()
}

// killAll kills all processes and waits until they are gone. A thread that stands at its exit
// does not notice that it is killed, so every thread is told to go on, too; and a child that is
// being made may come up only now.
func (r *Run) killAll() {
	if r.cloned { // this thread may have others' processes as children
		for _, p := range r.procs {
			for _, t := range p.threads {
				killOne(t.tid)
			}
		}
		r.allGone()
		return
	}
	for idle := 0; ; {
		if idle%1000 == 0 {
			r.dog.killAll()
			for tid := range r.threads { // order does not matter: all of them
				_ = ptrace(unix.PTRACE_CONT, tid, 0, 0)
			}
		}
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, wallNoThread|unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // ECHILD: nobody is left
			r.allGone()
			return
		case tid == 0:
			idle++
			ts := unix.Timespec{Nsec: 50_000}
			_ = unix.Nanosleep(&ts, nil)
		case ws.Stopped():
			if r.threads[tid] == nil {
				_ = unix.Kill(tid, unix.SIGKILL)
			}
			_ = ptrace(unix.PTRACE_CONT, tid, 0, 0)
		}
	}
}

// allGone notes that no process is left.
func (r *Run) allGone() {
	for _, p := range r.procs {
		for _, t := range p.threads {
			t.forget()
		}
		p.threads, p.gone = nil, true
		r.dog.forget(p.real)
	}
	r.threads = map[int]*thread{}
}

// close closes the reading ends.
func (c *capture) close() {
	for _, s := range []*stream{&c.stdout, &c.stderr} {
		if s.fd > 0 {
			unix.Close(s.fd)
		}
		s.fd = -1
	}
}

// kill ends one process at rest.
func (r *Run) kill(pid int) error {
	p := r.process(pid)
	if p == nil {
		return fmt.Errorf("tracer: kill of process %d, which does not run", pid)
	}
	p.exit, p.dying = Exit{Signal: int(unix.SIGKILL)}, true
	for _, t := range p.threads {
		t.bequeath()
	}
	if err := unix.Kill(p.real, unix.SIGKILL); err != nil {
		return fmt.Errorf("tracer: kill of process %d: %w", pid, err)
	}
	for _, t := range p.threads { // one that stands at its exit does not notice
		_ = ptrace(unix.PTRACE_CONT, t.tid, 0, 0)
	}
	r.moved = true
	return nil
}

// drain takes what has been written, and reports whether there was anything: somebody may have
// waited for room.
func (c *capture) drain() bool {
	var b [1 << 16]byte
	any := false
	for _, s := range []*stream{&c.stdout, &c.stderr} {
		for s.fd > 0 {
			n, err := unix.Read(s.fd, b[:])
			if n <= 0 || err != nil {
				break
			}
			s.text.Write(b[:n])
			any = true
		}
	}
	return any
}
