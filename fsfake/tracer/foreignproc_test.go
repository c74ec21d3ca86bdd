//go:build linux && amd64

package tracer_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake/tracer"
)

// Where /proc is that of another pid namespace, as in bwrap --unshare-pid without --proc, that is what is said.
func TestProcOfAnotherNamespace(t *testing.T) {
	const inside = "LOCKPICK_TEST_UNSHARED"
	if os.Getenv(inside) != "" {
		_, err := tracer.Start(config("true"))
		require.ErrorContains(t, err, "/proc is not mounted, or shows another pid namespace than this one")
		return
	}
	c := exec.Command(need(t, "unshare"), "--user", "--map-root-user", "--pid", "--fork", os.Args[0],
		"-test.run", "^TestProcOfAnotherNamespace$")
	c.Env = append(os.Environ(), inside+"=1")
	if err := exec.Command(c.Path, "--user", "--map-root-user", "--pid", "--fork", "true").Run(); err != nil {
		t.Skipf("SKIPPED: pid namespaces are refused here (%v); elsewhere go test ./fsfake/tracer runs it", err)
	}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
