package gofrsflock

import (
	_ "embed"
	"errors"
	"io"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/run/lock/app.lock"
	state = "/run/lock/state"
	home  = "https://github.com/gofrs/flock"
)

// Scenarios lists the variants, each in its situations.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "gofrs-flock", Lock: lock, Report: home, Source: source}
	guarded := sys
	guarded.Lock = state
	me, lost := scenarios.MutualExclusion, scenarios.LostUpdate
	return append(sys.Scenarios(
		kit.Row{
			ID: "unlink-after-unlock/contend", Does: "The file is removed after it was unlocked: somebody else may hold it by then.",
			Report: home + "/commit/d02ebee63a31c54f56f85f3599d6a746892513e8",
			Lock:   flock(true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "keep-file/contend", Does: "The file is never removed.",
			Report: home + "/commit/6d0fcb04d9ce3ac9499754c8d19bcb45b981b8c8",
			Lock:   flock(false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me),
		},
	), guarded.Scenarios(
		kit.Row{
			ID: "refused-upgrade/reader", Does: "A refused upgrade has dropped the shared lock, and the object believes that it has it.",
			In: kit.In(kit.Roles(refusedUpgrade, writeInPlace)), Claims: kit.Broken(scenarios.TornRead),
		},
		kit.Row{
			ID: "upgrade-no-reread/writers", Does: "What was read under the shared lock is written under the exclusive one.",
			Report: home + "/issues/15",
			In:     kit.In(kit.Run(2, upgrade(false))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "upgrade-reread/writers", Does: "The state is read again when the lock is exclusive.",
			Report: home + "/issues/15",
			In:     kit.In(kit.Run(2, upgrade(true))), Claims: kit.Holds(lost),
		},
	)...)
}

// flock opens the file and waits for an exclusive lock.
func flock(unlink bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX)
			if err != nil {
				return kit.Failed(err)
			}
			return kit.Held(f)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			if unlink {
				_ = t.Unlink(lock)
			}
			return err
		},
	}
}

// refusedUpgrade is RLock, TryLock by the same object, and one read of the file.
func refusedUpgrade(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, state, os.O_RDONLY, fsfake.LOCK_SH)
	if err != nil {
		return
	}
	if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil { // the shared flag stays set
		kit.Reads(t, func() string {
			text, _ := kit.ReadFrom(f)
			return text
		})
	}
	_ = f.Flock(fsfake.LOCK_UN)
	_ = f.Close()
}

// writeInPlace is RLock, then Lock by the same object, and two writes.
func writeInPlace(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, state, os.O_RDWR, fsfake.LOCK_SH)
	if err != nil {
		return
	}
	if f.Flock(fsfake.LOCK_EX) == nil {
		_ = kit.Writes(t, "ab", func() error {
			_, err1 := f.WriteString("a")
			_, err2 := f.WriteString("b")
			return errors.Join(err1, err2)
		})
	}
	_ = f.Flock(fsfake.LOCK_UN)
	_ = f.Close()
}

// upgrade adds a key under a lock that is shared while the state is read.
func upgrade(reread bool) func(scenarios.Protocol) scenarios.Program {
	update := func(t *scenarios.Task, key string) bool {
		f, err := kit.OpenFlock(t, state, os.O_RDWR, fsfake.LOCK_SH)
		if err != nil {
			return false
		}
		text, err := kit.ReadFrom(f)
		if err == nil {
			err = f.Flock(fsfake.LOCK_EX)
		}
		if err == nil && reread {
			buf := make([]byte, 64)
			var n int
			if n, err = f.ReadAt(buf, 0); errors.Is(err, io.EOF) {
				err = nil
			}
			text = string(buf[:n])
		}
		if err == nil {
			_, err = f.WriteAt([]byte(text+key+"\n"), 0)
		}
		return errors.Join(err, f.Flock(fsfake.LOCK_UN), f.Close()) == nil
	}
	find := func(t *scenarios.Task, key string) bool { return kit.HasLine(t, state, key) }
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, find) }
}
