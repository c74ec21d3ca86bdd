package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// What --read prints of the end is compared, and not the bytes of files: also where nobody is killed.
func TestRunComparesWhatACommandReads(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t) // skips where programs cannot be traced
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte("read n <n; echo $((n+1)) >n\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	of := func(flags ...string) outcome {
		args := append([]string{"run", "--dir", dir, "--property", "serializable"}, flags...)
		return run(t, append(args, "sh job.sh", "sh job.sh")...)
	}
	require.Equal(t, ExitDiffers, of().exit)
	holds := of("--read", "wc -l <n", "--native", "1s")
	require.Equal(t, ExitAsClaimed, holds.exit, "each order leaves one line: %s", holds.stderr)
	require.Regexp(t, "native +[1-9].* all as in some serial order", holds.stdout)
	broken := of("--read", "cat n", "--native", "5s")
	require.Equal(t, ExitDiffers, broken.exit)
	require.Regexp(t, `--read += exit 0 "1\\n" += exit 0 "2\\n" += exit 0 "2\\n"`, broken.stdout)
	require.Contains(t, broken.stdout, "confirmed: 3 of 3 native runs in this order end as in no serial order")
}
