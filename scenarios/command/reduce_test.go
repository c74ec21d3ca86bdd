package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		{"each prints", "{ read x <n; echo one; } & echo two & wait", 2, true, false},
		{"the first prints beside the other", ": >a & : >b & wait $!; [ ! -e a ] || echo a; wait", 2, false, true},
		{"one has a child", "{ sh -c :; : >a; } & [ ! -e a ] || echo a; wait", 2, false, false},
		{"each locks", "{ flock 9; [ ! -e a ] || echo a; } 9<n & { flock 9; >a; } 9<n & wait", 2, false, false},
		{"one looks whether another has ended", family + " looks 0", 8, false, true},
		{"two look at a child each", "[ -e n ]; " + family + " peek a & " + family + " peek b; wait", 4, false, false},
		{"three end", "[ -e n ]; " + family + " order 0", 6, false, false},
		{"one writes beside the other's end", "{ >n; echo; >a; echo; >b; echo; >c; } | true", 4, false, false},
		{"which ends first", family + " first 0", 2, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long {
				testmain.OnlyLong(t, "others leave out orders, too", "./scenarios/command")
			}
			spec := command.Spec{Commands: []command.Line{{Shell: c.line}}, Files: []command.File{{Name: "n", Content: "0\n"}}}
			all, most, err := command.Ends(spec, true)
			needTracing(t, err)
			require.NoError(t, err)
			ends, orders, err := command.Ends(spec, false)
			require.NoError(t, err)
			require.Equal(t, all, ends)
			require.Len(t, ends, c.ends)
			require.Equal(t, c.all, orders == 0)
			require.Less(t, orders, most)
		})
	}
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
