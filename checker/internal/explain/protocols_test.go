package explain_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The broken protocols of the shapes, each as short as it can be.

type (
	task  = scenarios.Task
	hold  = scenarios.Hold
	proto = scenarios.Protocol
)

// create makes the lock file with an open; look, when there is one, says that it is taken.
func create(look func(*task) bool, flags int) proto {
	return proto{
		Path: lock,
		Acquire: func(t *task) (hold, error) {
			if look != nil && look(t) {
				return kit.Locked()
			}
			f, err := t.OpenFile(lock, flags|os.O_WRONLY, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			return hold{}, f.Close()
		},
		Release: func(t *task, _ hold) error { return t.Unlink(lock) },
	}
}

func seen(t *task) bool {
	_, err := t.Stat(lock)
	return err == nil
}

// breaking takes the lock with take; when that is refused and the lock is stale, it is
// broken, and taken once more. The release removes it in the same way.
func breaking(stale func(*task) bool, take, remove func(*task) error) proto {
	return proto{
		Path: lock,
		Acquire: func(t *task) (hold, error) {
			err := take(t)
			if err != nil && stale(t) {
				if err = remove(t); err == nil {
					err = take(t)
				}
			}
			return hold{}, err
		},
		Release: func(t *task, _ hold) error { return remove(t) },
	}
}

func makeFile(t *task) error    { return kit.Create(t, lock, kit.Me(t)) }
func makeSymlink(t *task) error { return t.Symlink(strings.TrimSpace(kit.Me(t)), lock) }
func makeDir(t *task) error     { return t.Mkdir(lock, 0o777) }
func unlink(t *task) error      { return t.Unlink(lock) }
func rmdir(t *task) error       { return t.Rmdir(lock) }
func nothing(t *task) error     { t.Work(); return nil }
func never(*task) bool          { return false }

func linkFile(t *task) error {
	private, err := kit.Private(t, lock, kit.Me(t))
	if err != nil {
		return err
	}
	return errors.Join(t.Link(private, lock), t.Unlink(private))
}

func renameFile(t *task) error {
	private, err := kit.Private(t, lock, kit.Me(t))
	if err != nil {
		return err
	}
	return t.Rename(private, lock)
}

func makeLease(t *task) error {
	return kit.Create(t, lock, fmt.Sprint(t.Now().Add(time.Minute).UnixMilli()))
}

func aside(t *task) error {
	private := fmt.Sprintf("%s.%d", lock, t.Getpid())
	if err := t.Rename(lock, private); err != nil {
		return err
	}
	return t.Unlink(private)
}

func readPid(t *task) bool {
	text, err := kit.ReadAll(t, lock)
	pid := kit.PidIn(text)
	return err == nil && pid > 0 && kit.Gone(t, pid)
}

func readSymlink(t *task) bool {
	text, err := t.Readlink(lock)
	return err == nil && kit.Gone(t, kit.PidIn(text))
}

func empty(t *task) bool {
	text, err := kit.ReadAll(t, lock)
	return err == nil && text == ""
}

func old(t *task) bool { return olderThan(time.Hour)(t) }

func olderThan(d time.Duration) func(*task) bool {
	return func(t *task) bool {
		info, err := t.Stat(lock)
		return err == nil && kit.Older(t, info, d)
	}
}

func expired(t *task) bool {
	text, err := kit.ReadAll(t, lock)
	var until int64
	_, _ = fmt.Sscan(text, &until)
	return err == nil && until > 0 && t.Now().UnixMilli() > until
}

// kernel takes a kernel lock on the file and keeps it open.
func kernel(take func(*fsfake.File) error) proto {
	return proto{
		Path: lock,
		Acquire: func(t *task) (hold, error) {
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			if err := take(f); err != nil {
				return hold{}, errors.Join(scenarios.ErrLocked, f.Close())
			}
			return kit.Held(f)
		},
		Release: func(_ *task, h hold) error { return h.File.Close() },
	}
}

func tryFlock(f *fsfake.File) error { return f.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB) }

func recordLock(f *fsfake.File) error {
	return f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false)
}

var waiting = kernel(func(f *fsfake.File) error { return f.Flock(fsfake.LOCK_EX) })

func kernelOnce(t *task) { scenarios.Once(kernel(tryFlock))(t) }

// flocked removes the file when it is released.
func flocked(release func(t *task, h hold) error) proto {
	p := waiting
	p.Release = release
	return p
}

