package checker

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Processes that poll for ever for the file of a dead owner never finish, and nobody can ever
// get in: that is a wedge, also when nobody is killed after the start.
func TestPollingForADeadOwnersFile(t *testing.T) {
	fixtures.OnlyAnswers(t)
	dead := func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644) }
	for _, c := range []struct {
		name    string
		lock    scenarios.Protocol
		setting scenarios.Setting
		setup   func(m *fsfake.Machine)
		want    Verdict
	}{
		{"left behind", fixtures.ExclWait(), scenarios.Setting{Processes: 2}, dead, Broken},
		{"killed", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: 1}, nil, Broken},
		{"nobody dies", fixtures.ExclWait(), scenarios.Setting{Processes: 2}, nil, Holds},
		{"the kernel frees it", fixtures.Flock(), scenarios.Setting{Processes: 2, Crashes: 1}, dead, Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := fixtures.New("toy/poll/dead", c.lock, c.setting)
			sc.Setup = c.setup
			r, err := Check(context.Background(), sc, scenarios.Wedge, Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, r.Verdict, r.Why)
			if c.want != Broken {
				return
			}
			again, err := Replay(sc, scenarios.Wedge, r.Counterexample.Schedule)
			require.NoError(t, err)
			require.True(t, again.Broken)
			require.NotEmpty(t, r.Counterexample.Cause)
		})
	}
}

// A call that fails once need not fail: what nothing but that leads out of is a trap, whatever may
// still fail. Whoever takes every error of stat for "the file is gone" gets in by one.
func TestTrapsThatFailingCallsLeadOutOf(t *testing.T) {
	fixtures.OnlyAnswers(t)
	lock := scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if _, err := t.Stat(fixtures.Lock); err != nil {
					break
				}
				t.Sleep(1e9)
			}
			return scenarios.Hold{}, t.WriteFile(fixtures.Lock, nil, 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}
	for failing := range 3 {
		sc := fixtures.New("toy/poll/fails", lock, scenarios.Setting{Processes: 1, FailingCalls: failing, FailWith: []syscall.Errno{fsfake.EACCES}})
		sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644) }
		for _, engine := range engines(t) {
			r, err := Check(context.Background(), sc, scenarios.Wedge, Options{oracle: engine})
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict, "%d calls may fail, reference %t: %s", failing, engine != nil, r.Why)
			require.Equal(t, "A1", r.Counterexample.Schedule.String(), "%d calls may fail", failing)
		}
	}
}

// Whoever can still get in is not locked out by others who poll for ever.
func TestPollingForSomethingElse(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fixtures.New("toy/poll/else", fixtures.Flock(), scenarios.Setting{Processes: 2})
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			for retry := t.Retry(); retry.Next(); {
				if _, err := t.Stat("/never"); err == nil {
					return
				}
				t.Sleep(1e9)
			}
		}
	}
	r, err := Check(context.Background(), sc, scenarios.Wedge, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict, r.Why)
}

// Real programs are to end: all of them polling for ever is no end.
func TestRealProgramsThatPollForEver(t *testing.T) {
	sc := external(pollingFor(0, false), true)
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/tmp/lock", nil, 0o644) }
	r, err := Check(context.Background(), sc, scenarios.Deadlock, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict, r.Why)
	again, err := Replay(sc, scenarios.Deadlock, r.Counterexample.Schedule)
	require.NoError(t, err)
	require.True(t, again.Broken)
	sc.Setup = nil
	r, err = Check(context.Background(), sc, scenarios.Deadlock, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict, r.Why)
}
