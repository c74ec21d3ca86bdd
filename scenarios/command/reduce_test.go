package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

// Orders that are left out end as others do. Where somebody can tell them apart, for children print beside each other,
// none is left out.
func TestOrdersLeftOut(t *testing.T) {
	testmain.Slow(t, "it executes hundreds of orders", "./scenarios/command")
	t.Parallel()
	family := compiled(t, "gcc", "family.c")
	for _, c := range []struct {
		name, line string
		ends       int
		all        bool // none is left out
		long       bool // only in the long form
	}{
		{"each prints", "{ read x <n; echo one; } & { [ -e n ]; echo two; } & wait", 2, true, false},
		{"each writes into a pipe", "{ { [ -e n ]; echo a; } & { [ -e n ]; echo b; } & wait; } | { read x; : >$x; }",
			2, false, true},
		{"the first prints beside the other", ": >a & : >b & wait $!; [ ! -e a ] || echo a; wait", 2, false, true},
		{"one has a child", "{ sh -c :; : >a; } & [ ! -e a ] || echo a; wait", 2, false, false},
		{"each locks", family + " sees 0", 2, false, false},
		{"one looks whether another has ended", family + " looks 0", 8, false, true},
		{"one looks at its child", "[ -e n ]; " + family + " peek a & [ -e n ]; wait", 2, false, true},
		{"two look at a child each", "[ -e n ]; " + family + " peek a & " + family + " peek b; wait", 4, false, true},
		{"one ends its child", ": >a & kill $!; wait $!; echo $? >b", 3, false, false},
		{"one ends its child, which has one", "{ sh -c ': >a'; : >b; } & kill $!; wait; :", 3, false, true},
		{"one ends its child, which then tells how its own has ended",
			"{ trap : TERM; sh -c ': >a' & wait $!; echo $? >b; } & kill $!; wait; :", 2, false, true},
		{"a clock is read beside children that sleep",
			"{ date +%s >a; : >n; } & [ -s n ] && : >b; sleep 1; date +%s >c; wait", 2, false, false},
		{"three end", "[ -e n ]; " + family + " order 0", 6, false, true},
		{"one writes beside the other's end", "{ >n; echo; >a; echo; >b; echo; >c; } | true", 4, false, false},
		{"one reads what the other has written", "{ echo a; echo b; } | { read x; : >$x; read y; : >$y; ls; }", 1,
			false, true},
		{"one looks whether a pipe is at its end",
			"bash -c '{ echo a; } | { : >b; read x; : >$x; [ -e n ]; read -t 0 && : >c; :; }'", 2, true, false},
		{"which ends first beside a look", "[ -e n ]; " + family + " ending 0", 2, false, true},
		{"which ends first", family + " first 0", 2, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long {
				testmain.OnlyLong(t, "others leave out orders, too", "./scenarios/command")
			}
			spec := command.Spec{Commands: []command.Line{{Shell: c.line}}, Files: []command.File{{Name: "n", Content: "0\n"}}}
			inTime := strings.Contains(c.line, "sleep")
			all, most, err := command.Ends(spec, true, inTime)
			needTracing(t, err)
			require.NoError(t, err)
			ends, orders, err := command.Ends(spec, false, inTime)
			require.NoError(t, err)
			require.Equal(t, all, ends)
			require.Len(t, ends, c.ends)
			require.Equal(t, c.all, orders == 0)
			if most > 9 { // of few, those before all began anew count
				require.Less(t, orders, most)
			}
		})
	}
}

// Orders that meet do not make all be followed once more for inode numbers that come back, where no file has gone.
func TestOrdersMeetOnce(t *testing.T) {
	testmain.Slow(t, "it executes hundreds of orders", "./scenarios/command")
	t.Parallel()
	orders := map[string]int{}
	for _, first := range []string{":", "rm n"} {
		line := first + "; { : >a; : >c; } & { : >b; : >d; } & wait"
		spec := command.Spec{Commands: []command.Line{{Shell: line}}, Files: []command.File{{Name: "n"}}}
		_, n, err := command.Ends(spec, false, false)
		needTracing(t, err)
		require.NoError(t, err)
		orders[first] = n
	}
	require.Greater(t, orders["rm n"], 3*orders[":"])
}

// So do those of drawn children, who look at files that others change, or nobody does.
func TestDrawnOrdersLeftOut(t *testing.T) {
	testmain.OnlyLong(t, "it executes thousands of orders", "./scenarios/command")
	parts := []string{
		":", "read x <n", "read x <m", "[ -e k ]", "[ -e k ] && : >l", "echo 1 >n", "echo 1 >>n", ": >>k", "rm -f k",
		"mkdir d/e",
		"[ -d d/e ] && : >l", "cd d", "[ -e o ] && : >o2", "echo $x >>x", "[ n -nt m ]", "[ -x m ]",
		"exec 3<m; read x <&3", "read x <&7", "read y <&7; echo $y >y", "echo x", "kill $$", "exec 8>>k; flock 8",
		"set -- *; echo $# >>x", "cat k", "touch n", "stat -c %Y n >>x", "date +%s >>x", "sleep 2",
	}
	script := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 2).Draw(t, "parts"), "; ")
	})
	compared, orders, most := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		line := fmt.Sprintf("exec 7<m; { %s; } & { %s; } & %s; wait; :", script.Draw(t, "one"), script.Draw(t, "two"),
			rapid.SampledFrom(parts).Draw(t, "own"))
		spec := command.Spec{Commands: []command.Line{{Shell: line}}, Files: []command.File{
			{Name: "n", Content: "0\n"}, {Name: "m", Content: "1\n2\n3\n4\n"}, {Name: "d/"}, {Name: "d/o"}}}
		inTime := rapid.Bool().Draw(t, "in time")
		all, every, err := command.Ends(spec, true, inTime)
		if err != nil {
			return // too many orders
		}
		ends, some, err := command.Ends(spec, false, inTime)
		require.NoError(t, err)
		require.Equal(t, all, ends)
		orders, most, compared = orders+some, most+every, compared+1
	})
	t.Logf("%d programs, %d of %d orders", compared, orders, most)
}

// The blocks of pids of children are apart from each other and within that of their parent.
func TestBlocksOfPids(t *testing.T) {
	seen := map[int]bool{}
	var each func(number, size int)
	each = func(number, size int) {
		at, sizes := command.Blocks(number)
		next := number + 1
		for i := range at {
			require.Equal(t, next, at[i])
			require.False(t, seen[at[i]])
			seen[at[i]] = true
			each(at[i], sizes[i])
			next += sizes[i]
		}
		require.Equal(t, number+size, next)
	}
	each(0, 900)
	require.Len(t, seen, 899)
}
