package saved

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// noisy makes a protocol look at a file that is not there, before some of its calls: that
// changes nothing but the schedules.
func noisy(sc scenarios.Scenario, before func(n int) bool) scenarios.Scenario {
	program := sc.Program
	sc.Program = func(process, task int) scenarios.Program {
		inner := program(process, task)
		return func(t *scenarios.Task) {
			inner(scenarios.NewTask(&noisyPort{t.Proc, before, 0}, process, task))
		}
	}
	return sc
}

type noisyPort struct {
	*fsfake.Proc
	before func(n int) bool
	n      int
}

func (p *noisyPort) Do(op fsfake.Op) fsfake.Result {
	if p.before(p.n) && !op.Call.IsCell() {
		p.Proc.Do(fsfake.Op{Call: fsfake.CallStat, Path: "/no/such/file"})
	}
	p.n++
	return p.Proc.Do(op)
}

var noises = map[string]func(n int) bool{
	"at the top":       func(n int) bool { return n == 0 },
	"in the middle":    func(n int) bool { return n == 2 },
	"before each call": func(int) bool { return true },
}

// firstRoundOnly names the cases in which the call more stands in the first round of a loop and
// in no later one. Such a program is refused, because a round must not carry anything over: the
// probe for a wedge tries the loops out.
var firstRoundOnly = map[string]bool{
	"gateguard/excl-rmw/crash wedge at the top":           true,
	"gateguard/excl-rmw/crash wedge in the middle":        true,
	"openclaw-takeover/guarded/crash wedge in the middle": true,
}

// A known is a schedule that breaks a property of a scenario.
type known struct {
	sc       scenarios.Scenario
	property *scenarios.Property
	schedule sched.Schedule
}

// knowns lists the counterexamples of the toys, and those that are on record.
func knowns(t *testing.T) []known {
	var out []known
	for _, sc := range toys.All() {
		for _, c := range sc.Claims {
			r, err := checker.Check(t.Context(), &sc, c.Property, checker.Options{SkipOdds: true})
			require.NoError(t, err)
			if r.Verdict == checker.Broken {
				out = append(out, known{sc, c.Property, r.Counterexample.Schedule})
			}
		}
	}
	if testing.Short() {
		return out
	}
	text, err := os.ReadFile("../../testdata/smallest.golden")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		id, property, found := strings.Cut(l, " ")
		if strings.HasPrefix(l, " ") || !found {
			continue
		}
		p, err := scenarios.FindProperty(property)
		require.NoError(t, err)
		s, err := sched.ParseSchedule(lines[i+1])
		require.NoError(t, err)
		for _, sc := range all.Core() {
			if sc.ID == id && !p.OfCycles() {
				out = append(out, known{sc, p, s})
			}
		}
	}
	require.Greater(t, len(out), 20)
	return out
}

// The smallest counterexample of a protocol is found in one that makes some calls more,
// and the other way round.
func TestFollowAligns(t *testing.T) {
	aligned := 0
	for _, k := range knowns(t) {
		ran, err := checker.Replay(&k.sc, k.property, k.schedule)
		require.NoError(t, err)
		require.True(t, ran.Broken)
		clean := Recipe{ran.Counterexample.Schedule, report.CallsOf(ran.Counterexample.Trace)}
		for name, before := range noises {
			loud := noisy(k.sc, before)
			got, err := Follow(&loud, k.property, clean)
			if firstRoundOnly[k.sc.ID+" "+k.property.ID+" "+name] {
				require.ErrorContains(t, err, "a retry round carries something over")
				continue
			}
			require.NoError(t, err)
			require.True(t, got.Broken, "%s %s, with a call more %s: %s", k.sc.ID, k.property, name, k.schedule)
			if got.Aligned {
				aligned++
			}
			back, err := Follow(&k.sc, k.property, Recipe{got.Counterexample.Schedule, report.CallsOf(got.Counterexample.Trace)})
			require.NoError(t, err)
			require.True(t, back.Broken, "%s %s, back from a call more %s: %s", k.sc.ID, k.property, name, got.Counterexample.Schedule)
		}
	}
	require.Greater(t, aligned, 10)
}

// Without calls a schedule is followed as far as it goes, and the result says where that was.
func TestFollowInPart(t *testing.T) {
	sc := toys.All()[1]
	s, err := sched.ParseSchedule("A1 B9 A9")
	require.NoError(t, err)
	got, err := Follow(&sc, scenarios.MutualExclusion, Recipe{Schedule: s})
	require.NoError(t, err)
	require.False(t, got.Broken || got.Aligned)
	require.True(t, got.Finished)
	require.Equal(t, 4, got.Left.Step)

	s, err = sched.ParseSchedule("A1 Q1")
	require.NoError(t, err)
	_, err = Follow(&sc, scenarios.MutualExclusion, Recipe{Schedule: s})
	require.ErrorContains(t, err, "names task Q")
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"A stat /lock", "A stat /lock", true},
		{"A open /lock O_CREAT", "A open /lock O_CREAT|O_EXCL", true},
		{`A write fd 3 "1"`, `A write fd 4 "22"`, true},
		{"A exit", "A exit", true},
		{"A stat /lock", "B stat /lock", false},
		{"A stat /lock", "A open /lock", false},
		{"A stat /lock", "A stat /other", false},
		{"A", "A", false},
	} {
		require.Equal(t, c.want, alike(c.a, c.b), "%s, %s", c.a, c.b)
	}
}
