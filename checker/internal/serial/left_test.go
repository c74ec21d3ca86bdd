package serial

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// saving is a scenario with a file that is there, and a log.
func saving(st scenarios.Setting, program scenarios.Program) *scenarios.Scenario {
	sc := scenario(st, program)
	sc.Setup = func(m *fsfake.Machine) {
		_ = m.Proc(1).WriteFile("/tmp/f", []byte("old"), 0o644)
		_ = m.Proc(1).WriteFile("/tmp/log", nil, 0o644)
	}
	return sc
}

// end is what a bound property says of a machine on which a file is as given, and a process has ended so.
func end(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, content string, status int) string {
	t.Helper()
	bound, err := Bind(sc, p)
	require.NoError(t, err)
	require.True(t, bound.KeepsExits)
	m := sc.NewMachine()
	require.Empty(t, bound.Invariant(scenarios.NewView(m)), "somebody runs")
	require.NoError(t, m.Proc(1).WriteFile("/tmp/f", []byte(content), 0o644))
	for _, pid := range m.Pids()[1:] {
		if status < 0 {
			m.KillProc(pid)
			continue
		}
		m.Do(fsfake.Task{Pid: pid, N: 1}, fsfake.Op{Call: fsfake.CallEnd, Flags: status})
	}
	return bound.Invariant(scenarios.NewView(m))
}

// A file may be as it was, or as after a serial run of some; who has succeeded has done it, where that is asked.
func TestLeft(t *testing.T) {
	program := func(t *scenarios.Task) { _ = t.WriteFile("/tmp/f", []byte("new "+t.Process), 0o644) }
	crash := saving(scenarios.Setting{Processes: 2, Crashes: 1}, program)
	for content, want := range map[string]string{
		"old": "", "new A": "", "new B": "", "": "/tmp/f: 0 bytes, neither the old 3 nor the new 5",
		"new ": "/tmp/f: 4 bytes, neither the old 3 nor the new 5",
	} {
		require.Equal(t, want, end(t, crash, scenarios.Atomic, content, -1), content)
	}
	lost := saving(scenarios.Setting{Processes: 1, PowerLosses: 1}, program)
	fails := saving(scenarios.Setting{Processes: 1, FailingCalls: 1}, program)
	const kept = "/tmp/f: the old 3 bytes, not the new 5"
	require.Equal(t, kept, end(t, lost, scenarios.Durable, "old", 0))
	require.Empty(t, end(t, lost, scenarios.Durable, "old", 1))
	require.Empty(t, end(t, lost, scenarios.Durable, "", -1), "it has not succeeded")
	require.Empty(t, end(t, lost, scenarios.Durable, "new A", 0))
	require.Empty(t, end(t, lost, scenarios.Atomic, "old", 0))
	require.Equal(t, kept, end(t, fails, scenarios.Atomic, "old", 0))
	require.Empty(t, end(t, fails, scenarios.Atomic, "old", 1))
}

// A new file that is only locked is not missed after a loss of power.
func TestLeftOfALock(t *testing.T) {
	sc := saving(scenarios.Setting{Processes: 1, PowerLosses: 1}, func(t *scenarios.Task) {
		f, _ := t.OpenFile("/tmp/lock", os.O_CREATE|os.O_RDWR, 0o644)
		_ = f.Flock(fsfake.LOCK_EX)
		_ = t.WriteFile("/tmp/f", []byte("new"), 0o644)
	})
	require.Empty(t, end(t, sc, scenarios.Durable, "new", 0))
	require.NotEmpty(t, end(t, sc, scenarios.Durable, "old", 0))
}

// A file that serial runs write and leave as it was is judged, too: no beginning of it may be left.
func TestLeftOfRewritten(t *testing.T) {
	sc := saving(scenarios.Setting{Processes: 1, Crashes: 1}, func(t *scenarios.Task) {
		_ = t.WriteFile("/tmp/f", []byte("old"), 0o644)
	})
	require.Equal(t, "/tmp/f: 0 bytes, neither the old 3 nor the new 3", end(t, sc, scenarios.Atomic, "", -1))
}

// Who runs when the power is back may leave what it leaves after a serial run of the others, and after none of them;
// and nobody runs after it.
func TestLeftAfterAReboot(t *testing.T) {
	sc := saving(scenarios.Setting{Processes: 2, PowerLosses: 1, Reboot: []int{1}}, func(t *scenarios.Task) {
		text, _ := t.ReadFile("/tmp/f")
		_ = t.WriteFile("/tmp/f", append(text, t.Process...), 0o644)
	})
	for content, right := range map[string]bool{"old": true, "oldA": true, "oldB": true, "oldAB": true, "oldBA": false} {
		require.Equal(t, right, end(t, sc, scenarios.Atomic, content, -1) == "", content)
	}
}

// Only what is data is judged; and where nothing can be lost there is nothing to judge.
func TestLeftOfNothing(t *testing.T) {
	save := func(t *scenarios.Task) { _ = t.WriteFile("/tmp/f", []byte("new"), 0o644) }
	create := func(t *scenarios.Task) { _ = t.WriteFile("/tmp/g", []byte("new"), 0o644) }
	database := func(t *scenarios.Task) { _ = t.WriteFile("/tmp/log", []byte("x"), 0o644) }
	one := func(st scenarios.Setting) scenarios.Setting { st.Processes = 1; return st }
	elsewhere := saving(one(scenarios.Setting{Crashes: 1}), save)
	elsewhere.Data = []string{"/tmp/log"}
	of := saving(one(scenarios.Setting{Crashes: 1}), database)
	of.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/tmp/log", []byte("SQLite format 3\x00"), 0o644) }
	for _, c := range []struct {
		sc      *scenarios.Scenario
		p       *scenarios.Property
		want    string
		nothing bool
	}{
		{elsewhere, scenarios.Atomic, "change none of the files that it judges", true},
		{saving(one(scenarios.Setting{Crashes: 1}), create), scenarios.Atomic, "change none of the files", true},
		{saving(one(scenarios.Setting{}), save), scenarios.Atomic, "set Crashes, PowerLosses or FailingCalls", true},
		{saving(one(scenarios.Setting{Crashes: 1}), save), scenarios.Durable, "set PowerLosses", true},
		{saving(scenarios.Setting{Processes: 2, PowerLosses: 1}, save), scenarios.Durable, "is asked of one process", false},
		{saving(scenarios.Setting{Processes: 2, FailingCalls: 1}, save), scenarios.Atomic, "is asked of one process", false},
		{saving(scenarios.Setting{Processes: 1, Crashes: 1, Daemons: true}, save), scenarios.Atomic, "leave Daemons out",
			false},
		{of, scenarios.Atomic, "begins as a database does", false},
	} {
		_, err := Bind(c.sc, c.p)
		require.ErrorContains(t, err, c.want)
		if c.nothing {
			require.ErrorIs(t, err, engine.ErrNothing)
		}
	}
	_, err := Bind(saving(one(scenarios.Setting{PowerLosses: 1}), create), scenarios.Durable)
	require.NoError(t, err, "what is new is judged by durable")
}
