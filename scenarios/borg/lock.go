// Package borg holds the lock of borgbackup/borg 2, storelocking.py: one object for each
// lock, here a file with a unique name in a directory, exclusive or shared.
//
// That an attempt that times out leaves its own object is reported in
// https://github.com/borgbackup/borg/issues/9869 and repaired in #9871.
package borg

import (
	_ "embed"
	"path"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	dir       = "/store/locks"
	exclusive = "x"
	shared    = "s"
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "borg", Report: "https://github.com/borgbackup/borg/blob/master/src/borg/storelocking.py", Source: source}
	ready := kit.Prepared(func(p *fsfake.Proc) error { return p.MkdirAll(dir, 0o777) })
	timeout := kit.In(ready, kit.Roles(scenarios.Once(timesOut), scenarios.Once(reader(true)), scenarios.Once(reader(false))), kit.Daemons)
	return sys.Scenarios(
		kit.Row{
			ID: "candidate-recheck/contend", Does: "An exclusive lock is announced first, and withdrawn when another is seen.",
			Lock: exclusively, In: kit.In(ready, kit.Contend(3)), Claims: kit.Holds(scenarios.MutualExclusion), Watch: []string{dir + "/x101", dir + "/x102", dir + "/x103"},
		},
		kit.Row{
			ID: "candidate-kept/timeout", Does: "An attempt that times out leaves its own object, which refuses others when nobody holds.",
			Report: "https://github.com/borgbackup/borg/issues/9869",
			In:     timeout, Claims: kit.Broken(scenarios.SpuriousFailure), Watch: []string{dir + "/x101", dir + "/s102"},
		},
	)
}

// names lists the objects: those of exclusive locks begin with x, others with s.
func names(t *scenarios.Task) []string {
	list, _ := t.ReadDir(dir)
	return list
}

// other reports whether there is an object of a kind but one's own; "" is any kind.
func other(list []string, kind, own string) bool {
	for _, name := range list {
		if strings.HasPrefix(name, kind) && path.Join(dir, name) != own {
			return true
		}
	}
	return false
}

func ownName(t *scenarios.Task, kind string) string {
	return dir + "/" + kind + strings.TrimSpace(kit.Me(t))
}

var exclusively = scenarios.Protocol{
	Path: dir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		own := ownName(t, exclusive)
		for retry := t.Retry(); retry.Next(); {
			if other(names(t), exclusive, own) {
				t.Sleep(time.Second)
				continue
			}
			if err := kit.Create(t, own, ""); err != nil {
				return kit.Failed(err)
			}
			t.Sleep(10 * time.Millisecond)
			if !other(names(t), exclusive, own) {
				break
			}
			_ = t.Unlink(own)
			t.Sleep(time.Second)
		}
		for retry := t.Retry(); retry.Next(); { // until the shared ones are gone
			if !other(names(t), "", own) {
				break
			}
			t.Sleep(time.Second)
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		_ = names(t)
		return t.Unlink(ownName(t, exclusive))
	},
}

// timesOut is an exclusive attempt that does not wait for shared locks, and leaves its
// own object then.
var timesOut = scenarios.Protocol{
	Path: dir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		own := ownName(t, exclusive)
		if other(names(t), exclusive, own) {
			return kit.Locked()
		}
		if err := kit.Create(t, own, ""); err != nil {
			return kit.Failed(err)
		}
		if other(names(t), "", own) {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: exclusively.Release,
}

// reader takes a shared lock. One that is patient waits while there is an exclusive one.
func reader(patient bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: dir,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			own := ownName(t, shared)
			for retry := t.Retry(); retry.Next(); {
				if !other(names(t), exclusive, own) {
					if err := kit.Create(t, own, ""); err != nil || !other(names(t), exclusive, own) {
						return scenarios.Hold{}, err
					}
					_ = t.Unlink(own)
				}
				if !patient {
					break
				}
				t.Sleep(time.Second)
			}
			return kit.Locked()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(ownName(t, shared)) },
	}
}
