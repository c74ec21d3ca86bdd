package flockfile

import (
	"errors"
	"io"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// cranpose has the build cache of samoylenkodmitry/Cranpose, with readers and one writer
// (https://github.com/samoylenkodmitry/Cranpose/pull/552). The readers may overlap for ever. The fix, a
// second lock that is taken in turn, holds only if the kernel hands it over in turn, which weak fairness does
// not promise.
func cranpose() []scenarios.Scenario {
	sys := kit.System{Name: "cranpose", Lock: cranposeLock,
		Report: "https://github.com/samoylenkodmitry/Cranpose/pull/552", Source: kit.Part(files, "cranpose")}
	return sys.Scenarios(kit.Row{ID: "reader-stream/starve",
		Does:   "Readers overlap so that the lock is never free, and the writer waits for ever.",
		In:     kit.In(kit.Roles(cranposeRead, cranposeRead, scenarios.Once(cranposeWriter))),
		Claims: kit.Broken(scenarios.Starvation)})
}

const cranposeLock = "/home/user/.cranpose/cache.lock"

// cranposeRead reads again and again. It is not recorded.
func cranposeRead(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		f, err := kit.OpenFlock(t, cranposeLock, os.O_RDONLY, fsfake.LOCK_SH)
		if err != nil {
			return
		}
		t.Work()
		_ = f.Close()
	}
}

var cranposeWriter = scenarios.Protocol{
	Path: cranposeLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := kit.OpenFlock(t, cranposeLock, os.O_RDWR, fsfake.LOCK_EX)
		return scenarios.Hold{File: f}, err
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}

// gofrs has the lock of gofrs/flock, the usual Go wrapper of flock(2).
//
// The first version removed the file after it had unlocked it
// (https://github.com/gofrs/flock/commit/d02ebee63a31c54f56f85f3599d6a746892513e8); the file stays since
// https://github.com/gofrs/flock/commit/6d0fcb04d9ce3ac9499754c8d19bcb45b981b8c8. What is left is the kernel's:
// a conversion drops the lock before it takes the other (https://github.com/gofrs/flock/issues/15), also when
// it is refused then.
func gofrs() []scenarios.Scenario {
	sys := kit.System{Name: "gofrs-flock", Lock: gofrsLock, Report: gofrsHome, Source: kit.Part(files, "gofrs")}
	guarded := sys
	guarded.Lock = gofrsState
	me, lost := scenarios.MutualExclusion, scenarios.LostUpdate
	return append(sys.Scenarios(
		kit.Row{ID: "unlink-after-unlock/contend",
			Does:   "The file is removed after it was unlocked: somebody else may hold it by then.",
			Report: gofrsHome + "/commit/d02ebee63a31c54f56f85f3599d6a746892513e8", Lock: gofrsFlock(true),
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(me)},
		kit.Row{ID: "keep-file/contend", Does: "The file is never removed.",
			Report: gofrsHome + "/commit/6d0fcb04d9ce3ac9499754c8d19bcb45b981b8c8", Lock: gofrsFlock(false),
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
	), guarded.Scenarios(
		kit.Row{ID: "refused-upgrade/reader",
			Does: "A refused upgrade has dropped the shared lock, and the object believes that it has it.",
			In:   kit.In(kit.Roles(gofrsRefusedUpgrade, gofrsWriteInPlace)), Claims: kit.Broken(scenarios.TornRead)},
		kit.Row{ID: "upgrade-no-reread/writers",
			Does:   "What was read under the shared lock is written under the exclusive one.",
			Report: gofrsHome + "/issues/15", In: kit.In(kit.Run(2, gofrsUpgrade(false))), Claims: kit.Broken(lost)},
		kit.Row{ID: "upgrade-reread/writers", Does: "The state is read again when the lock is exclusive.",
			Report: gofrsHome + "/issues/15", In: kit.In(kit.Run(2, gofrsUpgrade(true))), Claims: kit.Holds(lost)},
	)...)
}

const (
	gofrsLock  = "/run/lock/app.lock"
	gofrsState = "/run/lock/state"
	gofrsHome  = "https://github.com/gofrs/flock"
)

// gofrsFlock opens the file and waits for an exclusive lock.
func gofrsFlock(unlink bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: gofrsLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := kit.OpenFlock(t, gofrsLock, os.O_RDWR, fsfake.LOCK_EX)
			if err != nil {
				return kit.Failed(err)
			}
			return kit.Held(f)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			if unlink {
				_ = t.Unlink(gofrsLock)
			}
			return err
		},
	}
}

// gofrsRefusedUpgrade is RLock, TryLock by the same object, and one read of the file.
func gofrsRefusedUpgrade(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, gofrsState, os.O_RDONLY, fsfake.LOCK_SH)
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

