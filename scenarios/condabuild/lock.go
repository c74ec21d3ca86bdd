// Package condabuild holds how conda-build locks several directories at once
// (https://github.com/conda/conda-build/issues/1524): one after the other, and all or none
// (https://github.com/conda/conda-build/pull/1540). Its locks have timeouts; here waiting
// is blocking.
package condabuild

import (
	_ "embed"
	"errors"
	"os"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	first  = "/conda/pkgs/.lock"
	second = "/conda/bld/.lock"
)

// Scenarios lists the two ways.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "conda-build", Lock: first, Report: "https://github.com/conda/conda-build/issues/1524", Source: source}
	both := func(l func(names ...string) scenarios.Protocol) []kit.Situation {
		return kit.In(kit.Roles(scenarios.Once(l(first, second)), scenarios.Once(l(second, first))))
	}
	other := []string{second}
	return sys.Scenarios(
		kit.Row{
			ID: "each-blocking/contend", Does: "Two processes take two locks in two orders.",
			In: both(eachBlocking), Claims: kit.Broken(scenarios.Deadlock), Watch: other,
		},
		kit.Row{
			ID: "in-one-order/contend", Does: "Both take them in one order.",
			In:     kit.In(kit.Roles(scenarios.Once(eachBlocking(first, second)), scenarios.Once(eachBlocking(first, second)))),
			Claims: kit.Holds(scenarios.Deadlock), Watch: other,
		},
		kit.Row{
			ID: "all-or-release/starve", Does: "Who is refused a further lock releases all and starts over: no deadlock, and no end either.",
			Report: "https://github.com/conda/conda-build/pull/1540",
			In:     both(allOrRelease),
			Claims: append(kit.Broken(scenarios.Starvation), kit.Holds(scenarios.Deadlock)...), Watch: other,
		},
	)
}

func locking(acquire func(t *scenarios.Task) []*fsfake.File) scenarios.Protocol {
	return scenarios.Protocol{
		Path: first,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			files := acquire(t)
			return scenarios.Hold{File: files[0], Data: files}, nil
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return closeAll(h.Data.([]*fsfake.File)) },
	}
}

func closeAll(files []*fsfake.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func eachBlocking(names ...string) scenarios.Protocol {
	return locking(func(t *scenarios.Task) []*fsfake.File {
		var files []*fsfake.File
		for _, name := range names {
			f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
			if err == nil {
				files = append(files, f)
			}
		}
		return files
	})
}

func allOrRelease(names ...string) scenarios.Protocol {
	return locking(func(t *scenarios.Task) []*fsfake.File {
		for retry := t.Retry(); retry.Next(); {
			var files []*fsfake.File
			for i, name := range names {
				how := fsfake.LOCK_EX
				if i > 0 {
					how |= fsfake.LOCK_NB
				}
				if f, err := kit.OpenFlock(t, name, os.O_RDWR, how); err == nil {
					files = append(files, f)
				} else {
					break
				}
			}
			if len(files) == len(names) {
				return files
			}
			for _, f := range slices.Backward(files) {
				_ = f.Close()
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	})
}
