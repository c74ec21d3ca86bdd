package agentwire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

func machine() *fsfake.Machine {
	s := Scenarios()[0]
	return s.NewMachine()
}

func task(m *fsfake.Machine, i int) *scenarios.Task {
	return &scenarios.Task{Proc: m.Proc(scenarios.Pid(i)), Process: scenarios.ProcessName(i), Index: i}
}

func content(m *fsfake.Machine) string {
	id, _ := m.Lookup(lockPath)
	return m.View(id).Content
}

func TestTheScenariosAreValid(t *testing.T) {
	for _, s := range Scenarios() {
		require.NoError(t, s.Validate())
		require.NotEmpty(t, s.Summary, s.ID)
		require.Contains(t, s.Report, "https://", s.ID)
		require.NotEmpty(t, s.Source, s.ID)
	}
}

func TestARunAloneGetsThroughAndLeavesItsPid(t *testing.T) {
	for name, acquire := range map[string]func(*scenarios.Task) (scenarios.Hold, error){
		"ensure": ensure, "blind-unlink": waitUnlinking, "gated-unlink": waitGated, "flock-only": waitPolling,
	} {
		m := machine()
		inside := false
		err := scenarios.Locked(task(m, 0), protocol(acquire), func() {
			inside = true
			require.Equal(t, "101\n", content(m), name)
			require.True(t, isLocked(task(m, 1)), name)
		})
		require.NoError(t, err, name)
		require.True(t, inside, name)
		require.Equal(t, "101\n", content(m), name)
		require.False(t, isLocked(task(m, 1)), name)
		require.Empty(t, m.FDs(scenarios.Pid(0)), name)
	}
}

func TestEnsureDoesNotWait(t *testing.T) {
	m := machine()
	_, err := ensure(task(m, 0))
	require.NoError(t, err)
	_, err = ensure(task(m, 1))
	require.ErrorIs(t, err, scenarios.ErrLocked)
	require.Empty(t, content(m), "and has erased the holder's pid")
	require.Empty(t, m.FDs(scenarios.Pid(1)))
}

func TestLockHolder(t *testing.T) {
	m := machine()
	a := task(m, 0)
	_, known := lockHolder(a)
	require.False(t, known, "no file")
	for text, want := range map[string]bool{"": false, "102\n": true, "99\n0\n": false, "x": false} {
		require.NoError(t, a.WriteFile(lockPath, []byte(text), 0o644))
		_, known := lockHolder(a)
		require.Equal(t, want, known, "%q", text)
	}
	require.Equal(t, "B", ownerOf(102))
	require.Empty(t, ownerOf(0))
}

func TestAWaiterUnlinksTheFileOfADeadHolder(t *testing.T) {
	m := machine()
	_, err := ensure(task(m, 0))
	require.NoError(t, err)
	lost, _ := m.Lookup(lockPath)
	_, err = task(m, 0).Open(lockPath) // a second descriptor keeps the inode number in use
	require.NoError(t, err)
	removeStaleLock(task(m, 1))
	now, _ := m.Lookup(lockPath)
	require.Equal(t, lost, now, "removeStaleLock leaves a lock that is taken")
	m.KillProc(scenarios.Pid(0))
	require.False(t, isLocked(task(m, 1)), "the kernel has dropped the lock")
	removeStaleLock(task(m, 1))
	_, there := m.Lookup(lockPath)
	require.False(t, there)
}

func TestCleanNeverAsksTheKernel(t *testing.T) {
	m := machine()
	a, c := task(m, 0), task(m, 2)
	clean(c) // there is no lock yet
	_, err := ensure(a)
	require.NoError(t, err)
	clean(c)
	_, there := m.Lookup(lockPath)
	require.True(t, there, "the file tells the pid of a living process")
	_, err = openLock(task(m, 1)) // a contender empties the file
	require.NoError(t, err)
	clean(c)
	_, there = m.Lookup(lockPath)
	require.False(t, there, "A's lock is gone from the name")
}

func TestHoldAndAskRecordsTheHolder(t *testing.T) {
	m := machine()
	p := &port{m: m, t: fsfake.Task{Pid: scenarios.Pid(0)}}
	holdAndAsk(scenarios.NewTask(p, 0, 1))
	require.Contains(t, p.notes, any(scenarios.Invoked{Input: model.WhoHolds{}}))
	require.Contains(t, p.notes, any(scenarios.Returned{Output: model.Holder{Owner: "A"}}))
}

// port runs a task's calls at once and keeps what it notes.
type port struct {
	m     *fsfake.Machine
	t     fsfake.Task
	notes []any
}

func (p *port) Do(op fsfake.Op) fsfake.Result { return p.m.Do(p.t, op) }
func (p *port) Note(v any)                    { p.notes = append(p.notes, v) }
