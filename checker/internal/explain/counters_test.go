package explain_test

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios/kit"
)

// incrementsInPlace reads the counter, opens it again and writes: the last write may change
// nothing.
func incrementsInPlace(t *task) {
	n := next(t)
	f, err := t.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	_, _ = f.Write([]byte(n))
	_ = f.Close()
}

// incrementsAtTheEnd locks the counter after it has read it, and reads its end then.
func incrementsAtTheEnd(t *task) {
	f, err := t.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	b := make([]byte, 4)
	n, _ := f.Read(b)
	_ = f.Flock(fsfake.LOCK_EX)
	_, _ = f.Read(b[n:])
	_, _ = f.WriteAt([]byte{b[0] + 1}, 0)
	_ = f.Close()
}

// givesWay does nothing when somebody is at it.
func givesWay(t *task) {
	if _, err := t.Stat(lock + ".at"); err == nil {
		return
	}
	if kit.Create(t, lock+".at", "") == nil {
		incrementsInPlace(t)
		_ = t.Unlink(lock + ".at")
	}
}

// incrementsByRename says when it is done.
func incrementsByRename(t *task) {
	n := next(t)
	if kit.Create(t, lock+".b", n) == nil && t.Rename(lock+".b", lock) == nil {
		_ = kit.Create(t, lock+".done", "")
	}
}
