package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// The first command has more own orders than are followed, and leaves "1" or "2" as its children come last. That the
// other one delays a child shows no violation. A reader between the two is one, which says that one order was followed.
func TestOwnOrders(t *testing.T) {
	for _, c := range []struct{ other, verdict, says string }{
		{"sh -c 'mkdir l || exit 75; cat n; rmdir l'", "unknown", ""},
		{"sh -c 'cat f > h'", "broken", "follows one order"},
	} {
		t.Run(c.verdict, func(t *testing.T) {
			t.Parallel()
			testmain.Slow(t, "it follows a hundred orders", "./scenarios/command")
			sc := scenario(t, "gcc", []string{compiled(t, "gcc", "own-orders.c"), c.other},
				map[string]string{"f": "0", "n": ""}, "refused 75")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, strings.Join(r.Conditions(), "; "), c.says)
		})
	}
}
