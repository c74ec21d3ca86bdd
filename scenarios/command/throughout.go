package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Throughout is a lock that commands have from their beginnings to their ends, and what was seen of that.
//
// flock(1) opens a file, takes an exclusive lock, waiting as long as it must, and starts the command, which inherits
// the descriptor. The kernel gives the lock back when the last process that has the descriptor has ended. So whatever a
// command does, by the clock, by random numbers, by inode numbers, it does alone: between two of its calls nobody else
// does more than open the file of the lock, and wait. Any schedule of any number of such commands is therefore one of
// them after the other, in the order in which they get the lock; what it leaves behind is what they leave behind one
// after the other, at these times and with these random numbers; and all end, as they do alone. So it is when the first
// process of one is killed: what it has started has the descriptor too, and the next command finds what is left in a
// serial run with that kill.
//
// Nothing of that hangs on what a command does with the lock, but on this, which each run that is made is asked:
//   - until it has the lock, a command does nothing but open that file and ask for the lock;
//   - from then on each of its processes has the descriptor until it ends, and the name of the file leads to it;
//   - it does not ask about other processes, nor for what is outside of the directory or not modelled;
//   - its own processes have one order, for in another one they may give the lock back, or deadlock.
//
// The runs are those of each command alone on the files at the start, on all that one leaves, and on all that two
// leave. They need not be made twice, with other times or random numbers, for what they do is not compared: that the
// lock is kept whatever these are is assumed, and a report says so.
type Throughout struct {
	// Runs is how many were asked.
	Runs int

	lock string            // path of the file
	why  string            // it is not so; else empty
	ends []*fsfake.Machine // what is left in serial runs with kills, at the end and after each step since a kill
	spec *Spec             // of which it was asked last
}

// mostLeft is how many commands run one after the other, and mostLefts how many states of the files they may leave.
const mostLeft, mostLefts = 3, 16

// Throughout looks whether flock(1), which a repair puts around commands, has them keep the lock from their beginnings
// to their ends. Where they do not, or that is not known, why says so.
func (r *Repair) Throughout(ctx context.Context) (is *Throughout, why string, err error) {
	if !r.around() {
		return nil, "flock(1) is not around each command", nil
	}
	s, sc, err := r.copies()
	if err != nil || sc == nil {
		return nil, "something else than the commands is asked about", err
	}
	is = &Throughout{lock: s.at(r.Lock)}
	s.record.changes.Rely()
	first := sc.NewMachine()
	known := make([]scenarios.Learning, len(s.Commands))
	defer func() {
		for i := range known {
			known[i].Close()
		}
	}()
	states, from := []*fsfake.Machine{first}, 0
	for range mostLeft {
		to := len(states)
		for _, m := range states[from:to] {
			for i := range s.Commands {
				if s.hasEarlier(i) {
					continue
				}
				if err := ctx.Err(); err != nil {
					return nil, "", err
				}
				end := m.Clone()
				s.keeps = &known[i]
				port, err := s.alone(sc, end, i, m == first, nil, never, nil)
				s.keeps = nil
				switch {
				case err != nil:
					return nil, err.Error(), nil
				case fsfake.NextWays(port.ways, 0) != nil:
					return nil, "its own processes may go on in several orders", nil
				}
				if m == first {
					if err := s.asOnTheKernel(sc, i, port.steps, end); err != nil {
						return nil, "", err
					}
				}
				is.asks(m, i, port.steps, true)
				next, err := end.Anew(first)
				if err != nil {
					return nil, fmt.Sprintf("it leaves behind that %v", err), nil
				}
				if !slices.ContainsFunc(states, func(m *fsfake.Machine) bool { return s.sameFiles(m, next) }) {
					states = append(states, next)
				}
			}
		}
		if from = to; len(states) > mostLefts {
			return nil, fmt.Sprintf("the commands leave behind more than %d states of the files", mostLefts), nil
		}
	}
	if s.record.changes.Refuted() { // what was taken to commute does not
		return r.Throughout(ctx)
	}
	is.spec = s
	if is.unjudged(); is.why != "" {
		return nil, is.why, nil
	}
	return is, "", nil
}

