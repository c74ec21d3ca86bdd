package openclawrelease

import "lockpick/scenarios"

// optionA is the report's first proposal: a set RELEASING of the locks being released,
// which orphan-self consults.
func optionA() session {
	return session{enter: joinHeld, orphan: notInMapNorReleasing, release: markDeleteRemove}
}

// notInMapNorReleasing is orphan-self of option A. What it asks is of now; the text may
// be that of a lock whose release has ended since.
func notInMapNorReleasing(t *scenarios.Task, _ payload) bool {
	m := held.Load(t.Proc)
	return m.Entry == 0 && !m.InRelease
}

// markDeleteRemove is the release of option A.
func markDeleteRemove(t *scenarios.Task, h scenarios.Hold) error {
	m := held.Load(t.Proc)
	if m.Entry != h.Data { // r0
		return nil
	}
	if m.Count--; m.Count > 0 {
		held.Store(t.Proc, m)
		return nil
	}
	held.Store(t.Proc, heldLocks{InRelease: true}) // r2: RELEASING.add, HELD_LOCKS.delete
	closeAndRemove(t, m.FD)                        // r3, r4
	after := held.Load(t.Proc)                     // r5: finally RELEASING.delete
	after.InRelease = false
	held.Store(t.Proc, after)
	return nil
}
