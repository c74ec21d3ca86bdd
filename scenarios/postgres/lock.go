// Package postgres holds PostgreSQL's postmaster.pid, CreateLockFile in
// src/backend/utils/init/miscinit.c. The real server has further barriers, a shared memory
// segment and a port; judged here is the file alone.
package postgres

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

const lock = "/var/lib/postgresql/postmaster.pid"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{
		Name: "postgres", Lock: lock, Source: source,
		Report: "https://github.com/postgres/postgres/blob/master/src/backend/utils/init/miscinit.c",
	}
	return sys.Scenarios(
		kit.Row{
			ID: "postmaster-pid/daemons", Does: "The file is created, and then filled; an empty one is fatal. Nobody ever ends.",
			Lock: protocol, In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "postmaster-pid/dead-owner", Does: "The file of a dead server is unlinked and made anew: another contender removes the new one.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "postmaster-pid/exits", Does: "Servers end in an orderly way: the owner that was read may have ended, and the file be another's.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "postmaster-pid/crash", Does: "A server is killed before it has filled its file, which is fatal for every later start.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge),
		},
	)
}

var errFatal = errors.New("postgres: a server may be running")

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); { // 100 rounds in the original
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				return scenarios.Hold{}, fill(t, f)
			}
			if !kit.Exists(err) {
				return kit.Failed(err)
			}
			text, err := kit.ReadAll(t, lock)
			if kit.Missing(err) {
				continue
			}
			pid := kit.PidIn(text)
			if err != nil || pid == 0 || pid != t.Getpid() && !kit.Gone(t, pid) {
				return kit.Failed(errors.Join(errFatal, err))
			}
			if err := t.Unlink(lock); err != nil {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

func fill(t *scenarios.Task, f *fsfake.File) error {
	_, err := f.WriteString(kit.Me(t))
	return errors.Join(err, f.Sync(), f.Close())
}
