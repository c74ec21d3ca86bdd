package edits

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// does changes what a call does.
func does(do func(t *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result) *edit.Edit {
	return &edit.Edit{Text: "it", Change: func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
		return edit.Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result { return do(t, p, op) }}
	}}
}

// work makes a step in the place of a call, which is taken to have answered.
func work(p fsfake.Port, a fsfake.Result) fsfake.Result {
	p.Do(edit.Work)
	return a
}

// stood is a scenario in which a file is at the lock's name from the start on.
func stood(sc *scenarios.Scenario) *scenarios.Scenario {
	setup := sc.Setup
	sc.Setup = func(m *fsfake.Machine) {
		if setup != nil {
			setup(m)
		}
		_ = m.Proc(1).WriteFile(lock, nil, 0o644)
	}
	return sc
}

// What tasks do that are refused or wait as long as they run alone is compared, too, and so is what others do after
// them: a change does not hold by having them wait, refuse or do nothing.
func TestChangesThatDoNothing(t *testing.T) {
	const job, done = "/tmp/job", "/tmp/done"
	waiting := scenario(kernel(""), 2)
	waiting.Setup = func(m *fsfake.Machine) {
		m.AddProc(fsfake.ProcSpec{Pid: 50, Parent: 1, Start: 900, Cwd: "/"})
		f, _ := m.Proc(50).OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
		_ = f.Flock(fsfake.LOCK_EX)
	}
	second := stood(scenario(file(os.O_EXCL), 2))
	locks := second.Program
	second.Program = func(process, task int) scenarios.Program {
		if process == 0 {
			return locks(process, task)
		}
		return func(t *scenarios.Task) { _ = t.WriteFile(done, []byte("B"), 0o644) }
	}
	takes := scenario(file(os.O_EXCL), 2)
	takes.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(job, nil, 0o644) }
	takes.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) { _ = scenarios.Locked(t, file(os.O_EXCL), func() { _ = t.Unlink(job) }) }
	}
	makes := scenario(file(os.O_EXCL), 2)
	makes.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) { _ = scenarios.Locked(t, file(os.O_EXCL), func() { _ = t.Mkdir(done, 0o755) }) }
	}
	for _, c := range []struct {
		why string
		sc  *scenarios.Scenario
		do  func(t *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result
	}{
		{"A does not end", stood(scenario(file(os.O_EXCL), 2)),
			func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
				a := p.Do(op)
				for op.Call == fsfake.CallOpen && a.Errno == fsfake.EEXIST {
					a = p.Do(op)
				}
				return a
			}},
		{"A is refused the lock", waiting, func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallFlock {
				op.Flags |= fsfake.LOCK_NB
			}
			return p.Do(op)
		}},
		{"done is not as it was", second, func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallWrite {
				return work(p, fsfake.Result{N: int64(len(op.Data))})
			}
			return p.Do(op)
		}},
		{"job is not as it was", takes, func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallUnlink && op.Path == job {
				return work(p, fsfake.Result{})
			}
			return p.Do(op)
		}},
		{"done is not as it was", makes, func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallMkdir {
				return work(p, fsfake.Result{})
			}
			return p.Do(op)
		}},
	} {
		changed := changedBy(*c.sc, []*edit.Edit{does(c.do)})
		before := serially(c.sc)
		require.Contains(t, differs(before, serially(&changed)), c.why)
		require.Empty(t, differs(before, serially(c.sc)))
	}
	// A lock that stays where it was removed is no harm, nor one that is granted where it was refused.
	kept := changedBy(*scenario(kernel("held"), 2), []*edit.Edit{does(
		func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallUnlink {
				return work(p, fsfake.Result{})
			}
			return p.Do(op)
		})})
	require.Empty(t, differs(serially(stood(scenario(kernel("held"), 2))), serially(stood(&kept))))
	free := stood(scenario(file(0), 2))
	require.Empty(t, differs(serially(stood(scenario(file(os.O_EXCL), 2))), serially(scenario(file(0), 2))))
	require.NotEmpty(t, differs(serially(scenario(file(0), 2)), serially(free)))
}

// wants has each say first that it wants the lock, and give up when the other one has said so.
var wants = does(func(t *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
	name := func(who int) string { return "/tmp/want." + scenarios.ProcessName(who) }
	switch {
	case op.Call == fsfake.CallOpen && op.Path == lock:
		p.Do(fsfake.Op{Call: fsfake.CallMkdir, Path: name(t.Index)})
		if p.Do(fsfake.Op{Call: fsfake.CallStat, Path: name(1 - t.Index)}).OK() {
			p.Do(fsfake.Op{Call: fsfake.CallRmdir, Path: name(t.Index)})
			return fsfake.Result{Errno: fsfake.EEXIST}
		}
	case op.Call == fsfake.CallUnlink && op.Path == lock:
		defer p.Do(fsfake.Op{Call: fsfake.CallRmdir, Path: name(t.Index)})
	}
	return p.Do(op)
})

