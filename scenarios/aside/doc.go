// Package aside holds lock directories and pid files whose leftovers are renamed away, or
// removed as a whole tree: reports and reviews of 2025 and 2026.
// They are told as far as the reports tell.
//
// A rename is said to be winner-take-all: only one can move a given file. So it is; what
// it moves is whatever stands at the name, and that need not be what was judged.
package aside

import (
	"embed"
	"slices"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS

// Scenarios lists all systems.
func Scenarios() []scenarios.Scenario {
	return slices.Concat(agentsInABox(), altimateCode(), demarkus(), mstarHarness(), noodle(), primeAgent(),
		properLockfile2())
}

// directory is a lock directory: mkdir, and rmdir to release, or what release does. found is
// asked when it is there, and reports whether it is worth trying again at once.
func directory(lock string, made func(t *scenarios.Task) error, found func(t *scenarios.Task) bool,
	release func(t *scenarios.Task) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := t.Mkdir(lock, 0o777)
				if err == nil && made != nil {
					err = made(t)
				}
				if !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				if !found(t) {
					t.Sleep(kit.Poll)
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return release(t) },
	}
}

// removeTree removes a directory with one file in it.
func removeTree(t *scenarios.Task, dir, file string) error {
	_ = t.Unlink(dir + "/" + file)
	return t.Rmdir(dir)
}
