package agentwire

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

const (
	dir      = "/locks"
	lockPath = dir + "/main.lock"
	poll     = 500 * time.Millisecond
)

// openLock is steps 1 and 2: mkdir -p, and open(path, "w"), which empties the file.
func openLock(t *scenarios.Task) (*fsfake.File, error) {
	if err := t.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return reopen(t)
}

// reopen is open(path, "w").
func reopen(t *scenarios.Task) (*fsfake.File, error) {
	return t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

// try is step 3: it reports whether the lock was free and is taken now.
func try(f *fsfake.File) bool { return f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil }

// enter is step 6: tell the pid, at the descriptor's offset.
func enter(t *scenarios.Task, f *fsfake.File) (scenarios.Hold, error) {
	_, err := f.WriteString(strconv.Itoa(t.Getpid()) + "\n")
	return scenarios.Hold{File: f}, err
}

// unlock is step 7. The file stays, and so does the pid in it.
func unlock(_ *scenarios.Task, h scenarios.Hold) error {
	return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
}

// lockHolder is get_lock_holder: the pid that the file tells, or false when it tells
// none.
func lockHolder(t *scenarios.Task) (int, bool) {
	f, err := t.Open(lockPath)
	if err != nil {
		return 0, false
	}
	text := make([]byte, 64)
	n, _ := f.Read(text)
	_ = f.Close()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	return pid, err == nil
}

// alive is os.kill(pid, 0) without an exception.
func alive(t *scenarios.Task, pid int) bool { return t.Kill(pid) == nil }

// removeLock is remove_lock: unlink by path, whoever has the lock.
func removeLock(t *scenarios.Task) { _ = t.Unlink(lockPath) }

// isLocked is is_session_locked: it asks by taking the lock for a moment.
func isLocked(t *scenarios.Task) bool {
	f, err := t.OpenFile(lockPath, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	free := try(f)
	if free {
		_ = f.Flock(fsfake.LOCK_UN)
	}
	_ = f.Close()
	return !free
}

// ensure is session_lock without --wait-lock: when the lock is taken it fails with
// LockConflict.
func ensure(t *scenarios.Task) (scenarios.Hold, error) {
	f, err := openLock(t) // 1, 2
	if err != nil {
		return scenarios.Hold{}, err
	}
	if !try(f) { // 3
		_ = f.Close()
		return scenarios.Hold{}, fmt.Errorf("agentwire: LockConflict: %w", scenarios.ErrLocked)
	}
	return enter(t, f) // 6
}

func protocol(acquire func(t *scenarios.Task) (scenarios.Hold, error)) scenarios.Protocol {
	return scenarios.Protocol{Path: lockPath, Acquire: acquire, Release: unlock}
}