// Who come at once must not all be refused; a lock that a kill leaves, as it did, must not be left without one; and a
// process that runs alone in a row has company.
func TestChangesThatAreWorse(t *testing.T) {
	ask := func(sc *scenarios.Scenario) *mender {
		m, r := &mender{row: rowOf(sc)}, edit.Recorder{}
		require.NoError(t, r.Alone(sc))
		require.NoError(t, m.ask(t.Context(), &r))
		m.o.States = RepairStates
		return m
	}
	m := ask(scenario(file(0), 2))
	require.Contains(t, m.try(t.Context(), []*edit.Edit{wants}).Why, "with 2 processes not-all-refused is broken by ")

	crash := scenario(file(os.O_EXCL), 2)
	crash.Setting.Crashes = 1
	leaves := does(func(t *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
		if op.Call == fsfake.CallUnlink && t.Index == 1 {
			return work(p, fsfake.Result{})
		}
		return p.Do(op)
	})
	c := compare(t.Context(), scenarios.Wedge, changedBy(*crash, []*edit.Edit{leaves}), *crash, m.full())
	require.Contains(t, c.why, "wedge is broken by ")
	require.False(t, strings.Contains(c.why, "!"), c.why)
	require.Equal(t, comparison{same: true}, compare(t.Context(), scenarios.Wedge, *crash, *crash, m.full()))

	alone := scenario(file(os.O_EXCL), 1)
	alone.Setting.Crashes = 1
	alone.Claims = []scenarios.Claim{{Property: scenarios.Wedge, Verdict: scenarios.Broken}}
	open := does(func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
		if op.Call == fsfake.CallOpen {
			op.Flags &^= fsfake.O_EXCL
		}
		return p.Do(op)
	})
	fix := ask(alone).try(t.Context(), []*edit.Edit{open})
	require.Contains(t, fix.Why, "with 2 processes mutual-exclusion is broken by")

	spinning := does(func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
		a := p.Do(op)
		for op.Call == fsfake.CallOpen && a.Errno == fsfake.EEXIST {
			a = p.Do(op)
		}
		return a
	})
	excl := changedBy(*scenario(file(os.O_EXCL), 2), []*edit.Edit{spinning})
	require.True(t, spins(&excl))
	require.False(t, spins(scenario(file(os.O_EXCL), 2)))
}

// A log that is appended to once, and stays, is not opened with O_EXCL: nobody could append to it later.
func TestNoExclusiveLog(t *testing.T) {
	const log = "/tmp/log"
	sc := scenario(file(os.O_EXCL), 2)
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, file(os.O_EXCL), func() {
				if text, err := t.ReadFile(log); err != nil || len(text) == 0 {
					f, _ := t.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
					_, _ = f.WriteString("a")
					_ = f.Close()
				}
			})
		}
	}
	var r edit.Recorder
	require.NoError(t, r.Alone(sc))
	m := &mender{row: rowOf(sc)}
	for _, c := range m.changes(r.Sites()) {
		require.NotContains(t, c[0].Text, "O_EXCL in open log")
	}
}

// What takes a dead owner's lock over is left out only where nobody waits for the dead then, also if nobody is killed
// in the scenario: a lock file that is created stays, a lock of the kernel is given back.
func TestTakeoversAreNeeded(t *testing.T) {
	stale := func(p scenarios.Protocol) scenarios.Protocol {
		acquire := p.Acquire
		p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				h, err := acquire(t)
				if err == nil { // who is killed from here on is never taken for dead
					return h, t.WriteFile(lock, []byte("x"), 0o644)
				}
				if text, _ := t.ReadFile(lock); len(text) == 0 { // nobody is known to have it
					_ = t.Unlink(lock)
				}
			}
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return p
	}
	nonblocking := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err == nil && f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
				_ = f.Close()
				err = scenarios.ErrLocked
			}
			return scenarios.Hold{File: f}, err
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
	for _, c := range []struct {
		p      scenarios.Protocol
		needed bool
	}{{file(os.O_EXCL), true}, {nonblocking, false}} {
		sc := scenario(stale(c.p), 2)
		sc.Probe = scenarios.Attempt(stale(c.p))
		var r edit.Recorder
		require.NoError(t, r.Alone(sc))
		m := &mender{row: rowOf(sc), o: checker.Options{States: RepairStates}}
		require.NoError(t, m.ask(t.Context(), &r))
		omits := 0
		for _, change := range m.changes(r.Sites()) {
			if len(change) > 1 || !change[0].OmitsTakeover() {
				continue
			}
			omits++
			is := changedBy(*sc, change)
			if got := m.takesOver(t.Context(), change, &is, m.full()); c.needed {
				require.Contains(t, got.why, "the lock of the dead is not taken over: wedge is broken by ")
			} else {
				require.Equal(t, comparison{}, got, textOf(change))
			}
			is.Probe = nil
			require.True(t, m.takesOver(t.Context(), change, &is, m.full()).open, "nobody can be asked")
		}
		require.Equal(t, 2, omits, "without it, and only if one's own file is there")
	}
}

// The other rows of the protocol are asked: what held there must hold, and what is still broken is told.
func TestOtherRows(t *testing.T) {
	holds, broken := scenario(kernel(""), 2), scenario(kernel("after"), 3)
	broken.ID = "toy/verified/three"
	m := &mender{o: checker.Options{States: RepairStates}, family: []row{rowOf(holds)}}
	unlocked := does(func(_ *scenarios.Task, p fsfake.Port, op fsfake.Op) fsfake.Result {
		if op.Call == fsfake.CallFlock {
			return work(p, fsfake.Result{})
		}
		return p.Do(op)
	})
	_, c := m.elsewhere(t.Context(), []*edit.Edit{unlocked})
	require.Contains(t, c.why, "in "+holds.ID+", mutual-exclusion is broken by ")
	m.family = append(m.family, rowOf(broken))
	still, c := m.elsewhere(t.Context(), nil)
	require.Empty(t, c.why)
	require.Equal(t, []string{"mutual-exclusion in toy/verified/three"}, still)
}
