package command

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Whether one more run of the command gets through, when all others have ended or been killed.

// asksWedge reports whether that is asked of the scenario, or assumes why it is not.
func (s *Spec) asksWedge(sc *scenarios.Scenario) (bool, error) {
	why := ""
	switch {
	case !s.sameCommands():
		why = "the commands differ"
	case s.Commands[0].Func != nil:
		why = "it is a Go function"
	case len(s.Commands) == scenarios.MaxProcesses:
		why = "there is room for no more"
	default:
		again, err := s.repeats(sc)
		if err != nil {
			return false, err
		}
		if !again {
			why = "it does not exit 0 without a kill either, after the others"
		}
	}
	if why != "" {
		assume(sc, "wedge-not-asked", "whether one more run gets through after a kill is not asked: "+why)
		return false, nil
	}
	known := &probed{by: map[int]*record{}}
	sc.Probe = func(t *scenarios.Task) error { return s.probe(t, known.of(t.Getpid())) }
	return true, nil
}

// sameCommands reports whether every process runs the same.
func (s *Spec) sameCommands() bool {
	for i := range s.Commands {
		if s.sameAs(i) != 0 {
			return false
		}
	}
	return true
}

// sameAs is the first process that runs what another one does.
func (s *Spec) sameAs(process int) int {
	l := s.Commands[process]
	if l.Func != nil { // functions cannot be compared
		return process
	}
	return slices.IndexFunc(s.Commands, func(m Line) bool { return m.Func == nil && m.same(l) })
}

// repeats reports whether the command exits 0 once more when all have run, one after the other.
// Of one that does not (it makes what may not be there yet, say) it is no wonder that it does not
// either when some have been killed.
func (s *Spec) repeats(sc *scenarios.Scenario) (bool, error) {
	switch {
	case s.again != nil:
		return *s.again, nil
	case s.Left: // on what is left behind it may fail: that is what is asked
		return true, nil
	}
	once := *s
	once.Crashes, once.record, once.ownOrders = 0, newRecord(), 1
	once.Commands = append(slices.Clone(s.Commands), s.Commands[0])
	all := *sc
	all.Program = once.program
	m := sc.NewMachine()
	last := len(s.Commands)
	m.AddProc(once.procSpec(last))
	for i := range once.Commands {
		_, err := once.alone(&all, m, i, false, nil, never, nil)
		if errors.As(err, new(stuck)) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	e, ok := scenarios.NewView(m).Exit(scenarios.ProcessName(last))
	return ok && e.Status == 0 && e.Signal == 0, nil
}

// A probed is what probes have shown of a command, by the pid that they had: their calls may have it in them.
type probed struct {
	mu sync.Mutex
	by map[int]*record
}

func (p *probed) of(pid int) *record {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[pid] == nil {
		p.by[pid] = newRecord()
	}
	return p.by[pid]
}

// probe runs the command afresh. It sees the time of day, which passes, and each of its sleeps may
// be the end of a round of polling. known is what probes with the same pid have shown of it.
func (s *Spec) probe(t *scenarios.Task, known *record) error {
	fresh := *s
	d := &driver{spec: &fresh, t: t, root: t.Getpid(), children: map[int]bool{}, probes: true}
	fresh.Crashes, fresh.Inside, fresh.record, fresh.ownOrders = 0, "", known, 1
	t.Do(fsfake.Op{Call: fsfake.CallChdir, Path: s.Dir})
	if err := d.recorded(); err != nil {
		t.Fault(fmt.Errorf("command: one more run of %s: %w", s.Commands[0], err))
	}
	if d.exit != (tracer.Exit{}) {
		return fmt.Errorf("it ends with %s", d.exit)
	}
	return nil
}
