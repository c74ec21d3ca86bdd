package checker

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// harmless are the mutants that break nothing, each with the reason. They are checked
// to hold, so that the list says what is so.
var harmless = map[string]string{
	"gateguard/lease-rmw/contend: open without O_EXCL":               "only the temporary file, whose name is the process's own; the link excludes",
	"gateguard/key-files/contend: open without O_EXCL":               "every process creates a key of its own, and nobody truncates",
	"openclaw-takeover/guarded/dead-owner: open without O_EXCL":      "only the temporary file, whose name is the process's own; the link excludes",
	"openclaw-release/original-starttime/tasks+peer: memory forgets": "tasks of one process then contend for the file like strangers",
	"ctx/flock/crash: no release":                                    "the process exits, and the kernel releases",
	"agentwire/flock-only/crash: no release":                         "the process exits, and the kernel releases",
}

// Every "holds" of the catalogue stands on every line of its protocol that a mutator
// knows: without it the verdict is "broken".
func TestMutantsAreNoticed(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: all rows that hold, once for each mutant, take too long, and what workers share does not depend on the program: TestWorkersAgree has them side by side; go test ./checker runs it")
	}
	t.Parallel()
	safety, wedge := mutators()
	seen := map[string]bool{}
	for _, sc := range fixtures.Rows() {
		if largeRows[sc.ID] && !testmain.Long() {
			continue
		}
		for _, c := range sc.Claims {
			if c.Verdict != scenarios.Holds {
				continue
			}
			list := safety
			if c.Property == scenarios.Wedge {
				list = wedge
			}
			noticed := 0
			for _, m := range list {
				v := verdictOfMutant(t, sc, c.Property, m)
				id := sc.ID + ": " + m.name
				seen[id] = true
				switch _, ok := harmless[id]; {
				case v == Unknown: // it does not apply
				case ok:
					require.Equal(t, Holds, v, "%s %s", id, c.Property)
				default:
					require.Equal(t, Broken, v, "%s %s", id, c.Property)
					noticed++
				}
			}
			require.NotZero(t, noticed, "%s %s: no mutator applies: the claim might be vacuous", sc.ID, c.Property)
		}
	}
	if !testmain.Long() {
		return // some rows, and so some mutants
	}
	for id := range harmless {
		require.True(t, seen[id], id)
	}
}

// verdictOfMutant is Unknown when the mutator found nothing to change. Few preemptions, where numbers
// come back and times are shared, show most mistakes: what is broken there is broken. Only what survives
// that is explored in full.
func verdictOfMutant(t *testing.T, sc scenarios.Scenario, p *scenarios.Property, m mutator) Verdict {
	hits := 0
	mutant := mutate(small(sc, m), m, &hits)
	if _, err := Sample(untilHit{t.Context(), &hits}, mutant, p, SampleOptions{Runs: 300, KeepGoing: true, Unjudged: true}); hits == 0 {
		require.NoError(t, err, "%s: %s", sc.ID, m.name)
		return Unknown
	}
	st, few := mutant.Setting, 3
	if st.Assume == (scenarios.Assumptions{}) {
		st.Assume = scenarios.Assumptions{Inodes: scenarios.InodesReused, Times: scenarios.TimesShared}
	}
	hardest, err := mutant.In(st)
	require.NoError(t, err)
	r, err := Check(context.Background(), &hardest, p, Options{Preemptions: &few, SkipOdds: true})
	if err == nil && r.Verdict != Broken {
		r, err = Check(context.Background(), mutant, p, Options{SkipOdds: true})
	}
	if errors.Is(err, ErrNothingToJudge) {
		return Broken // it is noticed: there is no verdict
	}
	require.NoError(t, err, "%s: %s", sc.ID, m.name)
	require.NotEqual(t, Unknown, r.Verdict)
	return r.Verdict
}

// untilHit is a context that ends when a mutator has changed something.
type untilHit struct {
	context.Context
	hits *int
}

func (c untilHit) Err() error {
	if *c.hits > 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// small is a scenario with two processes where it can be: what is wrong with a mutant
// shows with two, and it is soon said. A file unlinked at release takes a third, who
// creates it anew while the second holds the old one.
func small(sc scenarios.Scenario, m mutator) scenarios.Scenario {
	n := 2
	if m.name == "release unlinks" {
		n, sc.Setting.Crashes = 3, 0
	}
	if s, err := sc.WithProcesses(n); err == nil {
		return s
	}
	return sc
}
