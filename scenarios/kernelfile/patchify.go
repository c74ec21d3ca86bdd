package kernelfile

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// patchify is the sidecar lock of riceharvest/agents-first-toolkit (Rust): the drop of the
// lock unlinks the file while it is locked, and waiters wait in the kernel.
func patchify() []scenarios.Scenario {
	const lock = "/home/user/repo/.patchify.lock"
	sys := kit.System{Name: "patchify", Lock: lock, Source: kit.Text(files, "patchify.go"),
		Report: "https://github.com/riceharvest/agents-first-toolkit/issues/52"}
	return sys.Scenarios(kit.Row{
		ID: "unlink-on-drop/contend", Does: "A waiter has the old file open and is granted it; the next one locks a new file.",
		Lock: unlinking(lock, true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}
