package checker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// asClaimed checks the one claim of a toy and replays what it finds.
func asClaimed(t *testing.T, sc *scenarios.Scenario) Result {
	t.Helper()
	c := sc.Claims[0]
	r, err := Check(context.Background(), sc, c.Property, Options{})
	require.NoError(t, err)
	require.Equal(t, c.Verdict, r.Verdict, "%s %s: %s", sc.ID, c.Property, r.Why)
	if r.Verdict == Broken {
		again, err := Replay(sc, c.Property, r.Counterexample.Schedule)
		require.NoError(t, err)
		require.True(t, again.Broken, "%s: %s", sc.ID, r.Counterexample.Schedule)
		require.Equal(t, r.Counterexample.Cycle, again.Counterexample.Cycle)
		require.Equal(t, r.Counterexample.Waits, again.Counterexample.Waits)
	}
	return r
}

func TestDeadlockInTheGraph(t *testing.T) {
	sc := fixtures.Programs("toy/flock-twice/contend", scenarios.Setting{Processes: 2}, flockTwice,
		scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken})
	r := asClaimed(t, sc)
	// A has /a and is preempted; B has /b and waits for /a; A will wait for /b.
	require.Equal(t, "A3 B4 A1", r.Counterexample.Schedule.String())
	require.Equal(t, trace.Cost{Preemptions: 1, Steps: 8}, r.Counterexample.Cost)
	require.Len(t, r.Counterexample.Waits, 2)

	// A crash is no way out that anything forces: with one left it is a deadlock still.
	sc.Setting.Crashes = 1
	require.Equal(t, r.Counterexample.Schedule, asClaimed(t, sc).Counterexample.Schedule)

	// In one order nobody waits for ever.
	sc.Setting.Crashes = 0
	sc.Program = func(int, int) scenarios.Program { return flockTwice(0, 1) }
	sc.Claims[0].Verdict = Holds
	asClaimed(t, sc)
}

// Wedge: time passes for the fresh process, so a lease runs out and a sentinel does not.
func TestWedgeInTheGraph(t *testing.T) {
	fixtures.OnlyAnswers(t)
	crash := scenarios.Setting{Processes: 2, Crashes: 1}
	claim := func(v Verdict) scenarios.Claim { return scenarios.Claim{Property: scenarios.Wedge, Verdict: v} }
	r := asClaimed(t, fixtures.New("toy/excl/crash", fixtures.Excl(), crash, claim(Broken)))
	require.Equal(t, "A1! B2", r.Counterexample.Schedule.String())
	r = asClaimed(t, fixtures.New("toy/excl-wait/crash", fixtures.ExclWait(), crash, claim(Broken)))
	// B polls for ever and is not finished: the wedge needs B to end before A dies.
	require.Equal(t, 1, r.Counterexample.Cost.Crashes)
	asClaimed(t, fixtures.New("toy/flock/crash", fixtures.Flock(), crash, claim(Holds)))
	asClaimed(t, fixtures.New("toy/mkdir-lease/crash", mkdirLease(), crash, claim(Holds)))
	asClaimed(t, fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2}, claim(Holds)))

	// A lease of a year is longer than anybody waits.
	year := mkdirLease()
	acquire := year.Acquire
	year.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		st, err := t.Stat(fixtures.Lock)
		if err == nil && t.Now().Sub(st.ModTime()) < 365*24*time.Hour {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return acquire(t)
	}
	asClaimed(t, fixtures.New("toy/mkdir-lease/year", year, crash, claim(Broken)))
}

func TestStarvation(t *testing.T) {
	fixtures.OnlyAnswers(t)
	// Whoever finds the lock free takes it: the other may always come too late.
	r := asClaimed(t, newForEver("toy/test-and-set/forever", testAndSet(), 2, claimStarvation(Broken)))
	ce := r.Counterexample
	require.Positive(t, ce.Cycle)
	require.LessOrEqual(t, ce.Cycle, len(ce.Schedule))
	require.Len(t, ce.Waits, 1)

	// Both step in the cycle, and going round it again starves as well.
	around := ce.Schedule[len(ce.Schedule)-ce.Cycle:]
	twice := append(append(sched.Schedule(nil), ce.Schedule...), around...)
	again, err := Replay(r.Scenario, scenarios.Starvation, twice)
	require.NoError(t, err)
	require.True(t, again.Broken)
	require.True(t, bothStep(around), "%s", around)

	// The way into the cycle alone is no starvation.
	again, err = Replay(r.Scenario, scenarios.Starvation, ce.Schedule[:len(ce.Schedule)-ce.Cycle])
	require.NoError(t, err)
	require.False(t, again.Broken)

	// A kernel lock that waiters may be granted in any order starves too.
	asClaimed(t, newForEver("toy/flock/forever", fixtures.Flock(), 2, claimStarvation(Broken)))

	// Once everybody wants it once only, everybody gets it.
	asClaimed(t,
		fixtures.New("toy/test-and-set/once", testAndSet(), scenarios.Setting{Processes: 3}, claimStarvation(Holds)))
	asClaimed(t, fixtures.New("toy/flock/once", fixtures.Flock(), scenarios.Setting{Processes: 3}, claimStarvation(Holds)))

	// Handed over in turn nobody starves, as long as everybody wants it.
	turns := fixtures.Programs("toy/turns/forever", scenarios.Setting{Processes: 2}, fixtures.Same(turns),
		claimStarvation(Holds))
	turns.Setup = setupTurns
	asClaimed(t, turns)
	alone := *turns
	alone.ID = "toy/turns/alone"
	alone.Setting.Processes = 1
	alone.Claims = []scenarios.Claim{claimStarvation(Broken)}
	asClaimed(t, &alone)
}

// Tickets are handed out under a kernel lock, at which one may starve; who has a ticket
// gets in.
func TestStarvationOfTickets(t *testing.T) {
	fixtures.OnlyAnswers(t)
	r := asClaimed(t, newForEver("toy/tickets/forever", tickets(), 2, claimStarvation(Broken)))
	require.Equal(t, trace.Starves, r.Counterexample.Waits[0].How)
	sc := newForEver("toy/tickets/forever", tickets(), 2,
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Holds})
	sc.Program = func(int, int) scenarios.Program { return scenarios.Once(tickets()) }
	asClaimed(t, sc)
	sc.Claims[0] = claimStarvation(Holds)
	asClaimed(t, sc)
}

func bothStep(s sched.Schedule) bool {
	who := map[int]bool{}
	for _, c := range s {
		who[c.Task.Process] = true
	}
	return len(who) == 2
}

// Starvation asks the whole graph: a budget that ends first gives Unknown.
func TestStarvationNeedsTheWholeGraph(t *testing.T) {
	sc := newForEver("toy/test-and-set/forever", testAndSet(), 2, claimStarvation(Broken))
	r, err := Check(context.Background(), sc, scenarios.Starvation, Options{States: 3})
	require.NoError(t, err)
	require.Equal(t, Unknown, r.Verdict)
	require.NotEmpty(t, r.Why)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	r, err = Check(ctx, sc, scenarios.Starvation, Options{})
	require.NoError(t, err)
	require.Equal(t, Unknown, r.Verdict)
}
