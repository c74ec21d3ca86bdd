package checkertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

const toyLock = "/lock"

// toyScenario is two processes at a lock that looks and then writes, or creates.
func toyScenario(exclusive bool, claim scenarios.Verdict) scenarios.Scenario {
	lock := scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			flags := os.O_CREATE | os.O_WRONLY
			if exclusive {
				flags |= os.O_EXCL
			} else if _, err := t.Stat(toyLock); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			f, err := t.OpenFile(toyLock, flags, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{}, f.Close()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(toyLock) },
	}
	return scenarios.Scenario{
		ID: "toy/lock/contend", Setting: scenarios.Setting{Processes: 2}, Watch: []string{toyLock},
		Program: func(int, int) scenarios.Program { return scenarios.Once(lock) },
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: claim}},
	}
}

func TestRunAsClaimed(t *testing.T) {
	Run(t, toyScenario(true, scenarios.Holds))
	Run(t, toyScenario(false, scenarios.Broken))
}

// What a verdict assumes is told where the test passes, too.
func TestRunTellsConditions(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	program := sc.Program(0, 1)
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			for retry := t.Retry(); retry.Next() && t.Getpid() != 101; { // B waits for A
				if _, err := t.Stat("/done"); err == nil {
					break
				}
			}
			t.Now()
			program(t)
			_ = t.Mkdir("/done", 0o755)
		}
	}
	got := captured("TestX/mutual-exclusion", func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.False(t, got.failed, "%s", got.log)
	require.Contains(t, got.log.String(), "toy/lock/contend: mutual-exclusion: assumes that nobody is delayed")
	const patience = "assumes that a retry loop whose rounds do the same 10000 times goes on for ever"
	require.Contains(t, got.log.String(), patience)

	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	for _, verbose := range []bool{true, false} {
		var shown strings.Builder
		captured("TestX", func(t *capture) { tellConditions(t, &shown, verbose, &r) })
		require.Equal(t, !verbose, strings.Contains(shown.String(),
			"checkertest: toy/lock/contend: mutual-exclusion: assumes that nobody is delayed"), shown.String())
		require.NotContains(t, shown.String(), patience)
	}
}

// A verdict that differs fails the test with everything that one needs to see.
func TestRunShowsTheCounterexample(t *testing.T) {
	sc := toyScenario(false, scenarios.Holds)
	got := captured("TestX/mutual-exclusion", func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.True(t, got.failed)
	log := got.log.String()
	for _, want := range []string{
		"\ntoy/lock/contend  BROKEN (claimed: holds)  mutual-exclusion\n",
		"A  pid 101", "B  pid 102", "open lock O_CREAT  = fd 3", "A and B both hold the lock", "\n  cause   ",
		"\n\nschedule  A1 B3 A2\nreplay    LOCKPICK_SCHEDULE='A1 B3 A2' go test -run '^TestX$/^mutual-exclusion$' .\n" +
			"toy/lock/contend: mutual-exclusion is broken\n",
	} {
		require.Contains(t, log, want)
	}

	sc = toyScenario(true, scenarios.Broken)
	got = captured("TestX", func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "toy/lock/contend: mutual-exclusion: the verdict is holds, the scenario claims broken.")
}

// What a test shows is what the command explain --source shows, but for the column of lines
// and the command that replays it: the counterexample is the smallest, and its odds are known.
func TestRunShowsWhatExplainShows(t *testing.T) {
	sc := toyScenario(false, scenarios.Holds)
	r, err := checker.Check(t.Context(), &sc, scenarios.MutualExclusion, checker.Options{})
	require.NoError(t, err)
	var explain strings.Builder
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, report.Timeline(&explain, &r, report.Options{Places: true, Root: dir}))
	shown, _, found := strings.Cut(explain.String(), "  replay  lockpick replay ")
	require.True(t, found)
	require.Contains(t, shown, "no smaller one exists · hit by 31 % of random runs")
	require.Regexp(t, `\n  source  run_test.go:\d+: step 5, A: open lock O_CREAT ← this one went wrong\n`, shown)
	got := captured("TestX", func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.Contains(t, got.log.String(), strings.TrimRight(shown, "\n")+"\n\nschedule  A1 B3 A2\nreplay    LOCKPICK_SCHEDULE=")
}

// What is too large, or not asked at all, is no pass.
func TestRunOfTooMuchAndOfNothing(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := captured("TestX", func(t *capture) { check(ctx, t, &sc, sc.Claims[0], nil) })
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "toy/lock/contend: mutual-exclusion: no verdict in time: it was stopped: ")
	require.Contains(t, got.log.String(), "Give the test more (-timeout), or ask for less")

	if os.Getenv("LOCKPICK_NOTHING") != "" {
		sc.Claims = nil
		Run(t, sc)
		return
	}
	t.Setenv("LOCKPICK_NOTHING", "1")
	exe, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), exe, "-test.run", "^"+t.Name()+"$").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "Claims is empty: nothing is asked")
}

