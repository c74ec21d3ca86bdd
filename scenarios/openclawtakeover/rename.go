package openclawtakeover

import (
	"fmt"
	"os"

	"lockpick/scenarios"
)

// rename is the pull request's lock: a stale lock is taken over by renaming a complete
// lock file onto it.
func rename() scenarios.Protocol { return exclusive(deadOrEmpty, renameOnto) }

// renameOnto is t1 to t5. "Rename fails if another process won", says the pull request;
// but rename replaces whatever has the name.
func renameOnto(t *scenarios.Task) (scenarios.Hold, bool) {
	pid := t.Getpid()
	temp := fmt.Sprintf("%s.%d.%d", lockPath, pid, 0) // <lock>.<pid>.<ms>
	failed := func() (scenarios.Hold, bool) {
		_ = t.Unlink(temp)
		return scenarios.Hold{}, false
	}
	f, err := t.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // t1
	if err != nil {
		return failed()
	}
	_, err = f.Write(textOf(pid))                     // t2
	if cerr := f.Close(); err != nil || cerr != nil { // t3
		return failed()
	}
	if t.Rename2(temp, lockPath, 0) != nil { // t4
		return failed()
	}
	held, err := t.OpenFile(lockPath, os.O_RDWR, 0) // t5: perhaps another's
	if err != nil {
		return failed()
	}
	return scenarios.Hold{File: held}, true
}