// around reports whether all that a repair does is to have flock(1) start each command.
func (r *Repair) around() bool { return r.Around || r.Instead }

// sameFiles reports whether what is compared of files is the same on two machines.
func (s *Spec) sameFiles(a, b *fsfake.Machine) bool {
	return slices.Equal(s.tree(scenarios.NewView(a)), s.tree(scenarios.NewView(b)))
}

// unjudged notes what the executions have done that no verdict covers.
func (t *Throughout) unjudged() {
	t.why = cmp.Or(t.why, t.spec.unjudged())
	if t.why == "" && t.spec.record.looks {
		t.why = "a command looks at processes"
	}
}

// asks asks a run of a command alone, from a machine on, whether it keeps to the lock. whole: it goes to its end.
func (t *Throughout) asks(from *fsfake.Machine, process int, steps []Step, whole bool) {
	t.Runs++
	t.why = cmp.Or(t.why, t.breaks(from.Clone(), process, steps, whole))
}

// breaks says where a run does not keep to the lock; "" for nowhere.
func (t *Throughout) breaks(m *fsfake.Machine, process int, steps []Step, whole bool) string {
	is, has, killed := fsfake.InodeID(0), false, false
	for i := range steps {
		st := &steps[i]
		by, op := st.task(process), st.Op
		own := op.Call == fsfake.CallKill && isOf(op.Pid, process)
		switch {
		case st.Kill:
			killed = true
			m.KillProc(by.Pid)
		case op.Call.Is(fsfake.Asks) && op.Call != fsfake.CallNow && !own:
			return "it asks about other processes: " + op.String()
		case !has && !t.asksForIt(m, by, &op):
			return "it does something before it has the lock: " + op.String()
		default:
			if r := m.Do(by, op); op.Call == fsfake.CallSleep && r.Blocked {
				m.Do(by, op)
			}
		}
		if killed {
			t.ends = append(t.ends, m.Clone())
		}
		id, there := m.LookupName(t.lock)
		if !has {
			has, is = t.holds(m, by.Pid, id), id
			continue
		}
		if !there || id != is {
			return "it changes the file of the lock: " + op.String()
		}
		for _, pid := range m.Pids() {
			if isOf(pid, process) && !t.holds(m, pid, id) {
				return "it lets go of the lock before it ends: " + op.String()
			}
		}
	}
	goesOn := slices.ContainsFunc(m.Pids(), func(pid int) bool { return isOf(pid, process) })
	if whole && (goesOn || !has && !killed) {
		return "it does not take the lock, or does not end"
	}
	return ""
}

// isOf reports whether a pid is one of a command's processes.
func isOf(pid, process int) bool {
	of, child := scenarios.StartedBy(pid)
	return pid == scenarios.Pid(process) || child && of == process
}

// asksForIt reports whether a call of who has not the lock opens its file, or asks for it and waits.
func (t *Throughout) asksForIt(m *fsfake.Machine, by fsfake.Task, op *fsfake.Op) bool {
	switch op.Call {
	case fsfake.CallOpen:
		return m.Absolute(by.Pid, op.Path) == t.lock && op.Flags&(fsfake.O_TRUNC|fsfake.O_EXCL) == 0
	case fsfake.CallFlock:
		return op.Flags == fsfake.LOCK_EX
	}
	return op.Call == fsfake.CallGetfd || op.Call == fsfake.CallGetfl
}

// holds reports whether a process has a descriptor by which the lock is held.
func (t *Throughout) holds(m *fsfake.Machine, pid int, of fsfake.InodeID) bool {
	return slices.ContainsFunc(m.FDs(pid), func(d fsfake.FDView) bool {
		return d.ID == of && d.Flock == fsfake.LOCK_EX
	})
}

// Asks has the serial runs of a spec with kills asked, too, when its scenario is made.
func (t *Throughout) Asks(s *Spec) { s.throughout = t }

