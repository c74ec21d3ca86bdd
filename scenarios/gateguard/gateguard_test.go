package gateguard

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// recorder is a port that makes the calls on a machine at once, and keeps them.
type recorder struct {
	m      *fsfake.Machine
	id     fsfake.Task
	ops    []fsfake.Op
	notes  []any
	before func(op fsfake.Op) // called before each call, if not nil
}

func (r *recorder) Do(op fsfake.Op) fsfake.Result {
	if r.before != nil {
		r.before(op)
	}
	r.ops = append(r.ops, op)
	return r.m.Do(r.id, op)
}

func (r *recorder) Note(v any) { r.notes = append(r.notes, v) }

// task returns process number i of m, whose calls run at once.
func task(m *fsfake.Machine, i int) (*scenarios.Task, *recorder) {
	r := &recorder{m: m, id: fsfake.Task{Pid: scenarios.Pid(i), N: 1}}
	return scenarios.NewTask(r, i, 1), r
}

// alone runs the program of one process with nobody else there.
func alone(sc *scenarios.Scenario, process int) *recorder {
	t, r := task(sc.NewMachine(), process)
	sc.Program(process, 1)(t)
	return r
}

// machine returns a machine with two processes and no state file, or one of this age.
func machine(age time.Duration, keys ...string) *fsfake.Machine {
	sc := scenarios.Scenario{Setting: scenarios.Setting{Processes: 2}, Setup: setup(age, keys...)}
	return sc.NewMachine()
}

// keysOf reads the keys in the state file of m.
func keysOf(t *testing.T, m *fsfake.Machine) []string {
	t.Helper()
	data, err := m.Proc(1).ReadFile(statePath)
	require.NoError(t, err)
	s, err := parse(string(data))
	require.NoError(t, err)
	return s.checked
}

func TestScenariosAreValid(t *testing.T) {
	for _, sc := range Scenarios() {
		require.NoError(t, sc.Validate(), sc.ID)
		require.NotEmpty(t, sc.Report, sc.ID)
		require.Contains(t, sc.Source, "package gateguard", sc.ID)
		require.NotEmpty(t, sc.Watch, sc.ID)
	}
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

// A process alone marks its key and finds it; one that only asks adds nothing.
func TestAloneGetsThrough(t *testing.T) {
	for _, sc := range Scenarios() {
		for i := range sc.Setting.Processes {
			r := alone(&sc, i)
			if sc.Setting.Fixed && i == 0 {
				require.Empty(t, r.notes[countPid(r.notes):], sc.ID)
				continue
			}
			key := strings.ToLower(scenarios.ProcessName(i))
			require.Contains(t, r.notes, any(scenarios.Invoked{Input: model.Add{Key: key}}), sc.ID)
			require.Contains(t, r.notes, any(scenarios.Returned{Output: model.Found{Yes: true}}), sc.ID)
		}
	}
}

// countPid counts the notes that say no more than that the pid was asked for.
func countPid(notes []any) int {
	n := 0
	for _, v := range notes {
		if v == any(fsfake.PidSeen) {
			n++
		}
	}
	return n
}

func TestStateRoundTrip(t *testing.T) {
	for _, s := range []state{{checked: []string{}}, {checked: []string{"a"}, lastActive: 5}, {checked: []string{"a", "b"}, lastActive: 1}} {
		got, err := parse(s.format())
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
	_, err := parse("")
	require.Error(t, err)
}

func TestLoadAndSave(t *testing.T) {
	m := machine(0)
	p, _ := task(m, 0)
	require.Equal(t, state{}, load(p), "no file")
	original.mark(p, "k")
	require.Equal(t, []string{"k"}, keysOf(t, m))
	require.True(t, original.check(p, "k"))
	require.False(t, original.check(p, "other"))
	_, err := m.Proc(1).Stat(statePath + ".tmp.101")
	require.Error(t, err, "the temporary file has become the state file")
}

// A key that is found refreshes the file's time, but at most once a minute.
func TestHeartbeatIsThrottled(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration
		key    string
		writes bool
	}{
		{readHeartbeat, seeded, false},
		{readHeartbeat + time.Millisecond, seeded, true},
		{readHeartbeat + time.Millisecond, "other", false},
	} {
		p, r := task(machine(c.age, seeded), 0)
		original.check(p, c.key)
		wrote := false
		for _, op := range r.ops {
			wrote = wrote || op.Call == fsfake.CallRename
		}
		require.Equal(t, c.writes, wrote, "%v %s", c.age, c.key)
	}
}

func TestExpiredStateIsRemoved(t *testing.T) {
	m := machine(sessionTimeout, seeded)
	p, _ := task(m, 0)
	require.True(t, load(p).has(seeded), "not expired yet")
	m.Advance(time.Millisecond)
	require.Equal(t, state{}, load(p))
	require.False(t, exists(p, statePath))
}

// The regression test of the merged fix: what another process saves before the merge
// reads is kept. What it saves after that is not, and that is the race that is left.
// https://github.com/affaan-m/ECC/pull/1623
func TestMergeKeepsWhatItReads(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(op fsfake.Op, opens int) bool
		want []string
	}{
		{"before the merge reads", func(op fsfake.Op, opens int) bool {
			return op.Call == fsfake.CallOpen && op.Path == statePath && opens == 2
		}, []string{seeded, "b", "a"}},
		{"after the merge has read", func(op fsfake.Op, _ int) bool {
			return op.Call == fsfake.CallRename
		}, []string{seeded, "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(0, seeded)
			a, r := task(m, 0)
			b, _ := task(m, 1)
			opens, done := 0, false
			r.before = func(op fsfake.Op) {
				if op.Call == fsfake.CallOpen && op.Path == statePath {
					opens++
				}
				if !done && c.at(op, opens) {
					done = true
					merged.mark(b, "b")
				}
			}
			merged.mark(a, "a")
			require.True(t, done)
			require.Equal(t, c.want, keysOf(t, m))
		})
	}
}

// A lease is taken when the last one was given back or has ended, and never otherwise.
func TestLease(t *testing.T) {
	m := machine(0)
	a, _ := task(m, 0)
	b, _ := task(m, 1)
	h, err := lease.Acquire(a)
	require.NoError(t, err)
	n, over := lastLease(b)
	require.Equal(t, 1, n)
	require.False(t, over, "A has it")

	m.Advance(leaseTime)
	_, over = lastLease(b)
	require.False(t, over, "its last moment")
	m.Advance(time.Millisecond)
	_, over = lastLease(b)
	require.True(t, over, "ended")

	h2, err := lease.Acquire(b)
	require.NoError(t, err)
	_, err = takeLease(a, 2)
	require.Error(t, err, "B was first")
	require.NoError(t, lease.Release(a, h), "A gives back what is over, and nothing else")
	n, over = lastLease(a)
	require.Equal(t, 2, n)
	require.False(t, over, "B has it")
	require.NoError(t, lease.Release(b, h2))
	n, over = lastLease(a)
	require.Equal(t, 2, n)
	require.True(t, over, "given back")
}

// Every lock that is waited for is let go: the next process gets in.
func TestLocksAreReleased(t *testing.T) {
	for _, l := range []scenarios.Protocol{flock, excl, lease} {
		m := machine(0)
		for i := range 2 {
			p, _ := task(m, i)
			h, err := l.Acquire(p)
			require.NoError(t, err)
			require.NoError(t, l.Release(p, h))
		}
	}
}
