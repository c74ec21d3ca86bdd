package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A space that needs more executions than are made at first, and is covered soon, costs as many as without schedules
// with few preemptions: what holds with these is not looked at apart.
func TestFewPreemptionsCostNothing(t *testing.T) {
	testmain.OnlyLong(t, "the counters under flock(1) are decided in the same way", "./scenarios/command")
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED with -short: 160 executions take seconds; go test ./scenarios/command runs it")
	}
	line := "flock n sh counter.sh; flock n sh counter.sh; flock n sh counter.sh"
	sc := scenario(t, "sh", twice(line), map[string]string{"n": "0\n"}, "")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict, r.Why)
	require.Contains(t, r.Attempts, checker.Attempt{Name: "few preemptions", Why: "few preemptions break nothing"})
	require.LessOrEqual(t, r.Stats.Coroutines, 160)
}

// A lock that is taken over when it is old is broken by a delay of its owner. Where polling has many paths, such
// schedules come before all others.
func TestSlowOwnersComeFirst(t *testing.T) {
	testmain.Slow(t, "it executes commands that sleep", "./scenarios/command")
	const lease = `while ! (set -C; : >lock) 2>/dev/null; do
  [ $(($(date +%s) - $(stat -c %Y lock))) -gt 3 ] && rm -f lock && continue
  sleep 1
done
read x < n; echo $((x+1)) > n; rm lock
`
	files := map[string]string{"n": "0\n", "slow.sh": lease}
	sc := scenario(t, "date", twice("sh slow.sh"), files, "stalls 1\nstall-for 4s")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r := decide(t, sc, p, "broken")
	require.Less(t, r.Stats.Coroutines, 150)
}
