// Package datafile has what locks are for: leases that are renewed, configuration files that are read, changed and
// saved, logs with numbers, and stores whose readers and writers each make a file of their own. Systems in use, as
// reported and as fixed.
package datafile

import (
	"embed"
	"slices"

	"lockpick/scenarios"
)

// The files of this package are shown in reports, system by system.
//
//go:embed *.go
var files embed.FS

// Scenarios lists all systems.
func Scenarios() []scenarios.Scenario {
	return slices.Concat(
		baton(), borg(), carina(), codex(), gascity(), gitLock(), kube(), restic(), sqlite(), vellum(), vim(),
		writeAtomic(),
	)
}
