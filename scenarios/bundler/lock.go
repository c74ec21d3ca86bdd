// Package bundler holds Bundler's ProcessLock, lib/bundler/process_lock.rb in ruby/rubygems
// at 07d81161: one bundle install at a time, by flock(2) on a file that is removed after it
// was unlocked. No report is known.
package bundler

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/srv/bundle/bundler.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "bundler", Lock: lock, Report: "https://github.com/ruby/rubygems/blob/07d81161/lib/bundler/process_lock.rb", Source: source}
	ask := kit.Ask(protocol, func(t *scenarios.Task) int {
		text, _ := kit.ReadAll(t, lock)
		return kit.PidIn(text)
	})
	return sys.Scenarios(
		kit.Row{
			ID: "process-lock/contend", Does: "The file is removed after it was unlocked: somebody else may hold it by then.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "process-lock/ask", Does: "Whoever tries the lock empties the file that names the holder.",
			Lock: protocol, In: kit.In(kit.Roles(ask, scenarios.Once(protocol))), Claims: kit.Broken(scenarios.OwnerInfo),
		},
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return kit.Failed(err)
		}
		for retry := t.Retry(); retry.Next(); { // for 5 s in the original
			if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
				break
			}
			t.Sleep(kit.Poll)
		}
		_, err = f.WriteString(kit.Me(t))
		return scenarios.Hold{File: f}, err
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(lock))
	},
}
