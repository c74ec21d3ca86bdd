package command

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// step carries out one step.
func (c *carrier) step(n int, st *Step) error {
	if t, is := st.Op.SignalFor(); is {
		return c.runs[st.Process].Take(t)
	}
	s, signalled := st.Result.Interrupts()
	if !signalled && st.Op.GoesOff() {
		return c.waitAll(n, st)
	}
	if !signalled && st.Op.Call == fsfake.CallChoose || st.Op.Call == fsfake.CallSleep && st.Result.Blocked {
		return nil // whose call is next, the next step says; and it is when it ends that a sleep is told of
	}
	r := c.runs[st.Process]
	if st.Kill {
		return c.kill(r)
	}
	who := st.By
	if who == (fsfake.Task{}) {
		who = fsfake.Task{Pid: r.root, N: 1}
	}
	at := func(what string) string {
		return fmt.Sprintf("step %d, %s of %s", n, what, scenarios.ProcessName(st.Process))
	}
	set, err := next(r.Run, nil)
	if err != nil {
		return err
	}
	if signalled {
		r.wait(who, st.Op, false)
		return r.Signal(s)
	}
	i := c.asks(r, set, who, st.Op)
	if i >= 0 {
		who = set[i].Task
	}
	waited := r.waiting(who)
	if waited && !tracer.Parks(st.Op) { // the call has been made, and the kernel answers when it can
		if waits := i >= 0 && set[i].Blocked; waits != st.Result.Blocked {
			return &difference{at(brief(st.Op.String())), told(st.Op, st.Result), told(st.Op, fsfake.Result{Blocked: waits})}
		}
		r.wait(who, st.Op, st.Result.Blocked)
		return nil
	}
	if i < 0 || !c.sameCall(r, set[i], st.Op) {
		next := "no call of it comes"
		if i >= 0 {
			next = "it asks for " + set[i].Op.String()
		}
		return &difference{at("the next call"), st.Op.String(), next}
	}
	if c.carried.Sources != nil {
		c.carried.Sources[n-1] = scenarios.Source(r.Where(who))
	}
	if st.Fails {
		c.carried.Failed++
		return r.Answer(who, st.Result)
	}
	c.carried.Maps = c.carried.Maps || set[i].Maps
	return c.let(r, set[i], st, at)
}

// waitAll has the calls of a choice begin to wait, for a timer goes off meanwhile ([driver.goesOff]).
func (c *carrier) waitAll(n int, st *Step) error {
	r := c.runs[st.Process]
	for _, w := range st.Op.Waiting() {
		set, err := next(r.Run, nil)
		if err != nil {
			return err
		}
		i := c.asks(r, set, w.Task, w.Op)
		if i < 0 || !c.sameCall(r, set[i], w.Op) {
			return &difference{fmt.Sprintf("step %d, a wait", n), w.Op.String(), "another call"}
		}
		got, err := r.Let(set[i].Task, fsfake.Result{Errno: fsfake.EAGAIN})
		if err != nil {
			return err
		}
		if !got.Blocked {
			return &difference{fmt.Sprintf("step %d, %s", n, w.Op.String()), "that it waits", told(w.Op, got)}
		}
	}
	return nil
}

// kill kills a command: its first process, or all of them.
func (c *carrier) kill(r *carriedRun) error {
	r.killed = true
	dies := []int{r.root}
	if c.spec.Kill == scenarios.KillGroup {
		dies = r.Living()
	}
	r.waits = slices.DeleteFunc(r.waits, func(w waitingCall) bool { return slices.Contains(dies, w.task.Pid) })
	_, err := r.Next() // the last call has done all that it does
	if err == nil {
		err = r.Kill(dies...)
	}
	if err == nil {
		_, err = r.Next()
	}
	return err
}

// asks is which of the calls that are asked for is a thread's, or -1. Of equal threads another may have taken the work.
func (c *carrier) asks(r *carriedRun, set []tracer.Pending, who fsfake.Task, op fsfake.Op) int {
	timer := op.Call == fsfake.CallSleep
	i := slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Task == who && p.Timer == timer })
	if i < 0 {
		i = slices.IndexFunc(set, func(p tracer.Pending) bool {
			return p.Task.Pid == who.Pid && p.Timer == timer && !p.Blocked && c.sameCall(r, p, op)
		})
	}
	return i
}

