package gateguard

import (
	"slices"

	"lockpick/scenarios"
)

// merged is the hook as merged: load, markChecked and isChecked as they were, and a
// save that unites.
// https://github.com/affaan-m/ECC/pull/1623
var merged = gate{
	mark:  func(t *scenarios.Task, key string) { markWith(t, key, mergeSave) },
	check: func(t *scenarios.Task, key string) bool { return checkWith(t, key, mergeSave) },
}

// mergeSave takes in what is on disk just before it writes. Nothing ties what was read
// to what the rename replaces.
func mergeSave(t *scenarios.Task, s state) {
	if t.MkdirAll(stateDir, 0o755) != nil {
		return
	}
	union, lastActive := s.checked, s.lastActive
	if exists(t, statePath) {
		if disk, err := readState(t); err == nil {
			union = slices.Clone(disk.checked)
			for _, key := range s.checked {
				if !disk.has(key) {
					union = append(union, key)
				}
			}
			lastActive = max(lastActive, disk.lastActive)
		}
	}
	writeState(t, state{checked: union, lastActive: max(lastActive, now(t))})
}