func unlinkFirst(t *task, h hold) error { return errors.Join(t.Unlink(lock), h.File.Close()) }
func unlinkLast(t *task, h hold) error  { return errors.Join(h.File.Close(), t.Unlink(lock)) }

// second gives every process's second task a program.
func second(program scenarios.Program) kit.Situation {
	return func(sc *scenarios.Scenario, _ proto) {
		first := sc.Program
		sc.Program = func(process, task int) scenarios.Program {
			if task == 2 {
				return program
			}
			return first(process, task)
		}
	}
}

// probing looks whether the lock is taken by taking it.
func probing(t *task) {
	l := kernel(tryFlock)
	if h, err := l.Acquire(t); err == nil {
		_ = l.Release(t, h)
	}
}

// triesBoth needs a second lock besides, and gives up when it does not get that.
func triesBoth(t *task) {
	l := kernel(func(f *fsfake.File) error {
		if err := tryFlock(f); err != nil {
			return err
		}
		g, err := f.Dup()
		return errors.Join(err, g.Close(), scenarios.ErrLocked)
	})
	scenarios.Once(l)(t)
}

// inherited is the descriptor that A's tasks share.
var inherited = fsfake.Cell[int]{Name: "lock fd"}

func unlockedByTask(t *task) {
	_ = scenarios.Locked(t, kernel(func(f *fsfake.File) error {
		err := tryFlock(f)
		inherited.Store(t.Proc, f.Fd())
		return err
	}), func() { t.Work() })
}

// unlocks unlocks what another task of the process has locked.
func unlocks(t *task) {
	if fd := inherited.Load(t.Proc); fd > 0 {
		_ = t.NewFile(fd, lock).Flock(fsfake.LOCK_UN)
	}
}

func closesAnother(t *task) {
	_ = scenarios.Locked(t, kernel(recordLock), func() { _, _ = kit.ReadAll(t, lock) })
}

func keepsDuplicate(t *task) {
	l := kernel(func(f *fsfake.File) error {
		err := tryFlock(f)
		_, _ = f.Dup()
		return err
	})
	_ = scenarios.Locked(t, l, func() { t.Work() })
	t.Work()
}

func keepsChild(t *task) {
	_ = scenarios.Locked(t, waiting, func() { t.Do(fsfake.Op{Call: fsfake.CallFork}) })
}

func keepsLocked(t *task) { _, _ = waiting.Acquire(t) }

// at holds the lock under a name.
func at(name string) scenarios.Program {
	return scenarios.Once(proto{
		Path:    lock,
		Acquire: func(t *task) (hold, error) { return hold{Path: name}, kit.Create(t, name, "") },
		Release: func(t *task, _ hold) error { return t.Unlink(name) },
	})
}

// remembered counts the holds of a process.
var remembered = fsfake.Cell[int]{Name: "holds"}

// remembers joins the hold that its process remembers; the memory goes last.
func remembers(t *task) {
	l := create(nil, os.O_CREATE|os.O_EXCL)
	once := l.Acquire
	l.Acquire = func(t *task) (hold, error) {
		if remembered.Load(t.Proc) > 0 {
			return hold{Shared: true}, nil
		}
		h, err := once(t)
		if err == nil {
			remembered.Store(t.Proc, 1)
		}
		return h, err
	}
	l.Release = func(t *task, _ hold) error {
		err := t.Unlink(lock)
		remembered.Store(t.Proc, 0)
		return err
	}
	scenarios.Once(l)(t)
}

