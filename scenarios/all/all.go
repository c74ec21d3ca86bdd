// Package all is the one list of the scenarios that lockpick brings along.
package all

import (
	"slices"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/aidevops"
	"lockpick/scenarios/aside"
	"lockpick/scenarios/borg"
	"lockpick/scenarios/bundler"
	"lockpick/scenarios/cargo"
	"lockpick/scenarios/carina"
	"lockpick/scenarios/codexplugin"
	"lockpick/scenarios/condabuild"
	"lockpick/scenarios/cranpose"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/dev3"
	"lockpick/scenarios/dpkg"
	"lockpick/scenarios/emacs"
	"lockpick/scenarios/fasteners"
	"lockpick/scenarios/filelock"
	"lockpick/scenarios/freebsdpidfile"
	"lockpick/scenarios/gascity"
	"lockpick/scenarios/gateguard"
	"lockpick/scenarios/gitgcpid"
	"lockpick/scenarios/gitlockfile"
	"lockpick/scenarios/gofrsflock"
	"lockpick/scenarios/gunicorn"
	"lockpick/scenarios/instar"
	"lockpick/scenarios/itervox"
	"lockpick/scenarios/jib"
	"lockpick/scenarios/kernelfile"
	"lockpick/scenarios/kubeconfig"
	"lockpick/scenarios/libreport"
	"lockpick/scenarios/llxprtcode"
	"lockpick/scenarios/lockedfile"
	"lockpick/scenarios/lockgate"
	"lockpick/scenarios/lucene"
	"lockpick/scenarios/nightlyone"
	"lockpick/scenarios/nix"
	"lockpick/scenarios/npmcli"
	"lockpick/scenarios/npmlockfile"
	"lockpick/scenarios/openclawrelease"
	"lockpick/scenarios/openclawtakeover"
	"lockpick/scenarios/openlock"
	"lockpick/scenarios/portalocker"
	"lockpick/scenarios/postgres"
	"lockpick/scenarios/properlockfile"
	"lockpick/scenarios/pytorchbaton"
	"lockpick/scenarios/reclaim"
	"lockpick/scenarios/remnic"
	"lockpick/scenarios/restic"
	"lockpick/scenarios/rocksdb"
	"lockpick/scenarios/rubygems"
	"lockpick/scenarios/simpleflock"
	"lockpick/scenarios/sqlitedotfile"
	"lockpick/scenarios/systemd"
	"lockpick/scenarios/vellum"
	"lockpick/scenarios/vmbhyve"
	"lockpick/scenarios/writefileatomic"
	"lockpick/scenarios/zclockfile"
)

// All returns every scenario: the core, and then the corpus.
func All() []scenarios.Scenario { return append(Core(), Corpus()...) }

// Core returns the scenarios of the five reported systems, system by system, in the order
// of reports. They are what is decided when nothing is chosen.
func Core() []scenarios.Scenario {
	return enter(slices.Concat(
		ctx.Scenarios(),
		gateguard.Scenarios(),
		openclawrelease.Scenarios(),
		openclawtakeover.Scenarios(),
		agentwire.Scenarios(),
	))
}

// Corpus returns the scenarios of lock protocols in use, system by system, in the order
// of names, and then the families with several systems each. Each is marked as a part of the corpus.
func Corpus() []scenarios.Scenario {
	list := slices.Concat(
		aidevops.Scenarios(),
		borg.Scenarios(),
		bundler.Scenarios(),
		cargo.Scenarios(),
		carina.Scenarios(),
		codexplugin.Scenarios(),
		condabuild.Scenarios(),
		cranpose.Scenarios(),
		dev3.Scenarios(),
		dpkg.Scenarios(),
		emacs.Scenarios(),
		fasteners.Scenarios(),
		filelock.Scenarios(),
		freebsdpidfile.Scenarios(),
		gascity.Scenarios(),
		gitgcpid.Scenarios(),
		gitlockfile.Scenarios(),
		gofrsflock.Scenarios(),
		gunicorn.Scenarios(),
		instar.Scenarios(),
		itervox.Scenarios(),
		jib.Scenarios(),
		kubeconfig.Scenarios(),
		libreport.Scenarios(),
		llxprtcode.Scenarios(),
		lockedfile.Scenarios(),
		lockgate.Scenarios(),
		lucene.Scenarios(),
		nightlyone.Scenarios(),
		nix.Scenarios(),
		npmcli.Scenarios(),
		npmlockfile.Scenarios(),
		openlock.Scenarios(),
		portalocker.Scenarios(),
		postgres.Scenarios(),
		properlockfile.Scenarios(),
		pytorchbaton.Scenarios(),
		remnic.Scenarios(),
		restic.Scenarios(),
		rocksdb.Scenarios(),
		rubygems.Scenarios(),
		simpleflock.Scenarios(),
		sqlitedotfile.Scenarios(),
		systemd.Scenarios(),
		vellum.Scenarios(),
		vmbhyve.Scenarios(),
		writefileatomic.Scenarios(),
		zclockfile.Scenarios(),
		// Families that hold several systems each.
		aside.Scenarios(),
		kernelfile.Scenarios(),
		reclaim.Scenarios(),
	)
	for i := range list {
		list[i].Corpus = true
	}
	return enter(list)
}
