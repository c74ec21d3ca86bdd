// Package pidfile has lock files and lock directories that say who made them, and how those of dead owners are
// judged and taken over: by a pid, by their age, under a second lock, or by a rename. Locks in use, as reported and
// as fixed.
package pidfile

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
		aidevops(), bhyve(), codex(), dev3(), emacs(), gitGC(), gunicorn(), instar(), itervox(), libreport(),
		llxprt(), nightlyone(), npmCLI(), npmLock(), openlock(), postgres(), proper(), remnic(),
	)
}
