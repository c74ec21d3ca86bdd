package bruteforce

import (
	"fmt"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
)

// forever is the virtual time after which a fresh process that has not got through never
// will.
const forever = 30 * 24 * time.Hour

// trying: an acquisition of the task has begun, by a step of it, and was not answered.
func (a *actor) trying() bool {
	if a.gone || a.open == nil || a.invokes != nil && a.blocked == nil {
		return false
	}
	_, ok := a.open.(model.Acquire)
	return ok
}

// wedged runs the probe, attempt after attempt, each by a process of its own and alone. The
// clock moves by as much as has passed, and at least a second, whenever the process gives way
// or comes round, and between attempts.
func (x *space) wedged(m *fsfake.Machine) (bool, error) {
	start := m.Now()
	if x.property.Within > 0 {
		return x.keptOut(m, start)
	}
	for try := 0; ; try++ {
		last := m.Now().Sub(start) > forever
		got, waits, err := x.attempt(m, 900+try, start)
		if err != nil || got || waits || last {
			return !got, err
		}
		later(m, start)
	}
}

func later(m *fsfake.Machine, start time.Time) { m.Advance(m.Now().Sub(start) + time.Second) }

// keptOut tries again and again until the bound has passed, and once more right after it.
func (x *space) keptOut(m *fsfake.Machine, start time.Time) (bool, error) {
	end := start.Add(x.property.Within)
	for try := 0; ; try++ {
		got, waits, err := x.attempt(m, 900+try, start)
		if got || waits || err != nil {
			return !got, err
		}
		if m.Now().After(end) {
			return true, nil
		}
		laterUpTo(m, start, end)
	}
}

// laterUpTo moves the clock by a small part of a bound, but not further than right behind its end,
// which has not come.
func laterUpTo(m *fsfake.Machine, start, end time.Time) {
	m.Advance(min(end.Sub(start)/200, end.Sub(m.Now())+1))
}

// litter reports whether there is a name that was not there at the start.
func (x *space) litter(m *fsfake.Machine) bool {
	for _, n := range m.Tree() {
		there := false
		for _, old := range x.start {
			there = there || old.Path == n.Path
		}
		if !there {
			return true
		}
	}
	return false
}

// attempt is one acquisition by a fresh process. got: it acquired; waits: it is in a call
// that nobody will grant, or polls after the end of time; or it sleeps or polls when a bound has
// passed.
func (x *space) attempt(m *fsfake.Machine, pid int, start time.Time) (got, waits bool, err error) {
	m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Start: int64(pid), Cwd: "/"})
	t, err := newTask(compileProbe(x.p.Probe), "fresh")
	if err != nil {
		return false, false, err
	}
	id := fsfake.Task{Pid: pid, N: 1}
	visits := map[int]bool{}
	late := false
	for calls := 0; !t.ended(); calls++ {
		if calls > 100_000 {
			return false, false, fmt.Errorf("bruteforce: the probe does not end")
		}
		op := t.op()
		var file fsfake.InodeID
		if op.Call == fsfake.CallFstat {
			file, _ = m.FDInode(pid, op.FD)
		}
		r := m.Do(id, op)
		if r.Unmodelled != "" {
			return false, false, fmt.Errorf("bruteforce: %w: %s", ErrNotModelled, r.Unmodelled)
		}
		if r.Blocked {
			return false, true, nil
		}
		bounded, end := x.property.Within > 0, start.Add(x.property.Within)
		switch {
		case op.Call != fsfake.CallSleep:
		case bounded && m.Now().After(end):
			return false, true, nil
		case bounded:
			m.Advance(time.Duration(op.Time))
		default:
			later(m, start)
		}
		if op.Call == fsfake.CallStat {
			file, _ = m.Lookup(op.Path)
		}
		before := t.pc
		if _, err := t.take(r, file); err != nil {
			return false, false, err
		}
		if t.pc <= before && bounded {
			if m.Now().After(end) {
				return false, true, nil
			}
			laterUpTo(m, start, end)
		} else if t.pc <= before { // only loops lead back
			if visits[t.pc] && late {
				return false, true, nil
			}
			if late = m.Now().Sub(start) > forever; late {
				visits[t.pc] = true
			}
			later(m, start)
		}
	}
	m.KillProc(pid)
	return t.reg.held, false, nil
}
