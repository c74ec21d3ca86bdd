package checkertest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// capture is a rapid.TB that keeps what a test would print.
type capture struct {
	name   string
	log    strings.Builder
	failed bool
}

func (c *capture) Helper()        {}
func (c *capture) Name() string   { return c.name }
func (c *capture) Fail()          { c.failed = true }
func (c *capture) Failed() bool   { return c.failed }
func (c *capture) FailNow()       { c.failed = true; runtime.Goexit() }
func (c *capture) SkipNow()       { runtime.Goexit() }
func (c *capture) Log(a ...any)   { fmt.Fprintln(&c.log, a...) }
func (c *capture) Error(a ...any) { c.Log(a...); c.Fail() }
func (c *capture) Fatal(a ...any) { c.Log(a...); c.FailNow() }
func (c *capture) Skip(a ...any)  { c.Log(a...); c.SkipNow() }
func (c *capture) Logf(f string, a ...any) {
	fmt.Fprintf(&c.log, f+"\n", a...)
}
func (c *capture) Errorf(f string, a ...any) { c.Logf(f, a...); c.Fail() }
func (c *capture) Fatalf(f string, a ...any) { c.Logf(f, a...); c.FailNow() }
func (c *capture) Skipf(f string, a ...any)  { c.Logf(f, a...); c.SkipNow() }

// captured runs f as a test of its own and returns what it printed.
func captured(name string, f func(t *capture)) *capture {
	c := &capture{name: name}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		f(c)
	}()
	<-done
	return c
}

// schedule returns the last schedule that a captured test printed.
func (c *capture) schedule(t *testing.T) sched.Schedule {
	t.Helper()
	i := strings.LastIndex(c.log.String(), "schedule  ")
	require.GreaterOrEqual(t, i, 0, c.log.String())
	text, _, _ := strings.Cut(c.log.String()[i+len("schedule  "):], "\n")
	s, err := sched.ParseSchedule(text)
	require.NoError(t, err)
	return s
}

// Every reported race is found within Runs drawn schedules, and shrinks to a few
// preemptions.
func TestRapidFindsEveryReportedRace(t *testing.T) {
	testmain.Slow(t, "it draws schedules until it finds each race", "./checker/checkertest")
	fixtures.OneWorker(t)
	t.Parallel()
	each := testmain.Many(8, 4, 1)
	for i, sc := range all.Core() {
		if i%each != 0 {
			continue
		}
		for _, c := range sc.Claims {
			if c.Verdict != scenarios.Broken || c.Property == scenarios.Starvation {
				continue
			}
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				runner, err := checker.NewRunner(&sc, c.Property)
				require.NoError(t, err)
				drawn, err := search(runner, &sc, Runs)
				require.NoError(t, err)
				require.NotNil(t, drawn, "not found in %d schedules", Runs)
				got := captured(t.Name(), func(t *capture) { Rapid(t, sc, c.Property) })
				require.True(t, got.failed)
				ran, err := checker.Replay(&sc, c.Property, got.schedule(t))
				require.NoError(t, err)
				require.True(t, ran.Broken)
				cost := ran.Counterexample.Cost
				t.Logf("%s, shrunk to %s: %+v", drawn, ran.Counterexample.Schedule, cost)
				require.LessOrEqual(t, cost.Preemptions, 6)
			})
		}
	}
}
