// Package libreport holds the lock of abrt/libreport's problem directories, dump_dir.c: a
// symbolic link whose target is the owner's pid.
//
// The race is reported in https://github.com/abrt/libreport/issues/345, with a crashed
// owner and two contenders. With three no crash is needed.
package libreport

import (
	_ "embed"
	"strconv"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/var/spool/abrt/problem/.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "libreport", Lock: lock, Report: "https://github.com/abrt/libreport/issues/345", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "unlink-dead/exits", Does: "The link of a process that has ended is unlinked: by then it may be another's.",
		Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			err := t.Symlink(strconv.Itoa(t.Getpid()), lock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			owner, err := t.Readlink(lock)
			if kit.Missing(err) {
				t.Sleep(kit.Poll)
				continue
			}
			pid := kit.PidIn(owner)
			if err != nil || pid == t.Getpid() || !kit.Gone(t, pid) { // asked of the entry in /proc
				return kit.Locked()
			}
			if err := t.Unlink(lock); err != nil && !kit.Missing(err) {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}
