package checker

import (
	"os"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Toys with signal handlers.

// trapped is a scenario of a lock in which every process has the same signal handler.
func trapped(id string, l scenarios.Protocol, handler scenarios.Program, st scenarios.Setting,
	claims ...scenarios.Claim) *scenarios.Scenario {
	for i := range st.Processes {
		st.Handlers = append(st.Handlers, i)
	}
	sc := fixtures.New(id, l, st, claims...)
	sc.Program = func(process, task int) scenarios.Program {
		if st.IsHandler(process, task) {
			return handler
		}
		return scenarios.Once(l)
	}
	return sc
}

// removeAndExit is the trap of many shell scripts: it removes the lock, whose ever it is.
func removeAndExit(t *scenarios.Task) {
	t.Leave(fixtures.Lock, func() { _ = t.Unlink(fixtures.Lock) })
}

// takenOut is a process that has a record lock and waits for another, and a process that has that one
// and asks for the first while the handler runs. As nobody waits then, that is no deadlock (EDEADLK): the
// handler gives the lock up, and it is granted.
func takenOut(process, task int) scenarios.Program {
	armed := fsfake.Cell[bool]{Name: "armed"}
	lock := func(f *fsfake.File, how int, at int64, wait bool) error {
		return f.FcntlLock(fsfake.RecordLock{Type: how, Start: at, Len: 1}, wait)
	}
	open := func(t *scenarios.Task) *fsfake.File {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			t.Fault(err)
		}
		return f
	}
	switch {
	case process == 0 && task == 1:
		return func(t *scenarios.Task) {
			f := open(t)
			_ = lock(f, fsfake.F_WRLCK, 0, false)
			armed.Store(t.Proc, true)
			_ = lock(f, fsfake.F_WRLCK, 1, true)
		}
	case process == 0:
		return func(t *scenarios.Task) {
			if armed.Load(t.Proc) {
				f := open(t)
				_ = t.WriteFile("/signalled", nil, 0o644)
				_ = lock(f, fsfake.F_UNLCK, 0, false)
			}
		}
	}
	return func(t *scenarios.Task) {
		f := open(t)
		_ = lock(f, fsfake.F_WRLCK, 1, false)
		if _, err := t.Stat("/signalled"); err == nil {
			t.Assert(lock(f, fsfake.F_WRLCK, 0, true) == nil, "nobody waits, so the lock is granted")
		}
	}
}

// countSignals asserts in its handler that this is the first.
func countSignals(_, task int) scenarios.Program {
	seen := fsfake.Cell[bool]{Name: "seen"}
	if task == 1 {
		return func(t *scenarios.Task) { t.Work() }
	}
	return func(t *scenarios.Task) {
		t.Assert(!seen.Load(t.Proc), "no signal has come before")
		seen.Store(t.Proc, true)
	}
}

// signalToys lists the toys with signal handlers.
func signalToys() []*scenarios.Scenario {
	type set = scenarios.Setting
	claim := func(p *scenarios.Property, v scenarios.Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	holds, broken := scenarios.Holds, scenarios.Broken
	me, dead, wedge, foreign := scenarios.MutualExclusion, scenarios.Deadlock, scenarios.Wedge, scenarios.ForeignRelease
	returns := func(t *scenarios.Task) { t.Work() }
	locks := func(t *scenarios.Task) {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err == nil {
			_ = f.Flock(fsfake.LOCK_EX)
			_ = f.Close()
		}
	}
	return []*scenarios.Scenario{
		trapped("toy/trap/signal", fixtures.Excl(), removeAndExit, set{Processes: 2, Signals: 1}, claim(me, holds),
			claim(foreign, broken), claim(wedge, holds)),
		trapped("toy/trap/three", fixtures.Excl(), removeAndExit, set{Processes: 3, Signals: 1}, claim(me, broken)),
		trapped("toy/trap-exits/signal", fixtures.Excl(), func(t *scenarios.Task) { t.Exit() },
			set{Processes: 2, Signals: 1}, claim(me, holds), claim(foreign, holds), claim(wedge, broken)),
		trapped("toy/trap-returns/signal", fixtures.Flock(), returns, set{Processes: 2, Signals: 2, Crashes: 1},
			claim(me, holds), claim(wedge, holds), claim(dead, holds)),
		trapped("toy/trap-locks/signal", fixtures.Flock(), locks, set{Processes: 2, Signals: 1}, claim(me, holds),
			claim(dead, broken)),
		fixtures.Programs("toy/taken-out/signal", set{Processes: 2, Handlers: []int{0}, Signals: 1}, takenOut,
			claim(scenarios.Assertion, holds)),
		fixtures.Programs("toy/count/signal", set{Processes: 1, Handlers: []int{0}, Signals: 1}, countSignals,
			claim(scenarios.Assertion, holds)),
		fixtures.Programs("toy/count/signals", set{Processes: 1, Handlers: []int{0}, Signals: 2}, countSignals,
			claim(scenarios.Assertion, broken)),
		trapped("toy/trap/alone", fixtures.Excl(), removeAndExit, set{Processes: 1, Signals: 1}, claim(foreign, holds),
			claim(scenarios.LeftBehind, holds)),
		trapped("toy/trap/power", fixtures.Excl(), removeAndExit,
			set{Processes: 2, Signals: 1, PowerLosses: 1, Reboot: []int{1}}, claim(me, holds)),
		trapped("toy/trap/failing", fixtures.Excl(), removeAndExit, set{Processes: 2, Signals: 1, FailingCalls: 1},
			claim(me, holds)),
	}
}
