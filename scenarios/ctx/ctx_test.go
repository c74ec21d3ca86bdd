package ctx

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

func TestScenariosAreValid(t *testing.T) {
	for _, sc := range Scenarios() {
		require.NoError(t, sc.Validate(), sc.ID)
		require.NotEmpty(t, sc.Report, sc.ID)
		require.Contains(t, sc.Source, "package ctx", sc.ID)
		require.Equal(t, []string{lockPath, statePath, entryPath}, sc.Watch, sc.ID)
	}
}

func find(id string) *scenarios.Scenario {
	list := Scenarios()
	return &list[slices.IndexFunc(list, func(sc scenarios.Scenario) bool { return sc.ID == id })]
}

// What a program does is a function of what its calls answer.
func TestProgramsAreDeterministic(t *testing.T) {
	for _, sc := range Scenarios() {
		for i := range sc.Setting.Processes {
			a, b := alone(&sc, i), alone(&sc, i)
			require.Equal(t, a.ops, b.ops, sc.ID)
			require.Equal(t, a.notes, b.notes, sc.ID)
		}
	}
}

// A process alone acquires, appends the entry once, releases.
func TestAloneGetsThrough(t *testing.T) {
	for _, sc := range Scenarios() {
		if sc.Variant() == "excl" && sc.SettingName() == "body-fails" {
			continue
		}
		for i := range sc.Setting.Processes {
			r := alone(&sc, i)
			require.Contains(t, r.notes, any(scenarios.Returned{Output: model.Acquired{OK: true}}), sc.ID)
			require.Contains(t, r.notes, any(scenarios.Returned{Output: model.Released{}}), sc.ID)
			entries, _ := read(r.m, entryPath)
			require.Equal(t, "entry 1\n", entries, sc.ID)
			cursor, _ := read(r.m, statePath)
			require.Equal(t, "1", cursor, sc.ID)
			_, there := read(r.m, lockPath)
			require.Equal(t, sc.Variant() == "flock", there, "%s: the lock file afterwards", sc.ID)
		}
	}
}

// A second sync on the same machine finds nothing new.
func TestCursorPreventsASecondAppend(t *testing.T) {
	m := find("ctx/excl/contend").NewMachine()
	for i := range 2 {
		r := &recorder{m: m, id: fsfake.Task{Pid: scenarios.Pid(i), N: 1}}
		require.NoError(t, sync(scenarios.NewTask(r, i, 1), excl))
	}
	entries, _ := read(m, entryPath)
	require.Equal(t, "entry 1\n", entries)
}

// The lock is gone after a failed body.
// https://github.com/ActiveMemory/ctx/pull/113
func TestFailedBodyReleasesTheLock(t *testing.T) {
	sc := find("ctx/excl/body-fails")
	m := sc.NewMachine()
	r := &recorder{m: m, id: fsfake.Task{Pid: scenarios.Pid(0), N: 1}}
	require.Error(t, sync(scenarios.NewTask(r, 0, 1), excl))
	require.Contains(t, r.notes, any(scenarios.Returned{Output: model.Acquired{OK: true}}), "the body ran")
	_, there := read(m, lockPath)
	require.False(t, there)
}

// The lock's path is part of the protocol: syncs of different versions must meet there.
func TestLockPathIsPinned(t *testing.T) {
	require.Equal(t, "/project/.context/hub/.sync.lock", lockPath)
	for _, l := range []scenarios.Protocol{statThenWrite, excl, pidCleanup(false), pidCleanup(true), flock} {
		require.Equal(t, lockPath, l.Path)
		m := find("ctx/excl/contend").NewMachine()
		r := &recorder{m: m, id: fsfake.Task{Pid: scenarios.Pid(0), N: 1}}
		_, err := l.Acquire(scenarios.NewTask(r, 0, 1))
		require.NoError(t, err)
		_, there := read(m, lockPath)
		require.True(t, there)
	}
}

// contenders lets n processes try a lock at the same time. Winners hold until every
// attempt has returned: a late caller may rightly acquire what was released before.
func contenders(m *fsfake.Machine, l scenarios.Protocol, n int, seed uint64) []error {
	results := make([]error, n)
	returned := 0
	bodies := make([]scenarios.Program, n)
	for i := range bodies {
		bodies[i] = func(t *scenarios.Task) {
			h, err := l.Acquire(t)
			results[i] = err
			returned++
			if err != nil {
				return
			}
			for returned < n {
				t.Work()
			}
			_ = l.Release(t, h)
		}
	}
	interleave(m, seed, bodies...)
	return results
}

// Of n contenders exactly one wins, and the others get an error that names the lock
// and matches fs.ErrExist.
// https://github.com/ActiveMemory/ctx/pull/113
func TestExactlyOneWinner(t *testing.T) {
	const n = 8
	for seed := range uint64(300) {
		m := find("ctx/excl/contend").NewMachine()
		won := 0
		for _, err := range contenders(m, excl, n, seed) {
			if err == nil {
				won++
				continue
			}
			require.ErrorIs(t, err, fs.ErrExist)
			require.ErrorIs(t, err, scenarios.ErrLocked)
			require.ErrorContains(t, err, lockPath)
		}
		require.Equal(t, 1, won, "seed %d", seed)
		_, there := read(m, lockPath)
		require.False(t, there, "seed %d: the winner has released", seed)
	}
}

// The same contest has more winners under the lock as reported: the test can fail.
func TestReportedLockHasSeveralWinners(t *testing.T) {
	most := 0
	for seed := range uint64(300) {
		m := find("ctx/excl/contend").NewMachine()
		won := 0
		for _, err := range contenders(m, statThenWrite, 8, seed) {
			if err == nil {
				won++
			} else {
				require.True(t, errors.Is(err, scenarios.ErrLocked), "%v", err)
			}
		}
		most = max(most, won)
	}
	require.Greater(t, most, 1)
}

// The mitigated option A removes the lock of a dead owner, and no other.
func TestPidCleanup(t *testing.T) {
	for _, c := range []struct {
		name, content string
		emptyIsStale  bool
		acquires      bool
	}{
		{"the owner is dead", "99", false, true},
		{"the owner lives", "1", false, false},
		{"no pid yet, and that is a live owner", "", false, false},
		{"no pid yet, and that is a dead owner", "", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := scenarios.Scenario{Setting: scenarios.Setting{Processes: 1}, Setup: setup(lockPath, c.content)}
			r := &recorder{m: sc.NewMachine(), id: fsfake.Task{Pid: scenarios.Pid(0), N: 1}}
			_, err := pidCleanup(c.emptyIsStale).Acquire(scenarios.NewTask(r, 0, 1))
			if !c.acquires {
				require.ErrorIs(t, err, scenarios.ErrLocked)
				return
			}
			require.NoError(t, err)
			owner, _ := read(r.m, lockPath)
			require.Equal(t, "101", owner)
		})
	}
}
