package agentwire

import "lockpick/scenarios"

// waitPolling is session_lock with --wait-lock as merged
// (https://github.com/dotdevdotdev/agentwire-dev/pull/508): a waiter polls the lock, and
// never removes the file. The kernel frees the lock of a dead holder.
func waitPolling(t *scenarios.Task) (scenarios.Hold, error) {
	f, err := openLock(t) // 1, 2
	if err != nil {
		return scenarios.Hold{}, err
	}
	for retry := t.Retry(); retry.Next(); {
		if try(f) { // 3
			break
		}
		t.Sleep(poll)
	}
	return enter(t, f) // 6
}
