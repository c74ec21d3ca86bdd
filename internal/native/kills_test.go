//go:build linux && amd64

package native

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// kills kills commands on the file n, and what must not come of it is that n is empty.
func kills(t *testing.T, k Kills, commands ...string) Killed {
	t.Helper()
	task := shell(t, []string{"n=2\n1\n"}, commands...)
	task.Refuses = func(string) bool { return true }
	k.Lost = func(_ map[string]string, _ []map[string]string, left map[string]string) string {
		if left["n"] == `""` {
			return "n is empty"
		}
		return ""
	}
	for i, s := range k.Steps {
		if s.Path != "" {
			k.Steps[i].Path = task.Dir + "/" + s.Path
		}
	}
	got, err := open(t, task).Kill(context.Background(), 20*time.Second, k)
	require.NoError(t, err)
	return got
}

// Where another command has to go on before, one is killed at a later turn than the first: as it was seen elsewhere,
// or in a drawn order.
func TestKillAtALaterTurn(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	steps := []Step{{1, "open", "go", nil}, {1, "end", "", nil}, {0, "stat", "go", nil}, {0, "open", "n", nil},
		{0, KillStep, "", nil}}
	const waits, opens = "[ -e go ] || exit 0; echo new > n", "echo x > go"
	got := kills(t, Kills{Steps: steps}, waits, opens)
	require.Equal(t, Killed{Places: got.Places, Bad: &Found{Seen: 3, Runs: 3, Differs: []string{"n is empty"},
		Schedule: "B to its end, A killed after 3 calls, the rest to their ends"}}, got)
	got = kills(t, Kills{}, waits, opens)
	require.NotNil(t, got.Bad)
	require.Positive(t, got.Drawn)
}

// Who is killed has gone on before another one did.
func TestKillAtASecondTurn(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	steps := []Step{{0, "stat", "go", nil}, {1, "open", "go", nil}, {1, "end", "", nil}, {0, "stat", "go", nil},
		{0, "open", "n", nil}, {0, KillStep, "", nil}}
	got := kills(t, Kills{Steps: steps}, "[ -e go ] && exit 0; [ -e go ] || exit 0; echo new > n", "echo x > go")
	require.NotNil(t, got.Bad)
	require.Contains(t, got.Bad.Schedule, "A stopped after 2 calls, B to its end, A killed after 2 calls")
	require.Zero(t, got.Tried)
}

// What a killed command has started goes on, and is killed later.
func TestKillOfWhatItHasStarted(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	steps := []Step{{0, "stat", "n", nil}, {0, KillStep, "", nil}, {0, "read", "n", nil}, {0, "truncate", "n", nil}}
	got := kills(t, Kills{Steps: steps}, "sort -o n n; true", "true")
	require.NotNil(t, got.Bad)
	require.Contains(t, got.Bad.Schedule, "what A has started killed after ")
	require.Nil(t, kills(t, Kills{Steps: []Step{{0, KillStep, "", nil}}}, "echo 1 > m; mv m n", "true").Bad)
}

// What a command of several processes leaves behind alone depends on their order: what a kill leaves behind is not told
// before many serial runs were made.
func TestKilledEndOfAnotherOrder(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	k := Kills{Lost: func(map[string]string, []map[string]string, map[string]string) string { return "lost" }}
	for command, least := range map[string]int{"mv n m": 4, "(: > n) & mv n m; wait": 2 + severalMore} {
		task := shell(t, []string{"n=1\n"}, command)
		task.Refuses = func(string) bool { return true }
		c := open(t, task)
		got, err := c.Kill(context.Background(), 20*time.Second, k)
		require.NoError(t, err)
		require.NotNil(t, got.Bad)
		require.GreaterOrEqual(t, c.rounds, least, command)
	}
}
