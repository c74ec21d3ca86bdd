package command

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// execute runs through the record what a command of one process does, and returns the place after
// each answer. Every call is answered by its number.
func execute(t *testing.T, s *Spec, process int, calls []place, answers ...fsfake.Result) []*place {
	t.Helper()
	return follow(t, &driver{spec: s, process: process, root: scenarios.Pid(process), lineage: s.record.begins(), t: &scenarios.Task{}}, calls, answers...)
}

func follow(t *testing.T, d *driver, calls []place, answers ...fsfake.Result) []*place {
	t.Helper()
	var at []*place
	for i := range calls {
		is := calls[i]
		p, err := d.spec.record.come(d, &is)
		require.NoError(t, err)
		at = append(at, p)
		d.at, d.calls = p, i+1
		if i < len(answers) {
			d.answer = answers[i]
		}
	}
	return at
}

// What two processes with the same command do alike is served to both when each has done it once;
// what one of them has not done, or not done alike, is not.
func TestRecordOfTwins(t *testing.T) {
	line := Line{Shell: "sh a"}
	s := &Spec{Commands: []Line{line, line, {Shell: "sh b"}}, record: newRecord()}
	calls := func(process int, text string) []place {
		pid := scenarios.Pid(process)
		by := scenarios.By{Task: fsfake.Task{Pid: pid*scenarios.ChildPids + 1, N: 1}}
		begins := scenarios.Invoked{Input: model.Acquire{Owner: scenarios.ProcessName(process)}}
		return []place{
			{op: fsfake.Op{Call: fsfake.CallForkAs, Pid: pid*scenarios.ChildPids + 1}, notes: []any{begins}},
			{op: fsfake.Op{Call: fsfake.CallMkdir, Path: fmt.Sprintf("d%d0vm", pid*scenarios.ChildPids+1)}, notes: []any{by}},
			{op: fsfake.Op{Call: fsfake.CallWrite, Data: text}, notes: []any{said{text: fmt.Sprint(pid)}}},
		}
	}
	answers := func(process int) []fsfake.Result {
		return []fsfake.Result{{N: int64(scenarios.Pid(process)*scenarios.ChildPids + 1)}, {}}
	}
	a := execute(t, s, 0, calls(0, "A"), answers(0)...)
	for _, p := range a {
		require.Nil(t, served(p, false), "it has run once")
	}
	require.Nil(t, s.record.begin(s.start(1), false), "its twin has run, it has not")
	b := execute(t, s, 1, calls(1, "B"), answers(1)...)
	for i := range 2 {
		require.NotNil(t, served(a[i], false))
		require.NotNil(t, served(b[i], false))
	}
	require.Nil(t, served(a[2], false), "they write different texts")
	require.Nil(t, served(b[2], false))
	c := execute(t, s, 2, calls(2, "A"), answers(2)...)
	require.Nil(t, served(c[0], false), "it is another command")
	execute(t, s, 0, calls(0, "A"), answers(0)...)
	require.NotNil(t, served(a[2], false), "it has run twice")
	require.Equal(t, a[1], s.record.after(s.record.begin(s.start(0), false), answers(0)[0], false))
	never := fsfake.Result{Errno: fsfake.ENOENT}
	require.Nil(t, s.record.after(s.record.begin(s.start(0), false), never, false), "it never had that answer")
}

// killing answers every call by a kill.
type killing struct{}

func (killing) Do(fsfake.Op) fsfake.Result { return fsfake.Result{Value: scenarios.Killed{}} }

func (killing) Note(any) {}

// A kill of a command of which nothing else runs ends it without an execution; with a child there must be one.
func TestKillIsNoExecution(t *testing.T) {
	s := &Spec{Commands: []Line{{Argv: []string{"/no/such/program"}}}, record: newRecord()}
	killed := func(children int) func() {
		s.record = newRecord()
		first := place{op: fsfake.Op{Call: fsfake.CallMkdir, Path: "d"}, children: children}
		for range 2 {
			execute(t, s, 0, []place{first})
		}
		return func() { s.program(0, 1)(scenarios.NewTask(killing{}, 0, 1)) }
	}
	require.NotPanics(t, killed(0))
	require.Panics(t, killed(1), "the program cannot be started")
}

