package kernelfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// hermit is the lock of cashapp/hermit (Go, util/flock): flock on a file with the owner's
// pid, which was removed on release. Who is refused and reads its own pid has it already,
// and its release does nothing. Whether the removal came first or last is uncertain. A
// comment in the code says that the pid read is never one's own unless one has the lock; no
// report of the row "twice" is known.
func hermit() []scenarios.Scenario {
	const source = "https://github.com/cashapp/hermit/blob/2155a089a77f3cd4112860198b0649380d407f66/util/flock/flock.go"
	const lock = "/home/user/.cache/hermit/.lock"
	sys := kit.System{Name: "hermit", Lock: lock, Source: kit.Text(files, "hermit.go"),
		Report: "https://github.com/cashapp/hermit/pull/423"}
	protocol := func(remove, empty bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
					if err == nil {
						err = f.Truncate(0)
						_, werr := f.WriteString(kit.Me(t))
						return scenarios.Hold{File: f}, errors.Join(err, werr)
					}
					if text, _ := kit.ReadAll(t, lock); kit.PidIn(text) == t.Getpid() {
						return scenarios.Hold{Shared: true}, nil
					}
					t.Sleep(kit.Poll)
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				if h.Shared {
					t.Work() // nothing is done; a release that is recorded is a step
					return nil
				}
				var err error
				if empty {
					err = h.File.Truncate(0)
				}
				err = errors.Join(err, h.File.Flock(fsfake.LOCK_UN), h.File.Close())
				if remove {
					err = errors.Join(err, t.Unlink(lock))
				}
				return err
			},
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "unlink-on-release/contend", Does: "The file is removed on release: who has it open locks what has no name.", Lock: protocol(true, false), In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
		kit.Row{ID: "keep-file/contend", Does: "The file stays.", Lock: protocol(false, false), In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{
			ID: "keep-file/twice", Does: "The text of one's own earlier hold is there until the next owner has written: it looks like one's own lock.",
			Lock: protocol(false, false), In: kit.In(kit.Twice(2)), Claims: kit.Broken(me), Report: source,
		},
		kit.Row{ID: "empty-on-release/twice", Does: "A release empties the file before it unlocks it.", Lock: protocol(false, true), In: kit.In(kit.Twice(2)), Claims: kit.Holds(me)},
	)
}
