package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/scenarios/all"
)

// What becomes of a certificate shows in the exit status: 1 where it proves nothing, 2 where it is none.
func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(command string, status int) string {
		var out, errs bytes.Buffer
		got := cli.Run(context.Background(), all.All(), strings.Fields(command), &out, &errs, nil)
		require.Equal(t, status, got, command)
		return out.String() + errs.String()
	}
	const row = "check gofrs-flock/keep-file/contend --procs any "
	run(row+"--property mutual-exclusion --certificate c", cli.ExitAsClaimed)
	require.Contains(t, run("verify c", cli.ExitAsClaimed), "any number of processes; nobody is killed (verified: ")

	text, err := os.ReadFile("c")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("changed", bytes.Replace(text, []byte("/"), []byte("."), 1), 0o600))
	require.Contains(t, run("verify changed", cli.ExitUsage), "a byte has changed")
	require.NoError(t, os.WriteFile("none", []byte("hello\n"), 0o600))
	require.Contains(t, run("verify none", cli.ExitUsage), "it is no certificate")
	run("verify missing", cli.ExitUsage)
	lines := bytes.SplitAfter(text, []byte("\n"))
	less := bytes.Join(lines[:len(lines)-3], nil)
	require.NoError(t, os.WriteFile("less", fmt.Appendf(less, "{\"SHA256\":\"%x\"}\n", sha256.Sum256(less)), 0o600))
	require.Contains(t, run("verify less", cli.ExitDiffers), "less proves nothing: ")

	require.Contains(t, run("check gofrs-flock/keep-file/contend --certificate c", cli.ExitUsage), "add --procs any")
	require.Contains(t, run("check ctx gofrs-flock --procs any --certificate c", cli.ExitUsage), "name one scenario")
	require.Contains(t, run("check npm-lockfile/lock-sync/dead-owner --procs any "+
		"--property mutual-exclusion --certificate d", cli.ExitAsClaimed), "nothing is proved, so d is not written")
	require.NoFileExists(t, "d")
}
