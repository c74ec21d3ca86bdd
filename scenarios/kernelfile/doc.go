// Package kernelfile holds kernel locks on files of libraries and tools, as reported and as
// repaired, a file for each system: files that are removed after use, and locks that a
// second descriptor of the process drops.
package kernelfile

import (
	"slices"

	"lockpick/scenarios"
)

// Scenarios lists all systems.
func Scenarios() []scenarios.Scenario {
	return slices.Concat(fslock(), hermit(), ilock(), materialize(), patchify())
}
