// Package gitlockfile holds git's lockfile.c and tempfile.c: index.lock, config.lock and
// every ref. The new content is written to the lock file, and a rename publishes and
// releases at once. There is no rule for a lock that was left behind: that is deliberate.
//
// Source: https://github.com/git/git (lockfile.c, tempfile.c).
package gitlockfile

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

const (
	file = "/repo/.git/config"
	lock = file + ".lock"
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "git-lockfile", Lock: lock, State: file, Report: "https://github.com/git/git/blob/master/lockfile.c", Source: source}
	adds := func(scenarios.Protocol) scenarios.Program {
		return kit.Adds(add, func(t *scenarios.Task, key string) bool { return kit.HasLine(t, file, key) })
	}
	once := func(t *scenarios.Task) error {
		if _, ok := update(t, "probe"); !ok {
			return scenarios.ErrLocked
		}
		return nil
	}
	return sys.Scenarios(
		kit.Row{
			ID: "excl-rename/writers", Does: "The lock file is created, takes the new content, and is renamed; who finds one tries again.",
			In: kit.In(kit.Run(3, adds)), Claims: kit.Holds(scenarios.LostUpdate),
		},
		kit.Row{
			ID: "excl-rename/reader", Does: "A reader takes no part in the lock, and sees the old or the new content.",
			In: kit.In(kit.Roles(write, read)), Claims: kit.Holds(scenarios.TornRead),
		},
		kit.Row{
			ID: "excl-rename/crash", Does: "A writer is killed and leaves its lock, which nobody ever removes.",
			In: kit.In(kit.Run(2, adds), kit.Kill(1), kit.ProbeWith(once)), Claims: kit.Broken(scenarios.Wedge),
		},
	)
}

// update writes the file with one more line, if nobody else does.
func update(t *scenarios.Task, line string) (refused, ok bool) {
	f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return kit.Exists(err), false
	}
	text, err := kit.ReadAll(t, file)
	if err == nil || kit.Missing(err) {
		err = publish(t, f, text+line+"\n")
	}
	return false, err == nil
}

func publish(t *scenarios.Task, f *fsfake.File, text string) error {
	_, err := f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, t.Unlink(lock))
	}
	return t.Rename2(lock, file, 0)
}

// add is an update that is tried until the lock is free.
func add(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		refused, ok := update(t, key)
		if !refused {
			return ok
		}
		t.Sleep(kit.Poll)
	}
	panic("unreachable")
}

// write replaces the content twice.
func write(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error {
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return err
			}
			return publish(t, f, text)
		})
	}
}

func read(t *scenarios.Task) {
	kit.Reads(t, func() string {
		text, _ := kit.ReadAll(t, file)
		return text
	})
}
