package reclaim

import (
	"io/fs"
	"strconv"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// mulmoclaude is the lock of receptron/mulmoclaude's calendar (TypeScript): a file that says when it
// was made is somebody's for ten seconds. The hosts that share the directory have clocks of their
// own. borgbackup/borg#10077 reports the same of borg 2's locks.
func mulmoclaude() []scenarios.Scenario {
	const (
		lock = "/workspace/calendar.lock"
		ttl  = 10 * time.Second
	)
	sys := kit.System{Name: "mulmoclaude", Lock: lock, Source: kit.Text(files, "mulmoclaude.go"),
		Report: "https://github.com/receptron/mulmoclaude/pull/2690"}
	written := func(t *scenarios.Task) time.Duration {
		text, err := kit.ReadAll(t, lock)
		at, bad := strconv.ParseInt(text, 10, 64)
		if err != nil || bad != nil {
			return 0
		}
		return t.Now().Sub(time.UnixMilli(at))
	}
	stamped := func(t *scenarios.Task, now func() time.Time) time.Duration {
		info, err := t.Stat(lock)
		if err != nil {
			return 0
		}
		return now().Sub(info.ModTime())
	}
	byReader := func(t *scenarios.Task) time.Duration { return stamped(t, t.Now) }
	byDisk := func(t *scenarios.Task) time.Duration {
		return stamped(t, func() (now time.Time) {
			mine, err := kit.Private(t, lock, "")
			var info fs.FileInfo
			if err == nil {
				if info, err = t.Stat(mine); err == nil {
					now, err = info.ModTime(), t.Unlink(mine)
				}
			}
			if err != nil {
				t.Fault(err)
			}
			return now
		})
	}
	row := func(id, does string, age func(*scenarios.Task) time.Duration, a, b time.Duration, claims []scenarios.Claim) kit.Row {
		l := scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				at := strconv.FormatInt(t.Now().UnixMilli(), 10)
				err := kit.Create(t, lock, at)
				if kit.Exists(err) && age(t) > ttl {
					_ = t.Unlink(lock)
					err = kit.Create(t, lock, at)
				}
				if err != nil {
					return kit.Locked()
				}
				return scenarios.Hold{}, nil
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
		return kit.Row{ID: id, Does: does, Lock: l, In: kit.In(kit.Contend(2), kit.Skew(a, b)), Claims: claims}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		row("written-time/owner-behind", "The time in the file is the owner's, the clock that it is compared with the reader's: the lock of an owner whose clock is behind looks old.", written, -time.Minute, 0, kit.Broken(me)),
		row("file-time/owner-behind", "The age is taken from the file's time, which the disk stamps.", byReader, -time.Minute, 0, kit.Holds(me)),
		row("file-time/reader-ahead", "It is still compared with the reader's clock.", byReader, 0, time.Minute, kit.Broken(me)),
		row("file-clock/reader-ahead", "The reader makes a file of its own: what the disk stamps there is the time that the lock's is compared with.", byDisk, 0, time.Minute, kit.Holds(me)),
	)
}
