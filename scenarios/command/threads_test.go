package command_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// What threads, promises or children of one command do side by side is done in every order: data
// that is announced beside being shown is missed in one order only, and announced after both in
// none.
func TestCallsSideBySide(t *testing.T) {
	for _, l := range []struct{ needs, line string }{{"node", "node both.mjs"}, {"gcc", "both.c"}, {"sh", "sh both.sh"}} {
		for _, c := range []struct{ arg, name, verdict string }{{"", "ready", "broken"}, {" go", "go", "holds"}} {
			t.Run(l.line+c.arg, func(t *testing.T) {
				t.Parallel()
				testmain.LongBut(t, l.line+c.arg, "./scenarios/command", "both.c", "both.c go", "sh both.sh")
				line := l.line
				if !strings.Contains(line, " ") {
					line = compiled(t, l.needs, line)
				}
				sc := scenario(t, l.needs, []string{line + c.arg, "sh look.sh " + c.name}, map[string]string{"tmp": "1\n"}, "refused none")
				p, err := scenarios.FindProperty("serializable", sc)
				require.NoError(t, err)
				r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
				require.NoError(t, err)
				require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
				t.Logf("%d executions, %d answers, %d states", r.Stats.Coroutines, r.Stats.Edges, r.Stats.States)
				if r.Counterexample == nil {
					return
				}
				require.Contains(t, r.Counterexample.Schedule.String(), "/2")
				ran, err := checker.Replay(&sc, p, r.Counterexample.Schedule)
				require.NoError(t, err)
				require.True(t, ran.Broken)
			})
		}
	}
}

// Children that outlive the first process of their command go on side by side.
func TestChildrenLeftBehind(t *testing.T) {
	testmain.Slow(t, "it waits for children", "./scenarios/command")
	t.Parallel()
	sc := scenario(t, "gcc", []string{compiled(t, "gcc", "family.c") + " leave 0", "mkdir c"}, nil, "")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	decide(t, sc, p, "holds")
}

// A timer beside calls that do not wait goes off after them, which is assumed, and said. What it does
// beside a call that waits for a lock, TestTimedWaits says.
func TestTimerBesideCalls(t *testing.T) {
	t.Parallel()
	sc := scenario(t, "gcc", twice(compiled(t, "gcc", "timer.c")), nil, "refused 1")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict, r.Why)
	require.Contains(t, r.Conditions(), "assumes that no call of a program takes as long as a timer that runs in it meanwhile")
}

// Who maps a file is shown what it held then. A real mapping shows what others write later, so that is assumed,
// and said.
func TestMappedFiles(t *testing.T) {
	t.Parallel()
	const assumed = "assumes that who maps a file goes on to see what it held then"
	bin := compiled(t, "gcc", "map.c")
	for _, text := range []string{"a\n", ""} { // of which the second cannot be mapped
		sc := scenario(t, "flock", []string{bin + " f", "flock f sh -c 'echo b >> f'"}, map[string]string{"f": text}, "refused none")
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, checker.Holds, r.Verdict, r.Why)
		require.Contains(t, r.Conditions(), assumed)
	}
}

// A shared mapping that cannot be written to shows what the file held, as long as nobody else changes the file. A new
// file under the name is no change. Whoever writes to the file itself, while it is mapped, makes the verdict unknown.
// Under a lock two programs write to a file that both map.
func TestSharedMappings(t *testing.T) {
	t.Parallel()
	bin := compiled(t, "gcc", "map.c") + " f shared"
	files := map[string]string{"f": "a\n", "g": "b\n"}
	for _, other := range []string{bin, "mv g f"} {
		sc := scenario(t, "mv", []string{bin, other}, files, "refused none")
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		decide(t, sc, p, "holds")
	}
	files["n"] = "0"
	python := "python3 mapped.py "
	for _, pair := range [][]string{
		{bin, "echo b >> f"}, {bin, ": > f"}, {bin, "truncate -s 1 f"}, {bin, "echo b 1<> f"},
		{python + "0", python + "0"},
	} {
		sc := scenario(t, "gcc", pair, files, "refused none")
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		_, err = checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.Contains(t, new(command.Spec).Unseen(err),
			"A file that a program maps as shared memory is written later", pair)
	}
	sc := scenario(t, "python3", []string{python + "2", python + "2"}, files, "refused none")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	decide(t, sc, p, "holds")
}

// Where the calls of a command have more orders than can be followed, and nobody can say which of them meet, one is
// followed, and that is no proof.
func TestTooManyOrders(t *testing.T) {
	testmain.Slow(t, "it executes a hundred orders", "./scenarios/command")
	t.Parallel()
	sc := scenario(t, "gcc", []string{compiled(t, "gcc", "family.c") + " shared 6", "mkdir c"}, nil, "refused none")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Unknown, r.Verdict)
	require.Regexp(t, `followed: A in fork beside process 101\d+ of A in [^;]*; the command has too many orders`, r.Why)
}

