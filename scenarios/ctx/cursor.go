package ctx

import (
	"errors"
	"syscall"
	"time"

	"lockpick/scenarios"
)

// syncOrClear is what a careful person does under the merged lock, when a sync is
// refused: make sure that the other sync is not running any more, remove its lock by
// hand, and sync again. The lock has worked all the time; what is not atomic is the
// append and the cursor.
// https://github.com/ActiveMemory/ctx/pull/113
func syncOrClear(t *scenarios.Task, other int) {
	if err := sync(t, excl); !errors.Is(err, scenarios.ErrLocked) {
		return
	}
	for retry := t.Retry(); retry.Next(); {
		if errors.Is(t.Kill(other), syscall.ESRCH) {
			break
		}
		t.Sleep(50 * time.Millisecond)
	}
	_ = t.Unlink(lockPath) // it may be gone: the other has finished, not died
	_ = sync(t, excl)
}
