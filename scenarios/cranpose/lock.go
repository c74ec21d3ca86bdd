// Package cranpose holds the build cache of samoylenkodmitry/Cranpose, with readers and one
// writer (https://github.com/samoylenkodmitry/Cranpose/pull/552). The readers may overlap
// for ever. The repair, a second lock that is taken in turn, holds only if the kernel hands
// it over in turn, which weak fairness does not promise.
package cranpose

import (
	_ "embed"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.cranpose/cache.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "cranpose", Lock: lock, Report: "https://github.com/samoylenkodmitry/Cranpose/pull/552", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "reader-stream/starve", Does: "Readers overlap so that the lock is never free, and the writer waits for ever.",
		In: kit.In(kit.Roles(read, read, scenarios.Once(writer))), Claims: kit.Broken(scenarios.Starvation),
	})
}

// read reads again and again. It is not recorded.
func read(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		f, err := kit.OpenFlock(t, lock, os.O_RDONLY, fsfake.LOCK_SH)
		if err != nil {
			return
		}
		t.Work()
		_ = f.Close()
	}
}

var writer = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX)
		return scenarios.Hold{File: f}, err
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}
