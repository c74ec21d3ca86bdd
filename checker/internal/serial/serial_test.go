package serial

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// appends writes the process's name to the end of a file, in two calls after it has looked.
func appends(t *scenarios.Task) {
	text, _ := t.ReadFile("/tmp/log")
	_ = t.WriteFile("/tmp/log", append(text, t.Process...), 0o644)
}

func scenario(st scenarios.Setting, program scenarios.Program) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "a/b/c", Setting: st,
		Program: func(int, int) scenarios.Program { return program },
		Claims:  []scenarios.Claim{{Property: scenarios.Serializable, Verdict: scenarios.Holds}},
	}
}

// told are the orders as text: names, and what the log is in the end.
func told(t *testing.T, sc *scenarios.Scenario) []string {
	t.Helper()
	p := *scenarios.Serializable
	p.Question, p.KeepsExits = scenarios.NoQuestion, true
	base := sc.NewMachine()
	list, err := orders(sc, &p, base, func(v scenarios.View) outcome.Outcome { return endOf(sc, base.Now(), v) }, nil)
	require.NoError(t, err)
	var out []string
	for _, o := range list {
		text := o.Name() + o.Outcome.Clock + ":"
		for _, e := range o.Outcome.Tree {
			if e.Name == "tmp/log" {
				text += " " + e.Thing.String()
			}
		}
		if len(o.Ran) == sc.Setting.Processes {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// Every order is there, with what it leaves behind; of processes that may be killed also those in which one is,
// before each of its steps; and those in which the clock jumps, wherever that is seen.
func TestOrders(t *testing.T) {
	require.Equal(t, []string{`A then B then C: "ABC"`, `A then C then B: "ACB"`, `B then A then C: "BAC"`, `B then C then A: "BCA"`, `C then A then B: "CAB"`, `C then B then A: "CBA"`},
		told(t, scenario(scenarios.Setting{Processes: 3}, appends)))
	require.Equal(t, []string{
		`A killed then B: "AB"`, `A killed then B: "B"`,
		`A then B killed: ""`, `A then B killed: "A"`, `A then B killed: "AB"`, `A then B: "AB"`,
		`B killed then A: "A"`, `B killed then A: "BA"`,
		`B then A killed: ""`, `B then A killed: "B"`, `B then A killed: "BA"`, `B then A: "BA"`,
	}, told(t, scenario(scenarios.Setting{Processes: 2, Crashes: 1}, appends)))
	// A change that shows in the time stamp moves the clock by a nanosecond, which is no jump.
	looks := func(t *scenarios.Task) {
		_, _ = t.Stat("/tmp")
		_ = t.WriteFile("/tmp/log", nil, 0o644)
	}
	shown := scenarios.Setting{Processes: 1, Stalls: 1, StallFor: 20 * 60e9, Assume: scenarios.Assumptions{Times: scenarios.TimesShow, Sleeps: scenarios.SleepsShort}}
	require.Equal(t, []string{`A+0s: ""`, `A+20m0s: ""`}, told(t, scenario(shown, looks)))
	stamps := func(t *scenarios.Task) { _ = t.WriteFile("/tmp/log", []byte(t.Now().Format("15:04")), 0o644) }
	require.Equal(t, []string{`A+0s: "00:00"`, `A+20m0s: "00:00"`, `A+20m0s: "00:20"`}, told(t, scenario(scenarios.Setting{Processes: 1, Stalls: 1, StallFor: 20 * 60e9}, stamps)))
}

// Who begins when the power is back has run in every order in which it is not lost, and after it where it is.
func TestAfterAReboot(t *testing.T) {
	sc := scenario(scenarios.Setting{Processes: 3, PowerLosses: 1, Reboot: []int{2}}, appends)
	orders := told(t, sc)
	require.Contains(t, orders, `A then B then C: "AB"`)
	require.Contains(t, orders, `A killed then B killed then C: "C"`)
	p, err := Bind(sc, scenarios.Serializable)
	require.NoError(t, err)
	m := sc.NewMachine()
	require.NoError(t, m.Proc(1).WriteFile("/tmp/log", []byte("BA"), 0o644))
	for i := range 2 {
		m.Do(fsfake.Task{Pid: scenarios.Pid(i), N: 1}, fsfake.Op{Call: fsfake.CallEnd})
	}
	m.KillProc(scenarios.Pid(2))
	require.Empty(t, p.Invariant(scenarios.NewView(m)))
}

// The tasks of one process go on side by side in a serial run.
func TestTasksOfAProcess(t *testing.T) {
	require.Equal(t, []string{`A: "1"`, `A: "2"`}, told(t, scenario(scenarios.Setting{Processes: 1, Tasks: []int{2}}, func(t *scenarios.Task) {
		f := fsfake.Cell[int]{Name: "n"}
		n := f.Load(t.Proc) + 1
		t.Work()
		f.Store(t.Proc, n)
		_ = t.WriteFile("/tmp/log", []byte{'0' + byte(n)}, 0o644)
	})))
}

// Who ends with a status of its own need not have run; whoever was killed is compared with those who were killed.
func TestJudge(t *testing.T) {
	p, err := Bind(scenario(scenarios.Setting{Processes: 2}, appends), scenarios.Serializable)
	require.NoError(t, err)
	require.NoError(t, p.Validate())
	require.Equal(t, scenarios.ByInvariant, p.Judgement())
	for name, c := range map[string]struct {
		statuses []int // by process; -1 is killed, and -2 runs
		log      string
		fine     bool
	}{
		"an order":                          {[]int{0, 0}, "BA", true},
		"no order":                          {[]int{0, 0}, "A", false},
		"one refuses":                       {[]int{0, 75}, "A", true},
		"one refuses and has written":       {[]int{0, 75}, "B", false},
		"both refuse":                       {[]int{75, 75}, "", false},
		"both refuse, and one has written":  {[]int{75, 75}, "B", false},
		"killed where nobody may be killed": {[]int{0, -1}, "AB", false},
		"it is not over":                    {[]int{0, -2}, "", true},
	} {
		m := scenario(scenarios.Setting{Processes: 2}, appends).NewMachine()
		require.NoError(t, m.Proc(1).WriteFile("/tmp/log", []byte(c.log), 0o644))
		for i, status := range c.statuses {
			switch {
			case status >= 0:
				m.Do(fsfake.Task{Pid: scenarios.Pid(i), N: 1}, fsfake.Op{Call: fsfake.CallEnd, Flags: status})
			case status == -1:
				m.KillProc(scenarios.Pid(i))
			}
		}
		said := p.Invariant(scenarios.NewView(m))
		if c.fine {
			require.Empty(t, said, name)
			continue
		}
		want := "no order of the processes ends like this"
		if strings.HasPrefix(name, "both refuse") {
			want = "all refuse, and " + want
		}
		require.Equal(t, want, said, name)
		require.Greater(t, len(p.Table(scenarios.NewView(m))), 1, name)
	}
}

// Where nobody does anything but refuse there is nothing to judge.
func TestNothingButRefusals(t *testing.T) {
	lacks := func(status int, setup func(m *fsfake.Machine)) string {
		sc := scenario(scenarios.Setting{Processes: 2, Crashes: 1}, func(t *scenarios.Task) {
			appends(t)
			t.ExitWith([]int{75, status}[t.Index])
		})
		sc.Setup = setup
		p, err := Bind(sc, scenarios.Serializable)
		require.NoError(t, err)
		return p.Lacks(nil)
	}
	require.Equal(t, "in whatever order they run, the processes do nothing but refuse (A: exit 75): whoever does something ends with status 0", lacks(75, nil))
	require.Empty(t, lacks(0, nil))
	require.Empty(t, lacks(75, func(m *fsfake.Machine) { m.AddProc(fsfake.ProcSpec{Pid: 50, Parent: 1, Start: 900, Cwd: "/"}) }))
}

// Nobody waits for the end of a process that Setup has added, which lives on.
func TestStrangers(t *testing.T) {
	sc := scenario(scenarios.Setting{Processes: 2}, appends)
	sc.Setup = func(m *fsfake.Machine) { m.AddProc(fsfake.ProcSpec{Pid: 50, Parent: 1, Start: 900, Cwd: "/"}) }
	p, err := Bind(sc, scenarios.Serializable)
	require.NoError(t, err)
	m := sc.NewMachine()
	require.Empty(t, p.Invariant(scenarios.NewView(m)))
	for i := range 2 {
		m.Do(fsfake.Task{Pid: scenarios.Pid(i), N: 1}, fsfake.Op{Call: fsfake.CallEnd})
	}
	require.True(t, m.Alive(50))
	require.NotEmpty(t, p.Invariant(scenarios.NewView(m)))
}

// What cannot be compared is an error, and no verdict.
func TestBindRefuses(t *testing.T) {
	waits := func(t *scenarios.Task) {
		for retry := t.Retry(); retry.Next(); {
			if _, err := t.Stat("/tmp/never"); err == nil {
				return
			}
		}
	}
	external := scenario(scenarios.Setting{Processes: 2}, appends)
	external.External = true
	for want, sc := range map[string]*scenarios.Scenario{
		"with Daemons nobody ends":          scenario(scenarios.Setting{Processes: 2, Daemons: true}, appends),
		"no serial run ends":                scenario(scenarios.Setting{Processes: 2}, waits),
		"there are more than 10000 serial":  scenario(scenarios.Setting{Processes: 8}, appends),
		"ask it without failing calls":      scenario(scenarios.Setting{Processes: 2, FailingCalls: 1}, appends),
		"is asked of commands by `lockpick": external,
		"processes 0: choose":               scenario(scenarios.Setting{Processes: 0}, appends),
	} {
		_, err := Bind(sc, scenarios.Serializable)
		require.ErrorContains(t, err, want)
	}
	for _, p := range []*scenarios.Property{nil, scenarios.Deadlock} {
		got, err := Bind(external, p)
		require.NoError(t, err)
		require.Same(t, p, got)
	}
}

// A scenario's own property is taken, as it is of commands.
func TestAScenariosOwn(t *testing.T) {
	own := *scenarios.Serializable
	own.Question, own.Invariant = scenarios.NoQuestion, (&outcome.Serial{What: "commands"}).Invariant(func(scenarios.View) outcome.Outcome { return outcome.Outcome{} })
	sc := scenario(scenarios.Setting{Processes: 2}, appends)
	sc.Claims = []scenarios.Claim{{Property: &own}}
	require.NoError(t, sc.Validate())
	got, err := Bind(sc, scenarios.Serializable)
	require.NoError(t, err)
	require.Same(t, &own, got)
	got, err = sc.Property("serializable")
	require.NoError(t, err)
	require.Same(t, &own, got)
}
