// Package all is the one list of the scenarios that lockpick brings along.
package all

import (
	"slices"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/borg"
	"lockpick/scenarios/bundler"
	"lockpick/scenarios/cargo"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/emacs"
	"lockpick/scenarios/gateguard"
	"lockpick/scenarios/gitgcpid"
	"lockpick/scenarios/gitlockfile"
	"lockpick/scenarios/gofrsflock"
	"lockpick/scenarios/libreport"
	"lockpick/scenarios/lockedfile"
	"lockpick/scenarios/nightlyone"
	"lockpick/scenarios/npmcli"
	"lockpick/scenarios/npmlockfile"
	"lockpick/scenarios/openclawrelease"
	"lockpick/scenarios/openclawtakeover"
	"lockpick/scenarios/openlock"
	"lockpick/scenarios/portalocker"
	"lockpick/scenarios/postgres"
	"lockpick/scenarios/properlockfile"
	"lockpick/scenarios/restic"
	"lockpick/scenarios/rubygems"
	"lockpick/scenarios/sqlitedotfile"
)

// All returns every scenario: the core, and then the corpus.
func All() []scenarios.Scenario { return append(Core(), Corpus()...) }

// Core returns the scenarios of the five reported systems, system by system, in the order
// of reports. They are what is decided when nothing is chosen.
func Core() []scenarios.Scenario {
	return slices.Concat(
		ctx.Scenarios(),
		gateguard.Scenarios(),
		openclawrelease.Scenarios(),
		openclawtakeover.Scenarios(),
		agentwire.Scenarios(),
	)
}

// Corpus returns the scenarios of lock protocols in use, system by system, in the order
// of names. Each is marked as a part of the corpus.
func Corpus() []scenarios.Scenario {
	list := slices.Concat(
		borg.Scenarios(),
		bundler.Scenarios(),
		cargo.Scenarios(),
		emacs.Scenarios(),
		gitgcpid.Scenarios(),
		gitlockfile.Scenarios(),
		gofrsflock.Scenarios(),
		libreport.Scenarios(),
		lockedfile.Scenarios(),
		nightlyone.Scenarios(),
		npmcli.Scenarios(),
		npmlockfile.Scenarios(),
		openlock.Scenarios(),
		portalocker.Scenarios(),
		postgres.Scenarios(),
		properlockfile.Scenarios(),
		restic.Scenarios(),
		rubygems.Scenarios(),
		sqlitedotfile.Scenarios(),
	)
	for i := range list {
		list[i].Corpus = true
	}
	return list
}
