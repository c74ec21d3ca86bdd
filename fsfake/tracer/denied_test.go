//go:build linux && amd64

package tracer_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"golang.org/x/sys/unix"
	"lockpick/internal/testmain"

	"lockpick/fsfake/tracer"
)

const startsTraced = "LOCKPICK_TEST_STARTS_TRACED"

// Where a container refuses a call that is needed, an error says at once what to do.
func TestRefusedInContainers(t *testing.T) {
	testmain.OneWorker(t)
	if os.Getenv(startsTraced) != "" {
		_, err := tracer.Start(config("/bin/true"))
		fmt.Println(err)
		return
	}
	need(t, "true")
	deny := compiled("gcc", "-O1", "-o")(t, file(t, "deny.c"))[0]
	for _, call := range []int{unix.SYS_PERSONALITY, unix.SYS_SECCOMP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, deny, fmt.Sprint(call), os.Args[0], "-test.run=^TestRefusedInContainers$")
		c.Env = append(os.Environ(), startsTraced+"=1")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%d: %s", call, out)
		require.Contains(t, string(out), "cannot be traced here", call)
		require.Contains(t, string(out), "docker run --security-opt seccomp=unconfined", call)
	}
}