// comes notes a machine to which a serial order comes.
func (t *Throughout) comes(s *Spec, m *fsfake.Machine, end bool) {
	if t == nil {
		return
	}
	if t.spec = s; end {
		t.ends = append(t.ends, m)
	}
}

// sees asks the runs of a command in a serial order. That one has no end breaks it.
func (t *Throughout) sees(from *fsfake.Machine, process int, ends []aloneEnd, err error) {
	if t == nil {
		return
	}
	if errors.As(err, new(stuck)) {
		t.why = err.Error()
	}
	for _, e := range ends {
		t.asks(from, process, e.steps, e.m != nil)
	}
}

// seesKilled asks a run of a command that was killed on the way, whose children go on.
func (t *Throughout) seesKilled(from *fsfake.Machine, process int, ran *alonePort, err error) {
	if t == nil {
		return
	}
	if err != nil {
		t.why = err.Error()
		return
	}
	t.asks(from, process, ran.steps, !ran.meets)
}

// mostBereft is how many executions seesBereft makes of a run.
const mostBereft = 24

// seesBereft keeps what kills of the first process leave of a run, from a machine on, in which one process goes on at a
// time. While the first one only waits, and unless that other looks at others later, it does what it did; else it is
// executed.
func (t *Throughout) seesBereft(sc *scenarios.Scenario, from *fsfake.Machine, process int, ran *alonePort) error {
	s := t.spec
	var apart []bool
	looked := 0 // before this step, which one makes that goes on, somebody has looked
	for at := s.record.begin(s.start(process), true); len(apart) < len(ran.steps); {
		apart = append(apart, at != nil && at.apart)
		if at != nil {
			at = s.record.after(at, ran.steps[len(apart)-1].Result, true)
		}
		if n := len(apart); at != nil && at.looked && n < len(ran.before) && s.Outlives(ran.before[n].family) {
			looked = n
		}
	}
	executed := 0
	for i, is := range ran.before {
		switch {
		case is.family.Ended || !s.Outlives(is.family) || t.why != "":
		case executed == mostBereft:
			t.why = "it is not known what goes on after a kill"
		case i < looked || !apart[i]:
			executed++
			port, err := s.alone(sc, from.Clone(), process, false, nil, i, nil)
			if err != nil && !errors.As(err, new(stuck)) {
				return err
			}
			t.seesKilled(from, process, port, err)
		default:
			m := is.m.Clone()
			m.KillProc(scenarios.Pid(process))
			t.ends = append(t.ends, m)
		}
	}
	return nil
}

// Judges says of a property of a scenario with kills whether it holds, or in why that nobody knows; false where that is
// to be decided otherwise. All that a kill leaves behind, at the end or if what it has started is killed with it, is
// what it leaves in the serial runs. Where that is as it should be, it may be otherwise at another time or with other
// random numbers.
func (t *Throughout) Judges(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property) (holds bool, why string,
	is bool, err error) {
	if t == nil || t.why != "" || len(t.ends) == 0 || p.Unjudged != "" || p.Reconsider != nil ||
		t.spec.record.where() != "" {
		return false, "", false, nil
	}
	bad := func(m *fsfake.Machine) bool { return p.Invariant(scenarios.NewView(m)) != "" }
	switch {
	case p.Native == scenarios.NoNativeRuns: // each run has ended, so that nobody is stuck
		holds = p.Question == scenarios.Stuck
		is = holds
	case p.Invariant != nil:
		holds = !slices.ContainsFunc(t.ends, bad)
		is = holds || p.Judged != nil
	}
	if t.unjudged(); t.why != "" || !holds || p.Native != scenarios.RunsWithKills {
		return holds, "", is && t.why == "", nil
	}
	if sc.Apart == nil || sc.Late == nil {
		return false, "", false, nil
	}
	if other, _, err := sc.Apart(); other != nil || err != nil {
		return false, "", false, err
	}
	if why := sc.Unjudged(); why != "" {
		return false, why, true, nil
	}
	late, err := sc.Late(ctx, false)
	return late == "", "", late == "", err
}
