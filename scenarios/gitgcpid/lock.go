// Package gitgcpid holds the lock of git gc, builtin/gc.c: gc.pid tells who collects, and
// is replaced under gc.pid.lock, which is created or refused.
//
// Source: https://github.com/git/git (builtin/gc.c).
package gitgcpid

import (
	_ "embed"
	"errors"
	"os"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	pidFile = "/repo/.git/gc.pid"
	guard   = pidFile + ".lock"
	old     = 12 * time.Hour
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "git-gc-pid", Lock: pidFile, Report: "https://github.com/git/git/blob/master/builtin/gc.c", Source: source}
	exit := func(t *scenarios.Task) { _ = t.Unlink(pidFile) }
	watch := []string{guard}
	return sys.Scenarios(
		kit.Row{
			ID: "guard-rejudge-replace/dead-owner", Does: "Whoever may collect is judged under a guard, and replaces the file without ever leaving its name free.",
			Lock: protocol, In: kit.In(kit.Contend(3), kit.DeadOwner(kit.Dead)), Claims: kit.Holds(scenarios.MutualExclusion), Watch: watch,
		},
		kit.Row{
			ID: "guard-rejudge-replace/crash", Does: "Whoever judges is killed and leaves the guard, which nobody ever removes.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge), Watch: watch,
		},
		kit.Row{
			ID: "guard-rejudge-replace/late-exit", Does: "A collection that has run for more than 12 hours ends: it removes its successor's file.",
			Lock: protocol, In: kit.In(kit.Roles(kit.Late(exit), scenarios.Once(protocol)), kit.DeadOwner("101\n")),
			Claims: kit.Broken(scenarios.ForeignRelease), Watch: watch,
		},
	)
}

var protocol = scenarios.Protocol{
	Path: pidFile,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		g, err := t.OpenFile(guard, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return kit.Failed(err)
		}
		busy, err := collects(t)
		if busy || err != nil {
			return kit.Failed(errors.Join(scenarios.ErrLocked, err, g.Close(), t.Unlink(guard)))
		}
		_, err = g.WriteString(kit.Me(t))
		if err = errors.Join(err, g.Close()); err != nil {
			return kit.Failed(err)
		}
		return scenarios.Hold{}, t.Rename2(guard, pidFile, 0)
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(pidFile) },
}

// collects reports whether the owner on record lives and its file is not too old.
func collects(t *scenarios.Task) (bool, error) {
	f, err := t.Open(pidFile)
	if kit.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil || kit.Older(t, info, old) {
		return false, errors.Join(err, f.Close())
	}
	text, err := kit.ReadFrom(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	pid := kit.PidIn(text)
	return pid != 0 && !kit.Gone(t, pid), nil // what cannot be parsed is nobody's
}
