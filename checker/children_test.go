package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A child without a program that keeps what it inherited is no wedge and no proof: nobody knows
// what it does. Before, the text said that every process has ended or died, while it lived.
func TestWedgeWithALivingChildGetsNoVerdict(t *testing.T) {
	sc := plain(scenarios.Wedge, func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile("/lock", fsfake.O_CREAT|fsfake.O_RDWR, 0o600)
		if err != nil {
			return scenarios.Hold{}, err
		}
		if err := f.Flock(fsfake.LOCK_EX); err != nil {
			return scenarios.Hold{}, err
		}
		_ = t.Do(fsfake.Op{Call: fsfake.CallFork})
		return scenarios.Hold{File: f}, nil
	})
	sc.Setting.Processes = 1
	sc.Probe = func(t *scenarios.Task) error {
		f, err := t.OpenFile("/lock", fsfake.O_CREAT|fsfake.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return f.Flock(fsfake.LOCK_EX)
	}
	for _, engine := range engines(t) {
		_, err := Check(t.Context(), sc, scenarios.Wedge, Options{oracle: engine})
		require.ErrorContains(t, err, "process 102 (a fork) outlives all others and has no program")
	}

	// Of one schedule that is said, too, and no more.
	plan, err := sched.ParseSchedule("A4")
	require.NoError(t, err)
	ran, err := Replay(sc, scenarios.Wedge, plan)
	require.NoError(t, err)
	require.True(t, ran.Finished)
	require.False(t, ran.Broken)
	require.Contains(t, ran.Unasked, "was not decided, since the process with pid 102 lives on")

	// It does not keep anybody from finding out what is broken where no child lives.
	lock := sc.Program
	sc.Setting.Processes = 2
	sc.Program = func(process, task int) scenarios.Program {
		if process == 0 {
			return lock(0, task)
		}
		return func(t *scenarios.Task) {
			if _, err := t.Stat("/lock"); err != nil {
				_ = t.Mkdir("/lock", 0o700)
			}
		}
	}
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.Wedge, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)
		require.Contains(t, r.Counterexample.Cause, "B made the directory lock")
		if engine == nil {
			require.False(t, r.Counterexample.Smallest)
			require.Contains(t, r.Why, "it was not asked where a process without a program lives on; a smaller counterexample may exist")
		}
	}
	sc.Setting.Processes, sc.Program = 1, lock

	// One that is there from the beginning is the scenario's own.
	sc.Setup = func(m *fsfake.Machine) { m.AddProc(fsfake.ProcSpec{Pid: 77, Parent: 1}) }
	sc.Program = plain(scenarios.Wedge, create).Program
	sc.Probe = func(t *scenarios.Task) error { _, err := create(t); return err }
	r, err := Check(t.Context(), sc, scenarios.Wedge, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
}
