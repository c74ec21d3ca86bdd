//go:build linux && amd64

package tracer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The mkstemp(3) of glibc 2.36 names its first try after an address on the stack, in units of its alignment, xor the
// nanoseconds. Where the stack begins depends on how long the environment is. Two processes that begin at one time have
// one name in hardly any environment.
func TestProcessesThatBeginAtOneTimeNameTheirTemporaryFilesApart(t *testing.T) {
	const stacks, pids, now = 4096, 10, 123_456_789
	equal := 0
	for stack := range uint64(stacks) {
		names := map[uint64]bool{}
		for pid := 101; pid < 101+pids; pid++ {
			name := (1<<40 + stack - stackShift(pid)/16) ^ uint64(now+aheadOf(pid))
			if names[name] {
				equal++
			}
			names[name] = true
		}
	}
	require.Less(t, equal, stacks*pids*pids/1000)
}
