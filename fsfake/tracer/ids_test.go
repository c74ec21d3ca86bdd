//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A program that is told by the kernel who sent a signal or a message, who has a lock, or since when the machine runs,
// cannot tell that the tracer has given it another pid and another clock.
func TestIdsAsOnTheKernel(t *testing.T) {
	t.Parallel()
	testmain.OneWorker(t)
	program := compiled("gcc", "-O1", "-w", "-pthread", "-o")(t, file(t, "ids.c"))[0]
	for _, what := range []string{"signals", "locks", "sockets", "owners", "orphans", "since"} {
		got, _ := alone(t, newMachine(), config(program, what))
		require.Equal(t, native(t, program, what), got, what)
	}
}
