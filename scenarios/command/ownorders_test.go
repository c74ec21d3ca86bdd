package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// The first command has more own orders than are followed, and leaves "1" or "2" as its children come last. That the
// other one delays a child shows no violation. A reader between the two is one, which says that one order was followed.
func TestOwnOrders(t *testing.T) {
	testmain.OnlyLong(t, "TestFewOwnOrders has commands of which a few orders are followed", "./scenarios/command")
	for _, c := range []struct{ other, verdict, says string }{
		{"sh -c 'mkdir l || exit 75; cat n; rmdir l'", "unknown", "; A alone ends in more ways than one"},
		{"sh -c 'cat f > h'", "broken", "does not follow all orders"},
	} {
		t.Run(c.verdict, func(t *testing.T) {
			t.Parallel()
			testmain.Slow(t, "it follows a hundred orders", "./scenarios/command")
			if c.verdict == "unknown" {
				testmain.OnlyLong(t, "others that follow a few orders are unknown, too", "./scenarios/command")
			}
			sc := scenario(t, "gcc", []string{compiled(t, "gcc", "own-orders.c"), c.other},
				map[string]string{"f": "0", "n": ""}, "refused 75")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why+strings.Join(r.Conditions(), "; "), c.says)
		})
	}
}

// Of four children any may come last. Drawn orders show it: none of them is one of the few that are followed elsewhere.
func TestDrawnOwnOrders(t *testing.T) {
	testmain.OnlyLong(t, "TestSleepsWithTheLock draws orders, too", "./scenarios/command")
	t.Parallel()
	testmain.Slow(t, "it draws 24 orders", "./scenarios/command")
	var spec command.Spec
	scenario(t, "sh", []string{`sh -c 'for i in 1 2 3 4; do echo $i >f & done; wait'`}, nil, "",
		func(s *command.Spec) { spec = *s })
	ends, err := command.DrawnEnds(spec)
	require.NoError(t, err)
	require.Equal(t, 4, ends)
}

// A child sleeps while it has the lock that two others wait for. That these wait on is no end: the sleep ends, in all
// orders and in drawn ones.
func TestSleepsWithTheLock(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it follows many orders", "./scenarios/command")
	var spec command.Spec
	scenario(t, "sh", []string{`sh -c 'for i in 1 2 3; do flock l sh -c "sleep 1; echo a >>f" & done; wait'`}, nil, "",
		func(s *command.Spec) { spec = *s })
	if testmain.Long() {
		ends, _, err := command.Ends(spec, false, false)
		require.NoError(t, err)
		require.Len(t, ends, 1)
	}
	drawn, err := command.DrawnEnds(spec)
	require.NoError(t, err)
	require.Equal(t, 1, drawn)
}

// Two children add one to n, each, and read it without a lock, and have more orders than are followed. Alone they leave
// 1 or 2. Two such commands leave 2 to 4, one after the other; 1 is left where one has its two children read, and the
// other one ends before they write: a few of their own orders show both.
func TestFewOwnOrders(t *testing.T) {
	program := compiled(t, "gcc", "own-counters.c")
	for _, c := range []struct {
		lines         []string
		verdict, says string
	}{
		{[]string{program}, "unknown",
			`in more ways than one, by the order of its own processes or threads: n is "2" or "1".`},
		{twice(program + " l"), "broken", `n is "1" or "2"; each counts as right`},
	} {
		t.Run(c.verdict, func(t *testing.T) {
			t.Parallel()
			testmain.Slow(t, "it follows many orders", "./scenarios/command")
			if len(c.lines) == 1 {
				testmain.OnlyLong(t, "TestSeveralEndsAlone has one whose children race", "./scenarios/command")
			}
			sc := scenario(t, "gcc", c.lines, map[string]string{"n": "0", "l": ""}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why+strings.Join(scenarios.Texts(sc.Assumes), "; "), c.says)
			if cx := r.Counterexample; cx != nil {
				n, _ := scenarios.NewView(cx.Trace[len(cx.Trace)-1].After).ReadFile("/data/n")
				require.Equal(t, "1", n)
			}
		})
	}
}

// A command whose own children race ends in two ways alone. Each is that of a serial run; of one command it is all
// there is to say, so that it does not hold. Children that no order tells apart change nothing.
func TestSeveralEndsAlone(t *testing.T) {
	const races, agrees = `sh -c '(echo 1 >f)& (echo 2 >f)& wait'`, `sh -c '(echo 1 >f)& (echo 1 >g)& wait'`
	for _, c := range []struct {
		name          string
		lines         []string
		verdict, says string
	}{
		{"one that races", []string{races}, "unknown",
			`A alone ends in more ways than one, by the order of its own processes or threads: f is "2\n" or "1\n".`},
		{"one that does not", []string{agrees}, "holds", ""},
		{"two that race", twice(races), "holds", `f is "2\n" or "1\n"; each counts as right`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testmain.Slow(t, "it follows many orders", "./scenarios/command")
			if len(c.lines) > 1 {
				testmain.OnlyLong(t, "TestFewOwnOrders has two that end in several ways", "./scenarios/command")
			}
			sc := scenario(t, "sh", c.lines, nil, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			if text := r.Why + strings.Join(scenarios.Texts(sc.Assumes), "; "); c.says != "" {
				require.Contains(t, text, c.says)
			} else {
				require.NotContains(t, text, "more ways than one")
			}
		})
	}
}
