package openclawtakeover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

const guardPath = lockPath + ".reclaim"

// guarded is the lock with takeover under a guard: whoever wants to remove a lock must
// first make the directory guardPath, and there look again.
func guarded() scenarios.Protocol {
	return scenarios.Protocol{Path: lockPath, Acquire: acquireGuarded, Release: releaseIfMine}
}

func acquireGuarded(t *scenarios.Task) (scenarios.Hold, error) {
	temp, f, err := prepare(t)
	if err != nil {
		return scenarios.Hold{}, err
	}
	for retry := t.Retry(); retry.Next(); {
		if _, err := t.Stat(guardPath); err == nil { // g0: wait while there is a guard
			t.Sleep(poll)
			continue
		}
		err := t.Link(temp, lockPath) // a4 to a6 in one: the lock appears with its text
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return scenarios.Hold{}, err
		}
		judged, ok := look(t)                                                               // b1
		if ok && judged.owner != 0 && !alive(t, judged.owner) && reclaim(t, judged, temp) { // b2, b4
			break
		}
		t.Sleep(poll) // b5
	}
	return scenarios.Hold{File: f}, t.Unlink(temp)
}

// prepare writes a complete lock file under a name of its own.
func prepare(t *scenarios.Task) (string, *fsfake.File, error) {
	pid := t.Getpid()
	temp := fmt.Sprintf("%s.%d", lockPath, pid)
	f, err := t.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(textOf(pid))
	return temp, f, err
}

// reclaim replaces the lock by the file temp, if it is still exactly the one judged,
// and reports whether it did.
func reclaim(t *scenarios.Task, judged snapshot, temp string) bool {
	if t.Mkdir(guardPath, 0o700) != nil { // g1: somebody else reclaims
		return false
	}
	now, ok := look(t) // g2: nobody but us may remove it from here on
	won := false
	if ok && now.same(judged) {
		_ = t.Unlink(lockPath)              // g3
		won = t.Link(temp, lockPath) == nil // g4: not if somebody came by before the guard
	}
	_ = t.Rmdir(guardPath) // g5
	return won
}

// A snapshot identifies a lock: the file, and its owner's pid.
type snapshot struct {
	file  fs.FileInfo
	owner int
}

func (s snapshot) same(o snapshot) bool { return s.owner == o.owner && fsfake.SameFile(s.file, o.file) }

// look takes a snapshot of the lock. It reports false when there is none.
func look(t *scenarios.Task) (snapshot, bool) {
	f, err := t.Open(lockPath)
	if err != nil {
		return snapshot{}, false
	}
	info, err := f.Stat()
	text := readText(f)
	_ = f.Close()
	return snapshot{info, parse(text).Pid}, err == nil
}

// releaseIfMine removes the lock if the path still has the file acquired. It needs no
// guard: nobody removes the lock of a living process.
func releaseIfMine(t *scenarios.Task, h scenarios.Hold) error {
	mine, err := h.File.Stat()
	if err != nil {
		return err
	}
	if there, err := t.Lstat(lockPath); err == nil && fsfake.SameFile(mine, there) {
		err = t.Unlink(lockPath)
		return errors.Join(err, h.File.Close())
	}
	return h.File.Close()
}
