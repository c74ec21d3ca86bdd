// Package rubygems holds Gem.open_file_with_lock, with which RubyGems installs an
// executable's script (https://github.com/ruby/rubygems/pull/7806). Users complained of
// the files left (https://github.com/ruby/rubygems/issues/7997), and the repair broke the
// lock. Which release has which variant is uncertain.
package rubygems

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

const lock = "/usr/local/bin/rake.lock"

// Scenarios lists the variants.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "rubygems", Lock: lock, Report: "https://github.com/ruby/rubygems/pull/7806", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "keep-file/contend", Does: "A kernel lock on a file that is never removed.",
			Lock: protocol(false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "cleanup-after-close/contend", Does: "The file is removed after it was closed: somebody else may hold it by then.",
			Report: "https://github.com/ruby/rubygems/issues/7997",
			Lock:   protocol(true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}

func protocol(cleanUp bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := kit.OpenFlock(t, lock, os.O_RDWR|os.O_APPEND, fsfake.LOCK_EX)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := h.File.Close()
			if cleanUp {
				err = errors.Join(err, t.Unlink(lock))
			}
			return err
		},
	}
}
