package openclawrelease

import "lockpick/scenarios"

// original is the lock as reported, on a system without start times (macOS, Windows).
func original() session {
	return session{enter: joinHeld, orphan: notInMap, release: deleteThenRemove}
}

// originalStartTime is the lock as reported, on Linux: every text tells a start time,
// so orphan-self never applies.
func originalStartTime() session {
	s := original()
	s.startTime = true
	return s
}

// notInMap is orphan-self as reported: the pid is mine, and HELD_LOCKS does not have the
// lock. The text was read some turns ago; the map is of now.
func notInMap(t *scenarios.Task, _ payload) bool {
	return held.Load(t.Proc).Entry == 0
}

// deleteThenRemove is the release as reported: out of the map at once, and then the file.
func deleteThenRemove(t *scenarios.Task, h scenarios.Hold) error {
	m := held.Load(t.Proc)
	if m.Entry != h.Data { // r0
		return nil
	}
	if m.Count--; m.Count > 0 {
		held.Store(t.Proc, m)
		return nil
	}
	held.Store(t.Proc, heldLocks{}) // r2: HELD_LOCKS.delete
	closeAndRemove(t, m.FD)         // r3, r4
	return nil
}
