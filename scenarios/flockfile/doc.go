// Package flockfile has kernel locks (flock, fcntl) of libraries and tools, as reported and as fixed: on files
// that stay, that are removed after use, or that every acquirer compares with their name, of threads beside
// processes, and several at once.
package flockfile

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
		bundler(), cargo(), conda(), cranpose(), dpkg(), fasteners(), filelock(), freebsd(), gofrs(), jib(),
		lockedfile(), lockgate(), lucene(), nix(), portalocker(), rocksdb(), rubygems(), simple(), systemd(), zc(),
	)
}
