package openclawrelease

import "lockpick/scenarios"

// optionBReentrant is the report's second proposal, with the re-entrant fast path as it
// stands: HELD_LOCKS.delete comes after the file is removed.
func optionBReentrant() session {
	return session{enter: joinHeld, orphan: notInMap, release: removeThenDelete}
}

// optionBJoin is option B with a fast path that awaits a release that has started, as
// https://github.com/openclaw/openclaw/pull/15628 does.
func optionBJoin() session {
	s := optionBReentrant()
	s.enter = awaitReleaseThenJoin
	return s
}

// optionBJoinReread is optionBJoin with an orphan-self that reads the text once more
// after it has asked the map.
func optionBJoinReread() session {
	s := optionBJoin()
	s.orphan = notInMapAndSameText
	return s
}

// awaitReleaseThenJoin is a3 of option B with join.
func awaitReleaseThenJoin(t *scenarios.Task) (scenarios.Hold, bool) {
	return join(t, held.Wait(t.Proc, func(m heldLocks) bool { return !m.Releasing }))
}

// notInMapAndSameText: a lock of this process leaves the map only after its file is
// gone, so what the file says after the map was asked is no longer an old text.
func notInMapAndSameText(t *scenarios.Task, p payload) bool {
	return notInMap(t, p) && readPayload(t) == p
}

// removeThenDelete is the release of option B.
func removeThenDelete(t *scenarios.Task, h scenarios.Hold) error {
	m := held.Load(t.Proc)
	if m.Entry != h.Data { // r0
		return nil
	}
	m.Count--
	if m.Count > 0 || m.Releasing {
		held.Store(t.Proc, m)
		if m.Count == 0 { // r1: await releasePromise
			held.Wait(t.Proc, func(now heldLocks) bool { return now.Entry != m.Entry })
		}
		return nil
	}
	m.Releasing = true // r2: the entry stays in the map
	held.Store(t.Proc, m)
	closeAndRemove(t, m.FD)                 // r3, r4
	if held.Load(t.Proc).Entry == m.Entry { // r5: HELD_LOCKS.delete
		held.Store(t.Proc, heldLocks{})
	}
	return nil
}
