//go:build linux && amd64

package tracer

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockpick/internal/testmain"

	"github.com/stretchr/testify/require"
)

// A thread that computes without a call is poked, so that others may go on; one that does not
// have the CPU is not: which call comes first must not depend on how busy the machine is.
func TestWhoIsPoked(t *testing.T) {
	testmain.Slow(t, "it waits for what sleeps", "./fsfake/tracer")
	for program, want := range map[string]string{"while :; do :; done": "T", "exec sleep 60": "S"} {
		cmd := exec.Command("sh", "-c", program)
		if err := cmd.Start(); err != nil {
			t.Skipf("SKIPPED: there is no sh here: %v", err)
		}
		r := &Run{over: make(chan struct{})}
		r.dog.begin(&thread{p: &process{real: cmd.Process.Pid}, tid: cmd.Process.Pid})
		go r.watch()
		state := func() string {
			b, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat")
			require.NoError(t, err)
			return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0]
		}
		if want == "T" {
			require.Eventually(t, func() bool { return state() == want }, 10*time.Second, 10*time.Millisecond)
		} else {
			time.Sleep(450 * time.Millisecond) // four looks
			require.Equal(t, want, state())
		}
		close(r.over)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
}