func writesTwice(t *task) {
	_ = kit.Writes(t, "ab", func() error {
		f, err := t.OpenFile(lock, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		_, err1 := f.WriteString("a")
		_, err2 := f.WriteString("b")
		return errors.Join(err1, err2, f.Close())
	})
}

func replaces(t *task) {
	for _, text := range []string{"ab", "cd"} {
		_ = kit.Writes(t, text, func() error { return kit.Replace(t, lock, text) })
	}
}

func replacesAtOnce(t *task) {
	for _, text := range []string{"ab", "cd"} {
		_ = kit.Writes(t, text, func() error {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			return errors.Join(err, f.Close())
		})
	}
}

func writesAside(t *task) {
	_ = kit.Writes(t, "ab", func() error {
		if err := kit.Create(t, lock+".new", "ab"); err != nil {
			return err
		}
		return t.Rename(lock+".new", lock)
	})
}

func reads(t *task) {
	kit.Reads(t, func() string {
		text, _ := kit.ReadAll(t, lock)
		return text
	})
}

// readsLater reads when A is dead.
func readsLater(t *task) {
	if kit.Gone(t, scenarios.Pid(0)) {
		reads(t)
	}
}

func readsPieces(t *task) {
	kit.Reads(t, func() string {
		f, err := t.Open(lock)
		if err != nil {
			return ""
		}
		buf := make([]byte, 1)
		n, _ := f.Read(buf)
		text := string(buf[:n])
		n, _ = f.Read(buf)
		return text + string(buf[:n])
	})
}

func adds(t *task) {
	kit.Adds(func(t *task, key string) bool { return kit.AddLine(t, lock, key, kit.Replace) },
		func(t *task, key string) bool { return kit.HasLine(t, lock, key) })(t)
}

func noRelease(l proto) scenarios.Program {
	return func(t *task) { _, _ = t.Acquire(lock, func() (hold, error) { return l.Acquire(t) }) }
}

// polled tries again and again.
func polled(l proto) proto {
	once := l.Acquire
	l.Acquire = func(t *task) (hold, error) {
		for retry := t.Retry(); retry.Next(); {
			if h, err := once(t); err == nil {
				return h, nil
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	}
	return l
}

func forEver(l proto) scenarios.Program {
	return func(t *task) {
		for retry := t.Retry(); retry.Next(); {
			_ = scenarios.Locked(t, l, func() {})
		}
	}
}

// both takes two flocks, one after the other.
func both(first, second string) scenarios.Program {
	return func(t *task) {
		for _, name := range []string{first, second} {
			if _, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX); err != nil {
				return
			}
		}
	}
}

func waitsForCell(t *task) { inherited.Wait(t.Proc, func(fd int) bool { return fd > 0 }) }

// lateRemoval ends its hold before it removes the file.
func lateRemoval(t *task) {
	l := create(nil, os.O_CREATE|os.O_EXCL)
	l.Release = func(t *task, _ hold) error { t.Work(); return nil }
	scenarios.Once(l)(t)
	_ = t.Unlink(lock)
}

// truncating empties the file before it asks for the lock, and writes its pid.
var truncating = proto{
	Path: lock,
	Acquire: func(t *task) (hold, error) {
		f, err := kit.OpenFlock(t, lock, os.O_RDWR|os.O_TRUNC, fsfake.LOCK_EX|fsfake.LOCK_NB)
		if err != nil {
			return kit.Failed(err)
		}
		_, err = f.WriteString(kit.Me(t))
		return hold{File: f}, err
	},
	Release: func(_ *task, h hold) error { return h.File.Close() },
}

func owner(t *task) int {
	text, _ := kit.ReadAll(t, lock)
	return kit.PidIn(text)
}

// appends an entry when the cursor file, which is written last, does not know it.
func appends(t *task) {
	const cursor = lock + ".cursor"
	if done, _ := kit.ReadAll(t, cursor); done != "" {
		return
	}
	scenarios.Record(t, model.Append{Entry: 1}, func() model.Appended {
		f, err := t.OpenFile(lock, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err == nil {
			_, _ = f.WriteString("1\n")
		}
		return model.Appended{}
	})
	_ = kit.Create(t, cursor, "1")
}

// counted is judged as real programs are: by what is left when all have ended, and not by a
// history.
var counted = &scenarios.Property{
	ID:      "counted",
	Meaning: "When all have ended, the counter has been counted up by each.",
	Invariant: func(v scenarios.View) string {
		if text, ok := v.ReadFile(lock); ok && v.Running() == 0 && text != "2" {
			return "the counter is " + text
		}
		return ""
	},
}

func next(t *task) string {
	text, _ := kit.ReadAll(t, lock)
	return string(rune(text[0] + 1))
}

// incrementsLast reads first and comes last. It looks at what it replaces, as mv does, and does
// not read it again.
func incrementsLast(t *task) {
	n := next(t)
	for retry := t.Retry(); retry.Next(); {
		if _, err := t.Stat(lock + ".done"); err == nil {
			break
		}
	}
	if kit.Create(t, lock+".a", n) == nil {
		_, _ = t.Lstat(lock)
		_ = t.Rename(lock+".a", lock)
	}
}