// killsFirst answers the first call by a kill, and others by nothing.
type killsFirst struct{ calls []string }

func (k *killsFirst) Do(op fsfake.Op) (r fsfake.Result) {
	if k.calls = append(k.calls, op.String()); len(k.calls) == 1 {
		r.Value = scenarios.Killed{}
	}
	return r
}

func (*killsFirst) Note(any) {}

// A child goes on to its end as in executions without a kill, if its parent only waits and it does not look.
func TestKillOfAParentIsNoExecution(t *testing.T) {
	write, exit := fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "x"}, fsfake.Op{Call: fsfake.CallExit}
	for _, c := range []struct{ apart, looked, serves bool }{
		{true, false, true}, {false, false, false}, {true, true, false},
	} {
		s := &Spec{Commands: []Line{{Argv: []string{"/no/such/program"}}}, record: newRecord()}
		for range 2 {
			execute(t, s, 0, []place{{op: write, children: 1, apart: c.apart}, {op: exit, children: 1, apart: c.apart,
				looked: c.looked}, {op: fsfake.Op{Call: fsfake.CallEnd}}}, fsfake.Result{}, fsfake.Result{})
		}
		port := &killsFirst{}
		run := func() { s.program(0, 1)(scenarios.NewTask(port, 0, 1)) }
		if !c.serves {
			require.Panics(t, run)
			continue
		}
		require.NotPanics(t, run)
		require.Equal(t, []string{write.String(), write.String(), exit.String()}, port.calls)
	}
}

// A record that is full serves what it has, and takes nothing more.
func TestRecordIsBounded(t *testing.T) {
	s := &Spec{Commands: []Line{{Shell: "sh a"}}, record: newRecord()}
	long := place{op: fsfake.Op{Call: fsfake.CallWrite, Data: string(make([]byte, maxRecorded))}}
	first := place{op: fsfake.Op{Call: fsfake.CallMkdir, Path: "d"}}
	for range 2 {
		at := execute(t, s, 0, []place{first, long, first}, fsfake.Result{}, fsfake.Result{})
		require.Nil(t, at[1])
		require.Nil(t, at[2])
	}
	require.NotNil(t, s.record.begin(s.start(0), false))
	require.Less(t, s.record.bytes, maxRecorded)
}

// A clone of an execution is no second one, and two executions that went on as clones are not enough
// either: one from the start has to make the same calls up to there. It may be told something else; but what
// two clones do after the same answers must be the same none the less. Who only learns is served it all the same.
func TestRecordOfClones(t *testing.T) {
	s := &Spec{Commands: []Line{{Shell: "sh a"}}, record: newRecord()}
	calls := []place{{op: fsfake.Op{Call: fsfake.CallMkdir, Path: "d"}}, {op: fsfake.Op{Call: fsfake.CallRmdir, Path: "d"}}}
	told := fsfake.Result{}
	from := func(lineage int, cloned bool) []*place {
		return follow(t, &driver{spec: s, root: scenarios.Pid(0), lineage: lineage, t: &scenarios.Task{}, cloned: cloned}, calls, told)
	}
	untold := func(at []*place) {
		t.Helper()
		for _, p := range at {
			require.Nil(t, served(p, false))
			require.NotNil(t, served(p, true))
		}
	}
	untold(from(1, false))
	untold(from(1, true)) // its own clone
	untold(from(1, true))
	at := from(2, false)
	require.NotNil(t, served(at[1], false))

	s.record = newRecord()
	untold(from(1, true))
	untold(from(2, true)) // the start of neither is known to be followed by this
	at = from(3, false)
	require.NotNil(t, served(at[0], false))

	told.N = 1
	untold(from(3, true)[1:])
	require.NotNil(t, served(from(4, true)[1], false), "3 has made the same calls from its start")
	told.N, calls[1].op.Path = 2, "e"
	untold(from(3, true)[1:])
	untold(from(4, true)[1:]) // nobody has made these from the start
	told.N, calls[1] = 3, place{ended: true}
	untold(from(3, true)[1:])
	untold(from(4, true)[1:])
}

