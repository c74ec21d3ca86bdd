package agentwire

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

const (
	issue = "https://github.com/dotdevdotdev/agentwire-dev/issues/491"
	pull  = "https://github.com/dotdevdotdev/agentwire-dev/pull/508"
)

// Scenarios lists the variants, each in its settings.
func Scenarios() []scenarios.Scenario {
	me, run, fixed := scenarios.MutualExclusion, scenarios.Once(protocol(ensure)), scenarios.Once(protocol(waitPolling))
	const unlinks = "A waiter that finds the holder dead unlinks the lock file, which another run may have " +
		"opened to lock it."
	return []scenarios.Scenario{
		row("blind-unlink/crash", unlinks,
			issue, waitUnlinking, kit.In(kit.Contend(3), kit.Kill(1)), kit.Broken(me), "unlink.go"),
		row("blind-unlink/contend", unlinks,
			issue, waitUnlinking, kit.In(kit.Contend(3)), kit.Broken(me), "unlink.go"),
		row("truncating-open/contend",
			"Whoever only wants the lock opens its file with truncation, which erases the holder's pid.",
			issue, waitPolling, kit.In(kit.Roles(holdAndAsk, run)), kit.Broken(scenarios.OwnerInfo), "poll.go", "commands.go"),
		row("probe-by-locking/contend",
			"The question whether a session is locked takes the lock for a moment, and a run that comes then fails.",
			issue, ensure, kit.In(kit.Roles(probe, run)), kit.Broken(scenarios.SpuriousFailure), "commands.go"),
		row("gated-unlink/contend",
			"A waiter unlinks the file of a dead holder only if nobody has the lock, as of a moment ago.",
			issue, waitGated, kit.In(kit.Contend(3)), kit.Broken(me), "unlink.go"),
		row("flock-only/crash", "A waiter polls the kernel lock and nobody unlinks the file.",
			pull, waitPolling, kit.In(kit.Contend(3), kit.Kill(1)), kit.Holds(me, scenarios.Wedge), "poll.go"),
		row("flock-only/cleaner",
			"Two runs with the merged fix, and process C runs \"lock clean\", which unlinks a lock file without a pid.",
			pull, waitPolling, kit.In(kit.Roles(fixed, fixed, clean)), kit.Broken(me), "poll.go", "commands.go"),
	}
}

// row is a way to acquire in a situation. A fresh process is probed in the end.
func row(id, does, report string, acquire func(t *scenarios.Task) (scenarios.Hold, error), in []kit.Situation,
	claims []scenarios.Claim, further ...string,
) scenarios.Scenario {
	l := protocol(acquire)
	sc := scenarios.Scenario{
		ID: "agentwire/" + id, Summary: does, Report: report, Claims: claims,
		Source: kit.Text(files, append([]string{"locking.go"}, further...)...),
		Setup:  func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(dir, 0o755) },
		Probe:  scenarios.Attempt(l), Watch: []string{lockPath},
	}
	for _, situation := range in {
		situation(&sc, l)
	}
	return sc
}
