package checker

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/sched"
)

// makeLock creates the lock, or says that it is there.
func makeLock(t *scenarios.Task) error {
	f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		err = f.Close()
	}
	return err
}

// takeStale creates the lock, also in place of one that is older than the lease.
func takeStale(t *scenarios.Task) error {
	err := makeLock(t)
	if err == nil {
		return nil
	}
	if st, stat := t.Stat(fixtures.Lock); stat == nil && t.Now().Sub(st.ModTime()) > lease {
		_ = t.Unlink(fixtures.Lock)
		err = makeLock(t)
	}
	return err
}

// leased is a holder that works for some time, and a contender that may wait before it looks.
func leased(works, waits time.Duration, polls bool) *scenarios.Scenario {
	acquire := func(t *scenarios.Task) (scenarios.Hold, error) {
		if t.Index == 0 {
			return scenarios.Hold{}, makeLock(t)
		}
		if !polls {
			t.Sleep(waits)
			return scenarios.Hold{}, takeStale(t)
		}
		for retry := t.Retry(); retry.Next(); {
			if takeStale(t) == nil {
				return scenarios.Hold{}, nil
			}
			t.Sleep(waits)
		}
		panic("unreachable")
	}
	p := scenarios.Protocol{Path: fixtures.Lock, Acquire: acquire, Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) }}
	sc := fixtures.New("toy/sleeps/lease", p, scenarios.Setting{Processes: 2, Fixed: true})
	sc.Program = func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, p, func() {
				if process == 0 && works > 0 {
					t.Sleep(works)
				}
				t.Work()
			})
		}
	}
	return sc
}