// What is known of a command is looked at again by clones only where executions from the start have made
// all the calls that it can come to, and where nothing is missing in the record.
func TestWhatClonesMayLookAt(t *testing.T) {
	s := &Spec{Commands: []Line{{Shell: "sh a"}}, record: newRecord()}
	op := func(path string) place { return place{op: fsfake.Op{Call: fsfake.CallMkdir, Path: path}} }
	run := func(cloned bool, told int64, next string) {
		follow(t, &driver{spec: s, root: scenarios.Pid(0), lineage: 1, t: &scenarios.Task{}, cloned: cloned}, []place{op("d"), op(next)}, fsfake.Result{N: told})
	}
	may := func(told ...fsfake.Result) bool {
		d := &driver{spec: s, told: told}
		if told == nil {
			return s.record.mayClone(d, nil)
		}
		return s.record.mayClone(d, s.record.roots[s.start(0)])
	}
	require.False(t, may(), "nothing is known")
	run(false, 1, "e")
	run(true, 2, "e")
	require.True(t, may())
	run(true, 3, "f")
	require.False(t, may(), "only a clone has made f")
	require.True(t, may(fsfake.Result{N: 2}))
	require.False(t, may(fsfake.Result{N: 3}))
	require.False(t, may(fsfake.Result{N: 4}), "it was never told that")
	run(false, 4, "f")
	require.True(t, may())
	s.record.full = true
	require.False(t, may())
}

// When a hundred executions from the start have ended as the clones before them, clones are believed of other paths.
func TestClonesAreTrusted(t *testing.T) {
	s := &Spec{Commands: []Line{{Shell: "sh a"}}, record: newRecord()}
	run := func(lineage int, cloned bool, told int) []*place {
		d := &driver{spec: s, root: scenarios.Pid(0), lineage: lineage, t: &scenarios.Task{}, cloned: cloned}
		mkdir := place{op: fsfake.Op{Call: fsfake.CallMkdir, Path: fmt.Sprint(told)}} // other calls on each path
		return follow(t, d, []place{{op: fsfake.Op{Call: fsfake.CallMkdir, Path: "d"}}, mkdir, {ended: true}},
			fsfake.Result{N: int64(told)}, fsfake.Result{})
	}
	may := func() bool {
		d := &driver{spec: s, told: []fsfake.Result{{N: manyCompared}}}
		return s.record.mayClone(d, s.record.roots[s.start(0)])
	}
	for told := range manyCompared + 1 {
		run(1, true, told)
	}
	for told := range manyCompared {
		require.False(t, may())
		require.NotNil(t, served(run(2, false, told)[1], false))
	}
	require.True(t, may())
	at := run(3, true, manyCompared)
	require.NotNil(t, served(at[1], false), "two clones of different starts")
	run(1, true, manyCompared+1)
	require.Nil(t, served(run(1, true, manyCompared+1)[1], false), "of one start")
}

// Of a command that makes many system calls fewer of its own orders are followed, for each is an execution.
func TestDearCommandsHaveFewOrders(t *testing.T) {
	t.Parallel()
	for calls, most := range map[int]int{dearCalls: maxMeeting, dearCalls + 1: dearMeeting} {
		r := newRecord()
		r.calls = calls
		for range most {
			require.False(t, r.another())
		}
		require.True(t, r.another())
		require.EqualValues(t, fewOrders, r.draws(true))
		drawn := map[bool]int{false: drawnOrders, true: dearOrders}[calls > dearCalls]
		require.EqualValues(t, drawn, r.draws(false))
	}
}
