package checker

import (
	"os"
	"syscall"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// exclPid creates the lock and writes its pid. Where that fails it takes the lock away again, if it
// tidies, or leaves it.
func exclPid(tidies bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			if _, err = f.Write([]byte("pid")); err != nil && tidies {
				_ = t.Unlink(fixtures.Lock)
			}
			_ = f.Close()
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}
}

// flockBlindly locks a permanent file, and does not look whether that went well.
func flockBlindly() scenarios.Protocol {
	l := fixtures.Flock()
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err == nil {
			_ = f.Flock(fsfake.LOCK_EX)
		}
		return scenarios.Hold{File: f}, err
	}
	return l
}

// failingToys lists locks whose calls may fail, with what is true of them.
func failingToys() []*scenarios.Scenario {
	failing := func(processes int, with ...syscall.Errno) scenarios.Setting {
		return scenarios.Setting{Processes: processes, FailingCalls: 1, FailWith: with}
	}
	claim := func(p *scenarios.Property, v scenarios.Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	me, wedge := scenarios.MutualExclusion, scenarios.Wedge
	return []*scenarios.Scenario{
		fixtures.New("toy/excl-pid/full", exclPid(false), failing(2, fsfake.ENOSPC), claim(me, scenarios.Holds),
			claim(wedge, scenarios.Broken)),
		fixtures.New("toy/excl-pid-tidy/full", exclPid(true), failing(2, fsfake.ENOSPC), claim(me, scenarios.Holds),
			claim(wedge, scenarios.Holds)),
		fixtures.New("toy/excl-pid-tidy/failing", exclPid(true), failing(1), claim(wedge, scenarios.Broken)),
		fixtures.New("toy/flock/signal", fixtures.Flock(), failing(2, fsfake.EINTR, fsfake.ENOLCK),
			claim(me, scenarios.Holds), claim(wedge, scenarios.Holds)),
		fixtures.New("toy/flock-blindly/signal", flockBlindly(), failing(2, fsfake.EINTR), claim(me, scenarios.Broken)),
		fixtures.New("toy/flock-blindly/no-signal", flockBlindly(), failing(2, fsfake.EIO), claim(me, scenarios.Holds)),
		fixtures.New("toy/excl-wait/failing", fixtures.ExclWait(), failing(2), claim(me, scenarios.Holds),
			claim(scenarios.ForeignRelease, scenarios.Holds)),
		fixtures.New("toy/stat/failing", fixtures.StatThenWrite(), failing(2), claim(me, scenarios.Broken)),
		fixtures.Programs("toy/flock-twice/signal", failing(2, fsfake.EINTR), flockTwice,
			claim(scenarios.Deadlock, scenarios.Broken)),
	}
}
