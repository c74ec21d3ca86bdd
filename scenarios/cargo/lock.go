// Package cargo holds a mix of versions of cargo, src/cargo/util/flock.rs: a new one locks
// .cargo-build-lock in the build directory, an old one, or an old cargo library, locks
// .cargo-lock (https://github.com/rust-lang/cargo/issues/16853).
package cargo

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

const (
	older = "/src/target/.cargo-lock"
	newer = "/src/target/.cargo-build-lock"
)

// Scenarios lists the situations of the locks.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "cargo", Lock: older, Report: "https://github.com/rust-lang/cargo/issues/16853", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "two-names/contend", Does: "Two versions lock two names: no timing is needed.",
			In:     kit.In(kit.Roles(scenarios.Once(locking(older)), scenarios.Once(locking(newer)))),
			Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{newer},
		},
		kit.Row{
			ID: "both-names/contend", Does: "The new version locks both names, the old one first.",
			In:     kit.In(kit.Roles(scenarios.Once(locking(older)), scenarios.Once(locking(older, newer)), scenarios.Once(locking(older, newer)))),
			Claims: kit.Holds(scenarios.MutualExclusion), Watch: []string{newer},
		},
	)
}

// locking takes the locks of several names, in order. What is protected is one build
// directory, so the lock has one name in histories.
func locking(names ...string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: older,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			var files []*fsfake.File
			for _, name := range names {
				f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
				if err != nil {
					return kit.Failed(err)
				}
				files = append(files, f)
			}
			return scenarios.Hold{File: files[0], Path: names[0], Data: files}, nil
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error {
			var errs []error
			for _, f := range h.Data.([]*fsfake.File) {
				errs = append(errs, f.Flock(fsfake.LOCK_UN), f.Close())
			}
			return errors.Join(errs...)
		},
	}
}
