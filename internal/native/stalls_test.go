//go:build linux && amd64

package native

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A stall is waited for. What a command does that is stalled with nobody beside it is one of the serial ends.
func TestStallsAreWaitedFor(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	const lease = `if mkdir l; then :; else at=$(stat -c %Y l) || exit 1 # it is gone by now
[ $(($(date +%s)-at)) -gt LIMIT ] && rm -r l && mkdir l || exit 1; fi
read x < n; echo $((x+1)) > n; rmdir l`
	const ownAge = "a=$(date +%s); read x < n; [ $(($(date +%s)-a)) -gt 1 ] && echo late > n || echo soon > n"
	for _, c := range []struct {
		command string
		stalled time.Duration
		broken  bool
	}{
		{strings.Replace(lease, "LIMIT", "1", 1), 3 * time.Second, true},
		{strings.Replace(lease, "LIMIT", "9", 1), 100 * time.Millisecond, false}, // more than a busy machine delays it
		{ownAge, 3 * time.Second, false},
	} {
		task := shell(t, []string{"n=0\n"}, c.command, c.command)
		task.Refuses = func(exit string) bool { return exit == "exit 1" }
		task.StallFor = c.stalled
		check := open(t, task)
		name := check.task.Dir + "/n"
		steps := []Step{{Call: "open", Path: name}, {Command: Nobody}, {Command: 1, Call: "end"},
			{Call: "end"}}
		got, err := check.Carry(context.Background(), steps, false, false, time.Second)
		require.NoError(t, err)
		require.Equal(t, c.broken, got.Bad > 0, "%+v", got)
	}
}

// Time passes where it does in the script, and before the command that goes on then begins to.
func TestStallsAt(t *testing.T) {
	a, b, stall := Step{Call: "read"}, Step{Command: 1, Call: "read"}, Step{Command: Nobody}
	steps := []Step{a, b, b, stall, b}
	early := []Step{a, stall, b, b, b}
	require.Equal(t, [][]Step{steps, steps, steps, early, early, early}, stallsAt(steps))
	require.Len(t, stallsAt([]Step{a, b}), 3)
	require.Equal(t, 3, stallOf(steps), "the script is as it was")
}
