// Package emacs holds the lock of GNU Emacs, src/filelock.c: a symbolic link whose target
// is "user@host.pid:boot", so that creation and content are one call.
package emacs

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock = "/home/user/.#notes.txt"
	me   = "user@host."
	boot = ":1767225600"
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "emacs", Lock: lock, Report: "https://github.com/emacs-mirror/emacs/blob/master/src/filelock.c", Source: source}
	dead := fmt.Sprint(me, scenarios.DeadPid, boot)
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-dead/dead-owner", Does: "The link of a dead process is unlinked and made anew: another contender removes the new one.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadSymlink(dead)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "unlink-dead/daemons", Does: "The same without a dead process's link, and nobody ever ends.",
			Lock: protocol, In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(scenarios.MutualExclusion),
		},
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			err := t.Symlink(fmt.Sprint(me, t.Getpid(), boot), lock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			owner, err := t.Readlink(lock)
			switch pid := ownerIn(owner); {
			case kit.Missing(err):
				continue
			case err != nil:
				return kit.Failed(err)
			case pid == t.Getpid():
				return scenarios.Hold{}, nil
			case pid == 0 || !kit.Gone(t, pid): // another host's, or alive
				return kit.Locked()
			}
			if err := t.Unlink(lock); err != nil {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		if owner, err := t.Readlink(lock); err != nil || ownerIn(owner) != t.Getpid() {
			return err
		}
		return t.Unlink(lock)
	},
}

// ownerIn is the pid in a target of this host and this boot; 0 for any other.
func ownerIn(target string) int {
	text, ok1 := strings.CutPrefix(target, me)
	text, ok2 := strings.CutSuffix(text, boot)
	pid, _ := strconv.Atoi(text)
	if !ok1 || !ok2 {
		return 0
	}
	return pid
}
