package gateguard

import (
	"strconv"

	"lockpick/scenarios"
)

// original is the hook as reported.
// https://github.com/affaan-m/ECC/issues/1441
var original = gate{
	mark:  func(t *scenarios.Task, key string) { markWith(t, key, save) },
	check: func(t *scenarios.Task, key string) bool { return checkWith(t, key, save) },
}

// load reads the state; any error makes it empty.
func load(t *scenarios.Task) state {
	if !exists(t, statePath) {
		return state{}
	}
	s, err := readState(t)
	if err != nil {
		return state{}
	}
	if s.olderThan(sessionTimeout, now(t)) {
		_ = t.Unlink(statePath) // by name: whatever stands there by now
		return state{}
	}
	return s
}

// save replaces the state file in one step, so nobody ever reads half of it. What it
// replaces it does not look at.
func save(t *scenarios.Task, s state) {
	s.lastActive = now(t)
	if t.MkdirAll(stateDir, 0o755) != nil {
		return
	}
	writeState(t, s)
}

// writeState writes a temporary file and renames it.
func writeState(t *scenarios.Task, s state) {
	tmp := statePath + ".tmp." + strconv.Itoa(t.Getpid())
	if t.WriteFile(tmp, []byte(s.format()), 0o644) == nil {
		_ = t.Rename2(tmp, statePath, 0)
	}
}

// markWith is markChecked: load, add, save.
func markWith(t *scenarios.Task, key string, save func(*scenarios.Task, state)) {
	s := load(t)
	if !s.has(key) {
		s.checked = append(s.checked, key)
		save(t, s)
	}
}

// checkWith is isChecked. A key that is found keeps the session alive, at most once a
// minute: then the snapshot just read is saved.
func checkWith(t *scenarios.Task, key string, save func(*scenarios.Task, state)) bool {
	s := load(t)
	found := s.has(key)
	if found && s.olderThan(readHeartbeat, now(t)) {
		save(t, s)
	}
	return found
}