// gofrsWriteInPlace is RLock, then Lock by the same object, and two writes.
func gofrsWriteInPlace(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, gofrsState, os.O_RDWR, fsfake.LOCK_SH)
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

// gofrsUpgrade adds a key under a lock that is shared while the state is read.
func gofrsUpgrade(reread bool) func(scenarios.Protocol) scenarios.Program {
	update := func(t *scenarios.Task, key string) bool {
		f, err := kit.OpenFlock(t, gofrsState, os.O_RDWR, fsfake.LOCK_SH)
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
	find := func(t *scenarios.Task, key string) bool { return kit.HasLine(t, gofrsState, key) }
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, find) }
}

// lockedfile has cmd/go/internal/lockedfile, published as rogpeppe/go-internal/lockedfile: Go's module cache.
// The file is the data itself, opened, then locked with flock(2), and then truncated; it is never removed.
func lockedfile() []scenarios.Scenario {
	sys := kit.System{Name: "lockedfile", State: lockedfileFile,
		Report: "https://github.com/rogpeppe/go-internal/tree/master/lockedfile",
		Source: kit.Part(files, "lockedfile")}
	return sys.Scenarios(
		kit.Row{ID: "truncate-after-lock/reader",
			Does: "The file is truncated only when it is locked, and readers lock it too.",
			In:   kit.In(kit.Roles(lockedfileWrite, lockedfileRead)), Claims: kit.Holds(scenarios.TornRead)},
		kit.Row{ID: "transform/writers",
			Does: "The new content is written in place, its tail first, under one lock with the read.",
			In:   kit.In(kit.Run(3, lockedfileAdds)), Claims: kit.Holds(scenarios.LostUpdate)},
		kit.Row{ID: "transform/crash",
			Does: "A writer is killed between the tail and the head: the kernel drops the lock, and the mixture " +
				"stays.", In: kit.In(kit.Roles(lockedfileRewrite, lockedfileRead), kit.Kill(1), kit.Mortal(0)),
			Claims: kit.Broken(scenarios.TornRead)},
	)
}

const lockedfileFile = "/go/pkg/mod/cache/list"

// lockedfileOpen is OpenFile: exclusive for writing, shared for reading.
func lockedfileOpen(t *scenarios.Task, flags int) (*fsfake.File, error) {
	how := fsfake.LOCK_EX
	if flags&(os.O_WRONLY|os.O_RDWR) == 0 {
		how = fsfake.LOCK_SH
	}
	f, err := t.OpenFile(lockedfileFile, flags&^os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Flock(how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if flags&os.O_TRUNC != 0 {
		return f, f.Truncate(0)
	}
	return f, nil
}

func lockedfileCloseFile(f *fsfake.File) error {
	return errors.Join(f.Flock(fsfake.LOCK_UN), f.Close())
}

// lockedfileWrite replaces the content twice.
func lockedfileWrite(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error {
			f, err := lockedfileOpen(t, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			return errors.Join(err, lockedfileCloseFile(f))
		})
	}
}

func lockedfileRead(t *scenarios.Task) {
	kit.Reads(t, func() string {
		f, err := lockedfileOpen(t, os.O_RDONLY)
		if err != nil {
			return ""
		}
		text, _ := kit.ReadFrom(f)
		_ = lockedfileCloseFile(f)
		return text
	})
}

// lockedfileTransform replaces the content by a function of it.
func lockedfileTransform(t *scenarios.Task, f func(old string) string) error {
	file, err := lockedfileOpen(t, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	old, err := kit.ReadFrom(file)
	if err != nil {
		return errors.Join(err, lockedfileCloseFile(file))
	}
	text := f(old)
	n := min(len(old), len(text))
	if len(text) > n { // the tail first, so that a full disk is noticed before anything is lost
		_, err = file.WriteAt([]byte(text[n:]), int64(n))
	}
	if err == nil && n > 0 {
		_, err = file.WriteAt([]byte(text[:n]), 0)
	}
	if err == nil && len(text) < len(old) {
		err = file.Truncate(int64(len(text)))
	}
	return errors.Join(err, lockedfileCloseFile(file))
}

func lockedfileAdds(scenarios.Protocol) scenarios.Program {
	return kit.Adds(
		func(t *scenarios.Task, key string) bool {
			return lockedfileTransform(t, func(old string) string { return old + key + "\n" }) == nil
		},
		func(t *scenarios.Task, key string) bool { return kit.HasLine(t, lockedfileFile, key) })
}

// lockedfileRewrite writes "x", and then "yz".
func lockedfileRewrite(t *scenarios.Task) {
	for _, text := range []string{"x", "yz"} {
		_ = kit.Writes(t, text, func() error { return lockedfileTransform(t, func(string) string { return text }) })
	}
}
