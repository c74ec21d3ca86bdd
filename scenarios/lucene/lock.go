// Package lucene holds the native lock of Apache Lucene's index, write.lock: an fcntl lock,
// behind a set of paths that this JVM has locked, as record locks do not exclude threads of
// one process. The file is created by a call of its own before the set is asked, and the
// close of that descriptor drops the lock that another thread may have taken meanwhile: no
// report of that is known. That removing the file cannot be made safe is said in
// https://issues.apache.org/jira/browse/LUCENE-5612.
package lucene

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/index/write.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "lucene", Lock: lock, Report: "https://github.com/apache/lucene/blob/main/lucene/core/src/java/org/apache/lucene/store/NativeFSLockFactory.java", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "native/tasks", Does: "A thread that creates the file closes it before the set of locked paths is asked: the close drops another thread's lock.",
			Lock: protocol, In: kit.In(kit.Tasks(2, 1)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "native/existing", Does: "The same where the file is there already: the set keeps threads apart, the record lock processes.",
			Lock: protocol, In: kit.In(kit.Tasks(2, 1), kit.File(lock, "")), Claims: kit.Holds(scenarios.MutualExclusion),
		},
	)
}

// held is LOCK_HELD: whether this JVM has the path in its set.
var held = fsfake.Cell[bool]{Name: "LOCK_HELD"}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if err := kit.Create(t, lock, ""); err != nil && !kit.Exists(err) {
			return kit.Failed(err)
		}
		if _, err := t.Stat(lock); err != nil { // toRealPath and the creation time
			return kit.Failed(err)
		}
		if held.Load(t.Proc) {
			return kit.Locked()
		}
		held.Store(t.Proc, true) // one step with the look
		f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			held.Store(t.Proc, false)
			return kit.Failed(err)
		}
		if err := f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false); err != nil {
			err = errors.Join(err, f.Close())
			held.Store(t.Proc, false)
			return kit.Failed(err)
		}
		return kit.Held(f)
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
		held.Store(t.Proc, false)
		return err
	},
}
