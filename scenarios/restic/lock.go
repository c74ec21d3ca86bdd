// Package restic holds the exclusive lock of restic's repositories (internal/restic/lock.go
// at 0ce9f6b5): a file of one's own in a directory, and a look for others before and after.
// An acquisition never removes anything; `unlock` is a command of its own, and removes
// stale locks by their unique names.
//
// The repository is a local directory, where a listing is one step and a file appears
// complete, by a rename of a private one.
package restic

import (
	_ "embed"
	"fmt"
	"path"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	dir   = "/repo/locks"
	temp  = "/repo/tmp"
	stale = 30 * time.Minute
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "restic", Report: "https://github.com/restic/restic/blob/master/internal/restic/lock.go", Source: source}
	ready := kit.Prepared(prepare)
	watch := []string{own(scenarios.Pid(0)), own(scenarios.Pid(1)), own(scenarios.Pid(2))}
	dead := kit.Prepared(func(p *fsfake.Proc) error { return p.Rename(private(scenarios.DeadPid), own(scenarios.DeadPid)) })
	once := scenarios.Once(protocol)
	return sys.Scenarios(
		kit.Row{
			ID: "own-file/contend", Does: "Everybody has a file of his own, and looks for others before and after he has made it.",
			Lock: protocol, In: kit.In(ready, kit.Contend(3)), Claims: kit.Holds(me), Watch: watch,
		},
		kit.Row{
			ID: "own-file/pair", Does: "Each sees the other's file, and both give up: refused for nothing.",
			Lock: protocol, In: kit.In(ready, kit.Contend(2)), Claims: kit.Broken(scenarios.SpuriousFailure), Watch: watch[:2],
		},
		kit.Row{
			ID: "own-file/unlockers", Does: "Two lock while two others remove stale locks: a late remover hits nobody else's, as names are unique.",
			Lock: protocol, In: kit.In(ready, dead, kit.Roles(once, once, unlock, unlock)), Claims: kit.Holds(me),
			Watch: append(watch[:2:2], own(scenarios.DeadPid)),
		},
		kit.Row{
			ID: "own-file/crash", Does: "Whoever is killed leaves its file, and every attempt is refused until somebody runs unlock.",
			Lock: protocol, In: kit.In(ready, kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge), Watch: watch[:2],
		},
	)
}

func own(pid int) string     { return fmt.Sprintf("%s/%d", dir, pid) }
func private(pid int) string { return fmt.Sprintf("%s/%d", temp, pid) }

// prepare makes the directories, and everybody's complete private file.
func prepare(p *fsfake.Proc) error {
	for _, d := range []string{dir, temp} {
		if err := p.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	for _, pid := range []int{scenarios.DeadPid, scenarios.Pid(0), scenarios.Pid(1), scenarios.Pid(2), scenarios.ProbePid, scenarios.ProbePid + 1} {
		if err := p.WriteFile(private(pid), fmt.Appendln(nil, pid), 0o666); err != nil {
			return err
		}
	}
	return nil
}

var protocol = scenarios.Protocol{
	Path: dir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if others(t) {
			return kit.Locked()
		}
		if err := t.Rename2(private(t.Getpid()), own(t.Getpid()), 0); err != nil {
			return kit.Failed(err)
		}
		t.Sleep(200 * time.Millisecond)
		if others(t) {
			_ = t.Unlink(own(t.Getpid()))
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(own(t.Getpid())) },
}

// others reports whether anybody else has a lock.
func others(t *scenarios.Task) bool {
	names, err := t.ReadDir(dir)
	for _, name := range names {
		if name != path.Base(own(t.Getpid())) {
			return true
		}
	}
	return err != nil
}

// unlock removes the locks of dead processes, and old ones.
func unlock(t *scenarios.Task) {
	names, _ := t.ReadDir(dir)
	for _, name := range names {
		file := path.Join(dir, name)
		text, err := kit.ReadAll(t, file)
		if err != nil {
			continue
		}
		if kit.Gone(t, kit.PidIn(text)) {
			_ = t.Unlink(file)
			continue
		}
		if info, err := t.Stat(file); err == nil && kit.Older(t, info, stale) {
			_ = t.Unlink(file)
		}
	}
}
