// Package kernelfile holds kernel locks on files of libraries and tools, as reported and as
// fixed: files that are removed after use, and locks that a
// second descriptor of the process drops. Locks that were written down from their sources, and that nobody
// has reported, are in kept.go, named.go and removed.go.
package kernelfile

import (
	"embed"
	"slices"

	"lockpick/scenarios"
)

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS

// Scenarios lists all systems.
func Scenarios() []scenarios.Scenario {
	return slices.Concat(
		bbolt(), certbot(), chef(), containersStorage(), dnf(), firefox(), fslock(), go4(), hermit(), homebrew(),
		ilock(), jdkFileHandler(), jj(), keybase(), libvirt(), logrotate(), materialize(), mongod(), patchify(),
		opkg(), portage(), prometheus(), redis(), terraform(), vagrant(),
	)
}
