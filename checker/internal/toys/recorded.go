package toys

import (
	"fmt"
	"os"
	"strconv"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// What the toys for our properties do.

// markers is a readers-writer lock of marker files.
func markers(process int) scenarios.Program {
	const writer = "/run/writer"
	if process == 1 {
		return func(t *scenarios.Task) {
			_, err := t.AcquireWrite(Lock, func() (scenarios.Hold, error) {
				if err := t.Mkdir(writer, 0o755); err != nil {
					return scenarios.Hold{}, scenarios.ErrLocked
				}
				if readers, err := t.ReadDir("/run/readers"); err != nil || len(readers) > 0 {
					_ = t.Rmdir(writer)
					return scenarios.Hold{}, scenarios.ErrLocked
				}
				return scenarios.Hold{}, nil
			})
			if err == nil {
				_ = t.ReleaseWrite(func() error { return t.Rmdir(writer) })
			}
		}
	}
	return func(t *scenarios.Task) {
		mine := "/run/readers/" + t.Process
		_, err := t.AcquireRead(Lock, func() (scenarios.Hold, error) {
			if _, err := t.Stat(writer); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.Mkdir(mine, 0o755)
		})
		if err == nil {
			_ = t.ReleaseRead(func() error { return t.Rmdir(mine) })
		}
	}
}

// flocked opens the lock and takes an flock on it.
func flocked(t *scenarios.Task, how int) (scenarios.Hold, error) {
	f, err := t.OpenFile(Lock, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{File: f}, f.Flock(how)
}

// shared is a readers-writer lock by flock: the last process writes.
func shared(process int) scenarios.Program {
	return func(t *scenarios.Task) {
		acquire, release, how := t.AcquireRead, t.ReleaseRead, fsfake.LOCK_SH
		if process == 2 {
			acquire, release, how = t.AcquireWrite, t.ReleaseWrite, fsfake.LOCK_EX
		}
		h, err := acquire(Lock, func() (scenarios.Hold, error) { return flocked(t, how|fsfake.LOCK_NB) })
		if err == nil {
			_ = release(h.File.Close)
		}
	}
}

// under runs f, under an flock if locked.
func under(t *scenarios.Task, locked bool, f func()) {
	if locked {
		h, err := flocked(t, fsfake.LOCK_EX)
		if err != nil {
			return
		}
		defer h.File.Close()
	}
	f()
}

func number(t *scenarios.Task, name string) int {
	text, _ := t.ReadFile(name)
	n, _ := strconv.Atoi(string(text))
	return n
}

func setNumber(t *scenarios.Task, name string, n int) {
	_ = t.WriteFile(name, []byte(strconv.Itoa(n)), 0o644)
}

// counts adds one to a counter.
func counts(locked bool) scenarios.Program {
	return func(t *scenarios.Task) {
		scenarios.Record(t, model.Inc{}, func() (v model.Value) {
			under(t, locked, func() {
				v.N = number(t, "/run/count") + 1
				setNumber(t, "/run/count", v.N)
			})
			return v
		})
	}
}

// countsOrRefuses adds one to a counter under a lock file, or ends with a status where somebody has it.
func countsOrRefuses(status int) scenarios.Program {
	return func(t *scenarios.Task) {
		err := scenarios.Locked(t, excl(), func() { setNumber(t, "/run/count", number(t, "/run/count")+1) })
		if err != nil && status != 0 {
			t.ExitWith(status)
		}
	}
}

// appends appends an entry to a log, which is a directory, and moves the cursor: entry n,
// or with locked the one after the cursor.
func appends(n int, locked bool) scenarios.Program {
	const cursor = "/run/count"
	return func(t *scenarios.Task) {
		under(t, locked, func() {
			if locked {
				n := scenarios.Record(t, model.ReadCursor{}, func() model.Cursor { return model.Cursor{N: number(t, cursor)} }).N + 1
				move(t, n, cursor)
				return
			}
			move(t, n, cursor)
		})
	}
}

func move(t *scenarios.Task, n int, cursor string) {
	scenarios.Record(t, model.Append{Entry: n}, func() model.Appended {
		_ = t.Mkdir(fmt.Sprintf("/run/done/%d", n), 0o755)
		return model.Appended{}
	})
	scenarios.Record(t, model.Advance{To: n}, func() model.Advanced {
		setNumber(t, cursor, n)
		return model.Advanced{}
	})
}

// value writes a value twice, or reads it.
func value(process int, rename bool) scenarios.Program {
	const name, beside = "/run/value", "/run/value.new"
	if process == 1 {
		return func(t *scenarios.Task) {
			scenarios.Record(t, model.Read{}, func() model.ReadValue {
				text, _ := t.ReadFile(name)
				return model.ReadValue{Value: string(text)}
			})
		}
	}
	return func(t *scenarios.Task) {
		for _, v := range []string{"first", "second"} {
			scenarios.Record(t, model.Write{Value: v}, func() model.Written {
				if rename {
					_ = t.WriteFile(beside, []byte(v), 0o644)
					_ = t.Rename(beside, name)
				} else {
					_ = t.WriteFile(name, []byte(v), 0o644)
				}
				return model.Written{}
			})
		}
	}
}

// owners is a lock whose file has its holder's name from the start; process B asks whose.
func owners(process int) scenarios.Program {
	return func(t *scenarios.Task) {
		if process == 1 {
			scenarios.Record(t, model.WhoHolds{}, func() model.Holder {
				text, _ := t.ReadFile(Lock)
				return model.Holder{Owner: string(text)}
			})
			return
		}
		_, err := t.Acquire(Lock, func() (scenarios.Hold, error) {
			mine := "/run/todo/" + t.Process
			_ = t.WriteFile(mine, []byte(t.Process), 0o644)
			return scenarios.Hold{}, t.Link(mine, Lock)
		})
		if err == nil {
			_ = t.Release(func() error { return t.Unlink(Lock) })
		}
	}
}

// fenced asks for a lease, and uses its token when it is sound.
func fenced(excl bool) scenarios.Program {
	return func(t *scenarios.Task) {
		token, err := t.Grant(func() (int, error) {
			if excl {
				for n := 1; ; n++ {
					if err := t.Mkdir(fmt.Sprintf("/run/done/%d", n), 0o755); err == nil {
						return n, nil
					}
				}
			}
			n := number(t, "/run/count") + 1
			setNumber(t, "/run/count", n)
			return n, nil
		})
		if err != nil || !excl { // two grants break it
			return
		}
		t.Use(token, func() (ok bool) {
			under(t, true, func() {
				if ok = token >= number(t, "/run/seen"); ok {
					setNumber(t, "/run/seen", token)
				}
			})
			return ok
		})
	}
}

// asserts takes a lock, writes its name into it and looks whether it is there.
func asserts(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			if err := t.WriteFile(Lock, []byte(t.Process), 0o644); err != nil {
				return
			}
			text, err := t.ReadFile(Lock)
			t.Assert(err == nil && string(text) == t.Process, "the lock names %s, who holds it", t.Process)
		})
	}
}

// waits waits for an flock, once.
func waits(t *scenarios.Task) {
	h, err := t.Acquire(Lock, func() (scenarios.Hold, error) { return flocked(t, fsfake.LOCK_EX) })
	if err == nil {
		_ = t.Release(h.File.Close)
	}
}

// polls: process A locks and unlocks for ever, B polls for the lock.
func polls(process int) scenarios.Program {
	if process == 1 {
		return func(t *scenarios.Task) {
			f, err := t.OpenFile(Lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return
			}
			_, _ = t.Acquire(Lock, func() (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
						break
					}
				}
				return scenarios.Hold{File: f}, nil
			})
		}
	}
	return func(t *scenarios.Task) {
		f, err := t.OpenFile(Lock, os.O_CREATE|os.O_RDWR, 0o644)
		for retry := t.Retry(); err == nil && retry.Next(); {
			if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
				_ = f.Flock(fsfake.LOCK_UN)
			}
		}
	}
}