func TestScheduleInTheEnvironment(t *testing.T) {
	sc := toyScenario(false, scenarios.Holds)
	p := scenarios.MutualExclusion
	both := func(t *capture) {
		check(context.Background(), t, &sc, sc.Claims[0], nil)
		Rapid(t, sc, p)
	}
	t.Setenv(ScheduleVar, "A1 B3 A2")
	got := captured("TestX", both)
	require.True(t, got.failed)
	require.Equal(t, "A1 B3 A2", got.schedule(t).String())

	t.Setenv(ScheduleVar, "A5")
	got = captured("TestX", both)
	require.False(t, got.failed)
	require.Contains(t, got.log.String(), "toy/lock/contend: mutual-exclusion: schedule A5 does not break it")

	t.Setenv(ScheduleVar, "A50")
	got = captured("TestX", both)
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "step 7 of the schedule (A1) cannot happen")

	t.Setenv(ScheduleVar, "A5 b2")
	got = captured("TestX", both)
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), `LOCKPICK_SCHEDULE: sched: schedule element 2, "b2"`)
}

// The search is the same every time, and so is what its finding is made smaller to.
func TestRapidIsDeterministic(t *testing.T) {
	sc := toyScenario(false, scenarios.Holds)
	find := func() (string, string) {
		got := captured("TestX", func(t *capture) { Rapid(t, sc, scenarios.MutualExclusion) })
		require.True(t, got.failed)
		return got.schedule(t).String(), got.log.String()
	}
	schedule, log := find()
	again, _ := find()
	require.Equal(t, schedule, again)
	require.Len(t, parse(t, schedule), 6)
	require.Contains(t, log, "toy/lock/contend: mutual-exclusion is broken")
}

func TestRapidFindsNothingInALockThatHolds(t *testing.T) {
	fixtures.OneWorker(t)
	got := captured("TestX", func(t *capture) { Rapid(t, toyScenario(true, scenarios.Holds), scenarios.MutualExclusion) })
	require.False(t, got.failed)
	require.Contains(t, got.log.String(), "10000 drawn schedules broke nothing, which proves nothing")
}

// What is wrong with a scenario is said as it is, not shrunk.
func TestRapidReportsAFaultyScenario(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	got := captured("TestX", func(t *capture) { Rapid(t, sc, &scenarios.Property{ID: "no-meaning"}) })
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), `property "no-meaning": Meaning is missing`)

	sc.Program = nil
	require.PanicsWithError(t, `scenarios: scenario "toy/lock/contend": Program is missing`, func() { Schedules(&sc) })
}

// Property is a property like any other: it fails when the lock is broken, and holds
// when it is not.
func TestProperty(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	t.Run("holds", rapid.MakeCheck(Property(&sc, scenarios.MutualExclusion)))
}

// Drawn schedules use what the setting has, and no more.
func TestSchedulesStayWithinTheSetting(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	sc.Setting = scenarios.Setting{Processes: 3, Crashes: 1, Mortal: []int{1}}
	g := Schedules(&sc)
	seen := map[string]bool{}
	for seed := range 300 {
		kills := 0
		for _, p := range g.Example(seed) {
			seen[p.Choice.String()] = true
			if p.Choice.Action != sched.Run {
				kills++
			}
		}
		require.LessOrEqual(t, kills, 1)
		require.Equal(t, g.Example(seed), g.Example(seed))
	}
	require.Equal(t, map[string]bool{"A1": true, "B1": true, "C1": true, "B!": true}, seen)
}

func parse(t *testing.T, text string) sched.Schedule {
	t.Helper()
	s, err := sched.ParseSchedule(text)
	require.NoError(t, err)
	return s
}

// A lock that nobody ever gets passes neither as a claim nor under drawn schedules.
func TestWhoeverIsAlwaysRefused(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Acquire(toyLock, func() (scenarios.Hold, error) {
				f, err := t.OpenFile("/run/lock", os.O_CREATE|os.O_EXCL, 0o644)
				return scenarios.Hold{File: f}, err
			})
		}
	}
	for _, run := range []func(t *capture){
		func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) },
		func(t *capture) { Rapid(t, sc, scenarios.MutualExclusion) },
	} {
		got := captured(t.Name(), run)
		require.True(t, got.failed)
		require.Contains(t, got.log.String(), "nobody ever acquired: open /run/lock O_CREAT|O_EXCL: ENOENT at step 1 (A); make /run in Setup")
	}
}

// A claim that holds although nobody was ever in anybody's way says so.
func TestRunTellsOfNoContention(t *testing.T) {
	sc := toyScenario(true, scenarios.Holds)
	sc.Program = func(int, int) scenarios.Program { return func(t *scenarios.Task) { _, _ = t.Stat("/") } }
	sc.Claims[0].Property = scenarios.Deadlock
	got := captured(t.Name(), func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.False(t, got.failed)
	require.Contains(t, got.log.String(), "but in no schedule did a task ever meet another's lock")
}