// Pipelines whose parts touch the directory have many orders, most of which meet. Under a lock they count right, and
// without one a number is lost.
func TestPipelines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, verdict string }{
		{"flock lk sh piped.sh", "flock lk sh piped.sh", "holds"},
		{"flock lk sh piped.sh", "flock lk sh locked.sh", "holds"},
		{"flock lk sh piped.sh", "sh piped.sh", "broken"},
	} {
		t.Run(c.a+" beside "+c.b, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.a+c.b, "./scenarios/command", "flock lk sh piped.shflock lk sh locked.sh",
				"flock lk sh piped.shsh piped.sh")
			sc := scenario(t, "flock", []string{c.a, c.b}, map[string]string{"n": "0\n"}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// Children wait for a lock beside each other, and each order in which they get it is followed. An upgrade gives the
// lock back while it waits.
func TestWaitsBesideEachOther(t *testing.T) {
	testmain.Slow(t, "it executes hundreds of orders", "./scenarios/command")
	t.Parallel()
	for _, c := range []struct{ mode, other, verdict string }{
		{"locks", "cat z", "holds"},
		{"locks", "sh counter.sh", "broken"},
		{"locks", "", "holds"},
		{"upgrades", "cat z", "holds"},
		{"upgrades", "sh counter.sh", "broken"},
	} {
		t.Run(c.mode+" beside "+c.other, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.mode+c.other, "./scenarios/command", "lockssh counter.sh", "upgradescat z")
			line := compiled(t, "gcc", "family.c") + " " + c.mode + " 1"
			other := cmp.Or(c.other, line)
			sc := scenario(t, "gcc", []string{line, other}, map[string]string{"n": "0\n", "z": ""}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// A child that is killed where it starts a process of its own starts none, and one that waits for a lock dies at once.
// Before, the machine had a process that did not run, which kept a lock for ever: a command that met it in each serial
// run held.
func TestKilledChildren(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ child, other, verdict string }{
		{"flock -n l true", "flock -n l cat f", "broken"}, // which is refused beside the child alone
		{"flock l true", "flock l true", "holds"},
	} {
		t.Run(c.child, func(t *testing.T) {
			t.Parallel()
			lines := []string{c.child + " & kill $!; wait; echo x >> f", c.other}
			sc := scenario(t, "flock", lines, map[string]string{"f": "", "l": ""}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// Two children that take two locks in opposite orders wait for each other in one of their orders, and so does a parent
// that locks what its child needs, and waits for it. No child gets a lock that its parent keeps in all orders, which
// leaves nothing to judge.
func TestChildrenThatWaitForEachOther(t *testing.T) {
	t.Parallel()
	for _, line := range []string{compiled(t, "gcc", "family.c") + " cross 0",
		"exec 9>n; flock lock flock n true & flock 9; wait"} {
		sc := scenario(t, "flock", []string{line}, map[string]string{"lock": "", "n": ""}, "refused none")
		r, err := checker.Check(t.Context(), &sc, scenarios.Deadlock, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, "broken", r.Verdict.String(), r.Why)
		require.Regexp(t, `a child of A waits (at step \d+ )?for the flock on n \([^)]*\), which (a child of )?A has`,
			r.Counterexample.Cause)
	}
	_, err := command.Spec{
		Commands: []command.Line{{Shell: "exec 8>lock 9>n; flock 8; flock 9; flock lock true & flock n true & wait"}},
		Files:    []command.File{{Name: "lock"}, {Name: "n"}},
	}.Scenario()
	require.ErrorContains(t, err, "waits for ever")
	require.Regexp(t, `process 101\d01 for the flock on .*/n, which process 101 has`, err.Error())
	require.Regexp(t, `process 101\d01 for the flock on .*/lock, which process 101 has`, err.Error())
}

// Of two children that wait for each other one gives up after a while. The kernel is asked for that order, too: both
// begin to wait before the timer goes off.
func TestTimerBesideTwoWaits(t *testing.T) {
	testmain.Slow(t, "it executes a hundred orders", "./scenarios/command")
	t.Parallel()
	lines := []string{"flock lock flock -w 3 n true & flock n flock lock true & wait"}
	sc := scenario(t, "flock", lines, map[string]string{"lock": "", "n": ""}, "refused none")
	decide(t, sc, scenarios.Deadlock, "holds")
}

// A child waits for a lock that another command has, and another child for one that the first has.
func TestChildrenThatWaitForOthers(t *testing.T) {
	testmain.Slow(t, "it executes hundreds of orders", "./scenarios/command")
	t.Parallel()
	lines := []string{"flock l flock n true & flock l true & wait", "flock n flock l true"}
	sc := scenario(t, "flock", lines, map[string]string{"l": "", "n": ""}, "refused none")
	r, err := checker.Check(t.Context(), &sc, scenarios.Deadlock, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.NotNil(t, r.Counterexample)
	require.Regexp(t, `a child of A waits for the flock on n \([^)]*\), which B has since step \d+`,
		r.Counterexample.Cause)
}

// A command that ends in two ways when it runs alone, for two of its threads race, may end in both
// beside others.
func TestOutcomesOfOneCommand(t *testing.T) {
	t.Parallel()
	line := compiled(t, "gcc", "last.c")
	sc := scenario(t, "gcc", twice(line), map[string]string{"a": "a", "b": "b"}, "")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	decide(t, sc, p, "holds")
}

// Where threads have many orders, a look at what nobody changes goes before the calls of the others. That ends as all
// orders do, unless another thread uses the descriptor: then one order was followed, and nothing holds.
func TestLooksOfThreads(t *testing.T) {
	testmain.OnlyLong(t, "it executes hundreds of orders", "./scenarios/command")
	t.Parallel()
	looks := compiled(t, "gcc", "looks.c")
	files := map[string]string{"s": "ab", "log": ""}
	spec := command.Spec{Commands: []command.Line{{Shell: looks + " own"}}, Files: []command.File{
		{Name: "s", Content: "ab"}, {Name: "log"}}}
	all, most, err := command.Ends(spec, true, false)
	needTracing(t, err)
	require.NoError(t, err)
	ends, orders, err := command.Ends(spec, false, false)
	require.NoError(t, err)
	require.Equal(t, all, ends)
	require.Len(t, ends, 2)
	require.Less(t, 2*orders, most)

	sc := scenario(t, "gcc", []string{looks + " shared", "cat log"}, files, "refused none")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	decide(t, sc, p, "unknown")
}
