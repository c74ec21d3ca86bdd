package agentwire

import "lockpick/scenarios"

// waitUnlinking is session_lock with --wait-lock as reported: a waiter that finds the
// holder dead removes the lock file and opens a new one.
func waitUnlinking(t *scenarios.Task) (scenarios.Hold, error) { return waitRemoving(t, removeLock) }

// waitGated is the minimal fix that the report proposes: the file is removed only when
// nobody has the lock.
func waitGated(t *scenarios.Task) (scenarios.Hold, error) { return waitRemoving(t, removeStaleLock) }

// removeStaleLock is remove_stale_lock. Between the question and the unlink anybody may
// take the lock.
func removeStaleLock(t *scenarios.Task) {
	if !isLocked(t) {
		removeLock(t)
	}
}

// waitRemoving is session_lock with --wait-lock; remove is what it does about the file
// of a dead holder.
func waitRemoving(t *scenarios.Task, remove func(t *scenarios.Task)) (scenarios.Hold, error) {
	f, err := openLock(t) // 1, 2
	for retry := t.Retry(); err == nil && retry.Next(); {
		if try(f) { // 3
			return enter(t, f) // 6
		}
		pid, known := lockHolder(t) // 4
		if !known || alive(t, pid) {
			t.Sleep(poll)
			continue
		}
		remove(t) // 5
		_ = f.Close()
		f, err = reopen(t) // the same descriptor again: nothing else is carried over
	}
	return scenarios.Hold{}, err
}
