package openclawrelease

// inFlight is the lock exactly as reported: HELD_LOCKS learns of a lock only when its
// text is written (a7 after a6). Between the two the text names this process and the
// map does not have the lock: another task takes it for an orphan.
func inFlight() session {
	s := original()
	s.publishLast = true
	return s
}
