package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The manual page has each command with each of its flags, and the formatter has nothing to say about it.
func TestManualPage(t *testing.T) {
	page := run(t, "man")
	require.Equal(t, ExitAsClaimed, page.exit)
	for _, want := range []string{
		".TH LOCKPICK 1\n", ".SH RUN\n.B lockpick run COMMAND... | run FILE.txtar", ".TP\n.B \\-\\-refused 1,75\n",
		".TP\n.B \\-n, \\-\\-copies N\n", ".SH WEIGH\n",
	} {
		require.Contains(t, page.stdout, want)
	}
	require.NotContains(t, page.stdout, ".SH COMPLETION")
	require.NotContains(t, run(t, "--help").stdout, "manual page")
	require.Equal(t, "\\&.x\n\\&'y\na\\e\\-b", roff(".x\n'y\na\\-b"))
	if _, err := exec.LookPath("groff"); err != nil {
		return
	}
	groff := exec.Command("groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8")
	groff.Stdin = strings.NewReader(page.stdout)
	said, err := groff.CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(said))
}
