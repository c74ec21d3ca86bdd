package cli

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program whose time is over ends, also while a command of it is executed that nobody interrupts.
func TestGivesUp(t *testing.T) {
	ended := make(chan int, 1)
	a := &app{stderr: io.Discard, giveUp: func(status int) { ended <- status }, grace: time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	done := a.within(ctx)
	cancel()
	require.Equal(t, ExitUnknown, <-ended)
	done()

	ctx, cancel = context.WithCancel(t.Context())
	a.grace = time.Hour
	done = a.within(ctx)
	cancel()
	done() // it has ended by itself
	a.within(t.Context())()
	require.Empty(t, ended)
}
