package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A child whose parent is killed goes on as before, unless it looks at its parent: then it waits for ever, here. One
// execution serves all places of a kill where it does not look.
func TestBereft(t *testing.T) {
	bin := compiled(t, "gcc", "bereft.c")
	for _, c := range []struct{ how, deadlock string }{
		{"plain", "holds"}, {"pause", "holds"}, {"grandchild", "holds"}, {"map", "holds"},
		{"getppid", "broken"}, {"signal", "broken"}, {"pipe", "broken"}, {"socket", "broken"}, {"epipe", "broken"},
		{"proc", "broken"}, {"kill", "broken"}, {"group", "broken"}, {"nice", "broken"}, {"pidfd", "broken"},
		{"record", "broken"}, {"robust", "broken"}, {"opens", "broken"},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.how, "./scenarios/command", "plain", "grandchild", "getppid", "signal", "pipe",
				"epipe", "kill", "pidfd", "record", "robust")
			sc := scenario(t, "gcc", twice(bin+" "+c.how), map[string]string{"n": "0\n", "lock": ""}, "crashes 1")
			r := decide(t, sc, scenarios.Deadlock, c.deadlock)
			if c.deadlock == "broken" {
				require.Contains(t, r.Counterexample.Schedule.String(), "!", "a kill is what it needs")
			}
		})
	}
}
