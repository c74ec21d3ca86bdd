package openclawrelease

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// port is a machine as one task sees it that runs alone.
type port struct {
	m     *fsfake.Machine
	t     fsfake.Task
	notes []any
	onOp  func(op fsfake.Op)
}

func (p *port) Do(op fsfake.Op) fsfake.Result {
	if p.onOp != nil {
		p.onOp(op)
	}
	r := p.m.Do(p.t, op)
	if r.Blocked {
		panic(op.Call.String() + " blocks")
	}
	return r
}

func (p *port) Note(v any) { p.notes = append(p.notes, v) }

// newTask returns task n of process i on m.
func newTask(m *fsfake.Machine, i, n int) (*scenarios.Task, *port) {
	p := &port{m: m, t: fsfake.Task{Pid: scenarios.Pid(i), N: n}}
	return scenarios.NewTask(p, i, n), p
}

func machine(t *testing.T) *fsfake.Machine {
	t.Helper()
	s := Scenarios()[1] // two processes
	require.Equal(t, 2, s.Setting.Processes)
	return s.NewMachine()
}

func TestTheScenariosAreValid(t *testing.T) {
	for _, s := range Scenarios() {
		require.NoError(t, s.Validate())
		require.Equal(t, s.Setting.Processes+1, s.Setting.Contenders(), s.ID)
		require.True(t, s.Setting.Daemons, s.ID)
		require.NotEmpty(t, s.Summary, s.ID)
		require.Contains(t, s.Report, "https://", s.ID)
		require.Contains(t, s.Source, "func (s session) acquire", s.ID)
	}
}

func TestATaskAloneGetsThroughAndLeavesNothing(t *testing.T) {
	for _, v := range variants {
		m := machine(t)
		task, p := newTask(m, 0, 1)
		inside := false
		err := scenarios.Locked(task, v.session.protocol(), func() {
			inside = true
			_, there := m.Lookup(lockPath)
			require.True(t, there, v.name)
		})
		require.NoError(t, err, v.name)
		require.True(t, inside, v.name)
		require.Contains(t, p.notes, any(scenarios.Returned{Output: model.Acquired{OK: true}}), v.name)
		_, there := m.Lookup(lockPath)
		require.False(t, there, v.name)
		require.Zero(t, held.Load(task.Proc), v.name)
		require.Empty(t, m.FDs(scenarios.Pid(0)), "%s: the handle is closed", v.name)
	}
}

func TestASecondTaskJoinsAndTheLastOneRemovesTheLock(t *testing.T) {
	for _, v := range variants {
		m := machine(t)
		t1, _ := newTask(m, 0, 1)
		t2, p2 := newTask(m, 0, 2)
		l := v.session.protocol()
		h1, err := t1.Acquire(l.Path, func() (scenarios.Hold, error) { return l.Acquire(t1) })
		require.NoError(t, err)
		h2, err := t2.Acquire(l.Path, func() (scenarios.Hold, error) { return l.Acquire(t2) })
		require.NoError(t, err)
		require.True(t, h2.Shared, v.name)
		require.Contains(t, p2.notes, any(scenarios.Holding{Path: lockPath, FD: h1.File.Fd(), Lock: lockPath}), v.name)
		require.NoError(t, l.Release(t1, h1))
		_, there := m.Lookup(lockPath)
		require.True(t, there, v.name)
		require.NoError(t, l.Release(t2, h2))
		_, there = m.Lookup(lockPath)
		require.False(t, there, v.name)
	}
}

// A second release of one handle is silent when the entry is gone.
func TestReleasingAForeignEntryDoesNothing(t *testing.T) {
	for _, v := range variants {
		m := machine(t)
		t1, _ := newTask(m, 0, 1)
		l := v.session.protocol()
		h, err := l.Acquire(t1)
		require.NoError(t, err)
		h.Data = 2
		require.NoError(t, l.Release(t1, h))
		_, there := m.Lookup(lockPath)
		require.True(t, there, v.name)
	}
}

// What each variant says of its own lock at the moments of a release that orphan-self
// could come by: after r2, and when all is over but the text is an old one.
func TestWhatLooksLikeAnOrphan(t *testing.T) {
	during := map[string]bool{
		"original": true, "original-starttime": false, "in-flight": true, "option-a": false,
		"option-b-reentrant": false, "option-b-join": false, "option-b-join-reread": false,
	}
	after := map[string]bool{
		"original": true, "original-starttime": false, "in-flight": true, "option-a": true,
		"option-b-reentrant": true, "option-b-join": true, "option-b-join-reread": false,
	}
	for _, v := range variants {
		m := machine(t)
		t1, p1 := newTask(m, 0, 1)
		t2, _ := newTask(m, 0, 2)
		h, err := v.session.acquire(t1)
		require.NoError(t, err)
		old := readPayload(t2)
		require.Equal(t, scenarios.Pid(0), old.Pid)
		require.Equal(t, v.session.startTime, old.StartTime != 0)
		require.False(t, v.session.stale(t2, old), "%s: while it is held", v.name)
		asked := false
		p1.onOp = func(op fsfake.Op) {
			if op.Call == fsfake.CallUnlink { // r2 is over, r4 is next
				asked = true
				require.Equal(t, during[v.name], v.session.stale(t2, old), v.name)
			}
		}
		require.NoError(t, v.session.release(t1, h))
		require.True(t, asked, v.name)
		require.Equal(t, after[v.name], v.session.stale(t2, old), v.name)
	}
}

func TestOthersLocksAreJudgedByTheirProcess(t *testing.T) {
	s := original()
	m := machine(t)
	t1, _ := newTask(m, 0, 1)
	require.False(t, s.stale(t1, payload{}), "no text: stale only when old")
	other := payload{Pid: scenarios.Pid(1), CreatedAt: "2026-03-29T00:00:00Z"}
	require.False(t, s.stale(t1, other), "alive")
	other.StartTime = 1
	require.True(t, s.stale(t1, other), "alive with another start time: the pid was recycled")
	other.StartTime = 1001
	require.False(t, s.stale(t1, other))
	m.KillProc(other.Pid)
	other.StartTime = 0
	require.True(t, s.stale(t1, other), "dead")
}