// let has the kernel answer a call, and compares the answers. at says where that is.
func (c *carrier) let(r *carriedRun, asked tracer.Pending, st *Step, at func(what string) string) error {
	who := asked.Task
	waited := r.waiting(who)
	got, err := r.Let(who, st.Result)
	if err != nil {
		return err
	}
	if fifo, _ := st.Result.Value.(fsfake.FIFO); fifo.Waits && got.Blocked { // its end is a call of its own on the fake
		c.carried.Calls++
		r.wait(who, fsfake.Op{Call: fsfake.CallOpenFIFO, FD: int(st.Result.N), Wait: true}, true)
		return nil
	}
	if got.Blocked && st.Op != asked.Op { // it was tried, as in [driver.waitInTime]
		got = fsfake.Result{Errno: fsfake.EAGAIN}
	}
	if waited {
		if !got.Blocked {
			c.carried.Parked++
		}
	} else {
		c.carried.Calls++
	}
	if seen(st.Op, got) != seen(st.Op, st.Result) {
		return &difference{at(brief(st.Op.String())), told(st.Op, st.Result), told(st.Op, got)}
	}
	r.wait(who, st.Op, got.Blocked)
	if st.Op.Call.Ends() || st.Op.Call == fsfake.CallExec { // it has closed descriptors when the program has come to rest
		_, err = r.Next()
	}
	return err
}

// sign removes the sign of a command that was killed when nothing of it runs any more, as the machine does.
func (c *carrier) sign(st *Step) error {
	r := c.runs[st.Process]
	if c.spec.Inside != "" && path.Base(st.Op.Path) == path.Base(c.spec.Inside) && st.Result.Errno == 0 {
		r.signs = makesName(st.Op) || r.signs && !st.Op.Call.Changes()
	}
	if !r.killed || !r.signs {
		return nil
	}
	set, err := next(r.Run, nil)
	if len(set) > 0 || err != nil {
		return err
	}
	r.signs = false
	_ = os.Remove(filepath.Join(c.root, c.spec.at(c.spec.Inside)))
	return nil
}

// sameCall reports whether a program asks for what the fake's run did; see [driver.ask].
func (c *carrier) sameCall(r *carriedRun, p tracer.Pending, op fsfake.Op) bool {
	switch op.Call {
	case fsfake.CallForkAs:
		return p.Op.Call == fsfake.CallFork
	case fsfake.CallEnd:
		printed := ""
		if !c.spec.NoStdout {
			printed = r.Stdout()
		}
		return p.Op.Call == fsfake.CallExit && p.Task.Pid == r.root && op.Flags&^fsfake.ExitIdle == endFlags(p.Exit) &&
			op.Data == printed
	}
	return p.Op == op || p.Op.MayBlock() && tracer.WithoutWait(p.Op) == op
}

// seen is what both sides must agree on of an answer.
func seen(op fsfake.Op, r fsfake.Result) fsfake.Result {
	s := fsfake.Result{Errno: r.Errno, N: r.N, Data: r.Data, Blocked: r.Blocked}
	s.Stat = fsfake.Stat{Mode: r.Stat.Mode, UID: r.Stat.UID, GID: r.Stat.GID, Size: r.Stat.Size, Nlink: r.Stat.Nlink}
	if r.Stat.Mode.IsDir() { // file systems differ
		s.Stat.Size, s.Stat.Nlink = 0, 0
	}
	if op.Call == fsfake.CallReadlink {
		s.N = 0
	}
	return s
}

// told is an answer in words.
func told(op fsfake.Op, r fsfake.Result) string {
	switch text := r.Describe(op); {
	case r.Blocked:
		return "that it waits"
	case text == "":
		return "that it is done"
	default:
		return text
	}
}

// woken reports whether the kernel has let a command go on that waits on the fake: locks are
// handed to whoever waits as soon as they are free, and no schedule can delay that.
func (c *carrier) woken() bool {
	for _, r := range c.runs {
		if r.Run == nil {
			continue
		}
		for _, w := range r.waits {
			if set, err := r.Next(); err == nil && !blocked(set, w.task) {
				return true
			}
		}
	}
	return false
}

// blocked reports whether a task waits in the kernel.
func blocked(set []tracer.Pending, t fsfake.Task) bool {
	return slices.ContainsFunc(set, func(p tracer.Pending) bool { return p.Task == t && p.Blocked })
}
