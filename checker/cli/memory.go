package cli

import "runtime/debug"

// Most verdicts need little memory, and Go collects garbage whenever the heap has doubled: that
// took a sixth of the time of a check of everything. So a command reserves memory that it never
// touches. It takes none of the computer's, but counts as living, so that much garbage may pile up
// before it is collected; in a large search the reserve makes no difference.

// reserved is how much memory a command reserves, in MiB: 128 take most of what there is to gain.
const reserved = 128

// reserve reserves memory. It reserves none where the environment says when to collect garbage.
func (a *app) reserve() {
	if a.env("GOGC") == "" && a.env("GOMEMLIMIT") == "" {
		a.untouched = make([]byte, reserved<<20)
	}
}

// ownMemory is what the command takes beside what --max-memory bounds, in MiB.
const ownMemory = 32

// limitMemory bounds what the process takes: so many MiB for states, and a little for everything
// else. Garbage may take what is left of them.
func (a *app) limitMemory(states int) {
	debug.SetMemoryLimit(int64(states+ownMemory)<<20 + int64(len(a.untouched)))
}