// fischer is the lock that works by waiting alone: whoever still reads its own name after the wait
// has the lock.
func fischer(waits time.Duration, punctual ...int) *scenarios.Scenario {
	const name = "/x"
	acquire := func(t *scenarios.Task) (scenarios.Hold, error) {
		if text, _ := t.ReadFile(name); string(text) != "0" {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		_ = t.Rename("/"+t.Process, name)
		if waits > 0 {
			t.Sleep(waits)
		}
		if text, _ := t.ReadFile(name); string(text) != t.Process {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, nil
	}
	p := scenarios.Protocol{Path: name, Acquire: acquire, Release: func(t *scenarios.Task, _ scenarios.Hold) error { t.Work(); return nil }}
	sc := fixtures.New("toy/sleeps/fischer", p, scenarios.Setting{Processes: 2, Punctual: punctual})
	sc.Setup = func(m *fsfake.Machine) {
		_ = m.Proc(1).WriteFile(name, []byte("0"), 0o644)
		_ = m.Proc(1).WriteFile("/A", []byte("A"), 0o644)
		_ = m.Proc(1).WriteFile("/B", []byte("B"), 0o644)
	}
	return sc
}

// claiming is a scenario of one program for two processes, which asserts what it sees.
func claiming(program scenarios.Program) *scenarios.Scenario {
	sc := fixtures.Programs("toy/sleeps/asserting", scenarios.Setting{Processes: 2}, fixtures.Same(program), scenarios.Claim{Property: scenarios.Assertion, Verdict: scenarios.Holds})
	sc.Watch = []string{"/A"}
	return sc
}

// waitsAndLooks writes a file, waits, and looks how old it is.
func waitsAndLooks(t *scenarios.Task) {
	_ = t.WriteFile("/"+t.Process, []byte("x"), 0o644)
	t.Sleep(2 * time.Second)
	st, err := t.Stat("/" + t.Process)
	t.Assert(err == nil && t.Now().Sub(st.ModTime()) >= 2*time.Second, "what was written before the wait is as old as the wait")
}

// changesTwice changes a file twice, with a wait in between, and looks whether the times differ.
func changesTwice(t *scenarios.Task) {
	_ = t.WriteFile("/"+t.Process, []byte("x"), 0o644)
	first, _ := t.Stat("/" + t.Process)
	t.Sleep(time.Second)
	_ = t.WriteFile("/"+t.Process, []byte("y"), 0o644)
	second, _ := t.Stat("/" + t.Process)
	t.Assert(second.ModTime().After(first.ModTime()), "a change after a wait shows in the time")
}

// pollsWithWaits looks twice in each round, with a wait between, at a clock that must have moved.
func pollsWithWaits(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		before := t.Now()
		t.Sleep(time.Second)
		t.Assert(t.Now().Sub(before) >= time.Second, "the clock has moved by what was slept")
		if makeLock(t) == nil {
			_ = t.Unlink(fixtures.Lock)
			return
		}
	}
}

// Sleeps take as long as they say where somebody can see it: whoever waits long enough is right, and
// whoever holds a lock for longer than its lease is found out.
func TestSleepsLast(t *testing.T) {
	testmain.Slow(t, "it asks every engine about sleeps that last", "./checker")
	const nobody = "assumes that nobody is delayed: the clock is read, and no stall is allowed"
	for _, c := range []struct {
		name string
		sc   *scenarios.Scenario
		want Verdict
		if_  []string
	}{
		{"waits and looks", claiming(waitsAndLooks), Holds, []string{nobody}},
		{"changes twice", claiming(changesTwice), Holds, []string{"holds whether or not a change after a look shows in the time stamp"}},
		{"polls with waits", claiming(pollsWithWaits), Holds, []string{nobody}},
		{"a holder that works for longer than the lease", leased(20*time.Second, time.Second, true), Broken, nil},
		{"and a contender that does not wait", leased(20*time.Second, 0, false), Broken, nil},
		{"a holder that works for less", leased(4*time.Second, time.Second, true), Holds, []string{nobody}},
		{"a contender that polls, and nobody is delayed", leased(0, time.Second, true), Holds, []string{nobody}},
		{"a contender that waits for longer than the lease", leased(0, 11*time.Second, false), Broken, nil},
		{"a contender that waits for less", leased(0, 9*time.Second, false), Holds, []string{nobody}},
		{"Fischer's lock", fischer(time.Second, 0, 1), Holds, nil},
		{"Fischer's lock, and somebody is slow", fischer(time.Second), Broken, nil},
		{"Fischer's lock without the wait", fischer(0, 0, 1), Broken, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			p := c.sc.Claims[0].Property
			if c.name != "changes twice" { // one case is enough where nobody compares times of two changes
				c.sc.Setting.Assume.Times = scenarios.TimesShared
			}
			tried := &Tried{}
			for name, o := range map[string]Options{
				"graph": {}, "monitors": {Memory: RememberMonitors}, "reference": {oracle: referenceOf(2_000)},
			} {
				o.Tried = tried
				r, err := Check(ctx, c.sc, p, o)
				require.NoError(t, err, name)
				if name == "reference" && (r.early != "" || r.Verdict == Unknown) {
					continue // its budget ended
				}
				require.Equal(t, c.want.String(), r.Verdict.String(), "%s: %s", name, r.Why)
				if name == "graph" {
					require.Equal(t, c.if_, r.Conditions())
				}
				if r.Verdict == Broken {
					again, err := Replay(r.Scenario, p, r.Counterexample.Schedule)
					require.NoError(t, err)
					require.True(t, again.Broken)
				}
			}
			found := false
			for _, d := range sched.Drawings() {
				s, err := Sample(ctx, c.sc, p, SampleOptions{Strategy: d.Name, Runs: 1000, Seed: 1})
				require.NoError(t, err)
				require.False(t, c.want == Holds && s.Verdict == Broken, d.Name)
				found = found || s.Verdict == Broken
			}
			require.Equal(t, c.want == Broken, found)
		})
	}
}

// Failing calls are not combined with sleeps that last: the verdict says what it assumes.
func TestSleepsAndFailingCalls(t *testing.T) {
	sc := claiming(waitsAndLooks)
	sc.Setting.FailingCalls, sc.Setting.Assume.Times = 1, scenarios.TimesShared
	r, err := Check(t.Context(), sc, sc.Claims[0].Property, Options{SkipOdds: true})
	require.NoError(t, err)
	require.Contains(t, strings.Join(r.Conditions(), "; "), map[Verdict]string{
		Broken: "assumes that a sleep may end early", Holds: "assumes that no time passes while somebody sleeps",
	}[r.Verdict])
	sc.Setting.Assume.Sleeps = scenarios.SleepsLast
	_, err = Check(t.Context(), sc, sc.Claims[0].Property, Options{})
	require.ErrorContains(t, err, "failing calls and sleeps that last are not compared with anything together")
}
