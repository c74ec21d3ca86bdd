package agentwire

import (
	"path"
	"slices"

	"lockpick/model"
	"lockpick/scenarios"
)

// clean is "lock clean", list_locks and clean_stale_locks: of the locks in the directory,
// one whose file tells no pid, or that of a dead process, is stale and removed. It never
// asks flock.
func clean(t *scenarios.Task) {
	names, err := t.ReadDir(dir)
	if err != nil || !slices.Contains(names, path.Base(lockPath)) {
		return
	}
	if pid, known := lockHolder(t); !known || !alive(t, pid) {
		removeLock(t)
	}
}

// probe is a run that only asks whether the session is locked.
func probe(t *scenarios.Task) { _ = isLocked(t) }

// holdAndAsk is a run that holds the lock and meanwhile looks up who holds it.
func holdAndAsk(t *scenarios.Task) {
	_ = scenarios.Locked(t, protocol(waitPolling), func() {
		scenarios.Record(t, model.WhoHolds{}, func() model.Holder {
			pid, _ := lockHolder(t)
			return model.Holder{Owner: ownerOf(pid)}
		})
	})
}

// ownerOf names the process with a pid; "" when there is none.
func ownerOf(pid int) string {
	if i, ok := scenarios.ProcessOf(pid); ok {
		return scenarios.ProcessName(i)
	}
	return ""
}
