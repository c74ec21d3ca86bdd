// Package gunicorn holds the pid file of gunicorn (Python), gunicorn/pidfile.py
// (https://github.com/benoitc/gunicorn/issues/3383): a look, and then a rename over
// whatever is there. In practice the port decides.
package gunicorn

import (
	_ "embed"
	"fmt"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/run/gunicorn.pid"

// The stale file's owner, and an unrelated process that has its pid today.
const (
	oldStart = 500
	newStart = 900
)

// Scenarios lists the file, and a proposed repair.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "gunicorn", Lock: lock, Report: "https://github.com/benoitc/gunicorn/issues/3383", Source: source}
	recycled := func(l scenarios.Protocol) []kit.Situation {
		return kit.In(kit.Contend(1), kit.DeadOwner(fmt.Sprintf("%d\n%d\n", scenarios.DeadPid, oldStart)), kit.Running(scenarios.DeadPid, newStart), kit.Probe)
	}
	plain, token := protocol(false), protocol(true)
	return sys.Scenarios(
		kit.Row{
			ID: "check-then-rename/contend", Does: "A look at the file, and a rename over whatever is there by then.",
			Lock: plain, In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "check-then-rename/recycled-pid", Does: "The pid of a stale file is an unrelated process's today: every start fails.",
			Lock: plain, In: recycled(plain), Claims: kit.Broken(scenarios.Wedge),
		},
		kit.Row{
			ID: "start-token/recycled-pid", Does: "The file tells the owner's start time too, and a living process with another one is not the owner.",
			Lock: token, In: recycled(token), Claims: kit.Holds(scenarios.Wedge),
		},
	)
}

func protocol(token bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			text, err := kit.ReadAll(t, lock)
			if err == nil && alive(t, text, token) {
				return kit.Locked()
			}
			mine := kit.Me(t)
			if token {
				start, err := t.StartTime(t.Getpid())
				if err != nil {
					return kit.Failed(err)
				}
				mine += fmt.Sprintf("%d\n", start)
			}
			private, err := kit.Private(t, lock, mine)
			if err != nil {
				return kit.Failed(err)
			}
			if err := t.Rename2(private, lock, 0); err != nil {
				return kit.Failed(err)
			}
			return scenarios.Hold{}, t.Chmod(lock, 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			text, err := kit.ReadAll(t, lock)
			if err != nil || kit.PidIn(text) != t.Getpid() {
				return err
			}
			return t.Unlink(lock)
		},
	}
}

// alive reports whether the owner in a text runs.
func alive(t *scenarios.Task, text string, token bool) bool {
	var pid int
	var start int64
	_, _ = fmt.Sscan(text, &pid, &start)
	if pid == 0 || kit.Gone(t, pid) {
		return false
	}
	if !token {
		return true
	}
	now, err := t.StartTime(pid)
	return err == nil && now == start
}
