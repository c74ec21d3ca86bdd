package toys

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Properties lists, for the properties that no reported system claims and for each way in
// which a property of one's own is judged, a toy that breaks it and one that keeps it.
func Properties() []scenarios.Scenario {
	fixed := scenarios.Setting{Processes: 2, Fixed: true}
	three := scenarios.Setting{Processes: 3, Fixed: true}
	two := scenarios.Setting{Processes: 2}
	lost, fails := scenarios.Setting{Processes: 1, PowerLosses: 1}, scenarios.Setting{Processes: 1, FailingCalls: 1}
	alike := func(p scenarios.Program) func(int) scenarios.Program {
		return func(int) scenarios.Program { return p }
	}
	return []scenarios.Scenario{
		programs("toy/rw-markers/contend", "A reader looks for a writer, then says that it reads.", fixed,
			markers, broken(scenarios.RWExclusion)),
		programs("toy/rw-flock/contend", "Readers share an flock, a writer has it alone.", three,
			shared, holds(scenarios.RWExclusion)),
		programs("toy/count/contend", "A counter is read and then written.", two,
			alike(counts(false)), broken(scenarios.LostIncrement), broken(scenarios.Serializable)),
		programs("toy/count-flock/contend", "The same under an flock.", two,
			alike(counts(true)), holds(scenarios.LostIncrement), holds(scenarios.Serializable)),
		programs("toy/count-flock/crash", "The same, and one of them may be killed.", scenarios.Setting{Processes: 2, Crashes: 1},
			alike(counts(true)), holds(scenarios.Serializable)),
		programs("toy/count-excl/contend", "A counter under a lock file; who finds it there ends with status 75.", two,
			alike(countsOrRefuses(75)), holds(scenarios.Serializable)),
		programs("toy/count-silent/contend", "A counter under a lock file; who finds it there ends as if it had counted.", two,
			alike(countsOrRefuses(0)), broken(scenarios.Serializable)),
		saves("toy/save-truncate/crash", "A file is emptied and written.", scenarios.Setting{Processes: 1, Crashes: 1},
			"truncate", broken(scenarios.Atomic)),
		saves("toy/save-rename/crash", "A file is written beside and renamed into place.",
			scenarios.Setting{Processes: 2, Crashes: 1}, "", holds(scenarios.Atomic)),
		saves("toy/save-rename/power", "The same, and the power may be lost.", lost, "", broken(scenarios.Atomic)),
		saves("toy/save-sync/power", "It is synced before the rename.", lost, "sync", holds(scenarios.Atomic),
			broken(scenarios.Durable)),
		saves("toy/save-sync-dir/power", "The directory is synced, too.", lost, "sync dir", holds(scenarios.Atomic),
			holds(scenarios.Durable)),
		saves("toy/save-heedless/fails", "Who saves a file does not look at the errors.", fails, "heedless",
			broken(scenarios.Atomic)),
		saves("toy/save-rename/fails", "Who cannot save a file says so.", fails, "", holds(scenarios.Atomic)),
		programs("toy/cursor-own/contend", "Each moves the cursor past its own entry, whether or not those before it are there.", fixed,
			func(i int) scenarios.Program { return appends(i+1, false) }, broken(scenarios.CursorConsistency)),
		programs("toy/cursor-flock/contend", "Each appends after the cursor and moves it, under an flock.", fixed,
			func(i int) scenarios.Program { return appends(i+1, true) }, holds(scenarios.CursorConsistency)),
		programs("toy/value-place/contend", "A value is written in its place.", fixed,
			func(i int) scenarios.Program { return value(i, false) }, broken(scenarios.TornRead)),
		programs("toy/value-rename/contend", "A value is written beside, and renamed into its place.", fixed,
			func(i int) scenarios.Program { return value(i, true) }, holds(scenarios.TornRead)),
		programs("toy/owner-link/contend", "Whoever locks links its name into place; another asks who it is.", fixed,
			owners, holds(scenarios.OwnerInfo)),
		programs("toy/excl-refuse/contend", "Create or fail: who fails has met a holder.", two,
			alike(scenarios.Once(excl())), holds(scenarios.SpuriousFailure)),
		programs("toy/poll-flock/starve", "One polls while another comes and goes.", fixed,
			polls, broken(scenarios.Starvation)),
		programs("toy/wait-flock/starve", "Each waits once.", two,
			alike(waits), holds(scenarios.Starvation)),
		programs("toy/fence-read/contend", "Tokens are counted in a file that is read and then written.", two,
			alike(fenced(false)), broken(scenarios.Fencing)),
		programs("toy/fence-excl/contend", "A token is a name that nobody had before.", two,
			alike(fenced(true)), holds(scenarios.Fencing)),
		programs("toy/assert-look/contend", "Look, then create; the holder's name must be in the lock.", two,
			alike(asserts(look())), broken(scenarios.Assertion), broken(scenarios.MutualExclusion)),
		programs("toy/assert-excl/contend", "Create or fail; the holder's name must be in the lock.", two,
			alike(asserts(excl())), holds(scenarios.Assertion)),
		programs("toy/claim-kept/contend", "Whoever is refused leaves its claim file there.", two,
			alike(claims(false)), broken(scenarios.LeftBehind)),
		programs("toy/claim-removed/contend", "Whoever is refused removes its claim file.", two,
			alike(claims(true)), holds(scenarios.LeftBehind)),
		soon("toy/stale-2h/crash", 2*time.Hour, broken(scenarios.WedgeWithin(time.Hour)),
			holds(scenarios.WedgeWithin(3*time.Hour))),
		soon("toy/stale-1h/crash", time.Hour, holds(scenarios.WedgeWithin(time.Hour)),
			broken(scenarios.WedgeWithin(time.Hour-time.Millisecond))),
		programs("toy/tickets-count/contend", "A ticket's number is how many there are.", two,
			alike(tickets(false)), broken(ticketsDiffer)),
		programs("toy/tickets-excl/contend", "A ticket is a name that nobody had before.", two,
			alike(tickets(true)), holds(ticketsDiffer)),
		programs("toy/move-link/contend", "A job is linked into done and then taken out of todo.", two,
			alike(moves(false)), broken(oneQueue)),
		programs("toy/move-rename/contend", "A job is renamed from todo to done.", two,
			alike(moves(true)), holds(oneQueue)),
		programs("toy/writer-flock/starve", "A writer waits while readers come and go.", three,
			starvesWriter, broken(writerWaits)),
	}
}

func programs(id, summary string, st scenarios.Setting, program func(process int) scenarios.Program, claims ...scenarios.Claim) scenarios.Scenario {
	sc := toy(id, summary, excl(), st, claims...)
	sc.Program = func(process, _ int) scenarios.Program { return program(process) }
	sc.Probe, sc.Watch = nil, []string{Lock, "/run/count", "/run/todo/job", "/run/done/job"}
	sc.Setup = func(m *fsfake.Machine) {
		for _, dir := range []string{"/run/readers", "/run/todo", "/run/done"} {
			if err := m.Proc(1).MkdirAll(dir, 0o755); err != nil {
				panic(err)
			}
		}
		for _, name := range []string{"/run/count", "/run/seen", "/run/todo/job"} {
			if err := m.Proc(1).WriteFile(name, []byte("0"), 0o644); err != nil {
				panic(err)
			}
		}
	}
	return sc
}
