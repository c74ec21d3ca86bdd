package cli

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// givingUp is what a program says that gives up after an interrupt, or when its time is over, with what it knows.
func givingUp(t *testing.T, known *early, over bool) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	ended := make(chan int, 1)
	a := &app{name: "lockpick", stdout: &out, stderr: &err, giveUp: func(status int) { ended <- status }}
	a.early.text, a.early.shown, a.early.within = known.text, known.shown, known.within
	a.early.doing = known.doing
	a.grace = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	if over {
		ctx, cancel = context.WithTimeout(t.Context(), time.Microsecond)
	}
	defer a.within(ctx)()
	if !over {
		cancel()
	}
	require.Equal(t, ExitUnknown, <-ended)
	cancel()
	return out.String(), err.String()
}

// A program whose time is over ends, also while a command of it is executed that nobody interrupts. It says what it
// knows.
func TestGivesUp(t *testing.T) {
	learning := &early{}
	(&progress{early: learning}).begin("run:", "learning")
	_, said := givingUp(t, learning, true)
	require.Equal(t, "lockpick: stopped at: run: learning. What is not shown above has no verdict. Leave --timeout "+
		"out, or give a longer one\n", said)
	within := &early{within: "serializable holds with up to 1 preemption (all 7 places), unknown beyond"}
	_, said = givingUp(t, within, false)
	require.Equal(t, "lockpick: stopped, and known so far: serializable holds with up to 1 preemption (all 7 places), "+
		"unknown beyond\n", said)
	const above = "lockpick: stopped: whether the counterexample above stands where clocks move and on this kernel was " +
		"not known yet\n"
	shown, said := givingUp(t, &early{text: "First counterexample"}, false)
	require.Equal(t, "First counterexample", shown)
	require.Equal(t, above, said)
	shown, said = givingUp(t, &early{shown: true, within: "holds"}, false)
	require.Empty(t, shown, "it was shown before")
	require.Equal(t, above, said)
}

// Who ends in time does not give up.
func TestEndsInTime(t *testing.T) {
	a := &app{giveUp: func(int) { t.Error("it has ended by itself") }, grace: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	done := a.within(ctx)
	cancel()
	done()
	a.within(t.Context())()
}
