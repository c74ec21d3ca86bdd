//go:build linux

package fsfake_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/internal/testmain"
)

// mountedProfiles are the profiles that are compared with a file system made for it: in a file, by
// mkfs, or nowhere.
var mountedProfiles = []struct {
	profile fsfake.Profile
	mkfs    []string
}{
	{fsfake.Ext4, []string{"mkfs.ext4", "-q"}},
	{fsfake.XFS, []string{"mkfs.xfs", "-q"}},
	{fsfake.Btrfs, []string{"mkfs.btrfs", "-q"}},
	{fsfake.Tmpfs, nil},
}

// onMounted returns how many sequences are drawn for file systems that a test mounts, and skips it
// where it cannot. The flags that it changes are put back.
func onMounted(t *testing.T, n int) int {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root mounts file systems, so that no profile was compared with its file system; as root, go test ./fsfake runs it")
	}
	if testing.Short() || raceEnabled {
		t.Skip("SKIPPED with -short, and under the race detector: making file systems takes seconds, and what is compared are processes of their own; go test ./fsfake runs it")
	}
	dir, fs := *dirFlag, *fsFlag
	t.Cleanup(func() { *dirFlag, *fsFlag, probeOnce = dir, fs, sync.Once{} })
	if *sequencesFlag > 0 {
		n = *sequencesFlag
	}
	return n
}

// TestKernelProfiles compares each profile with its file system on a loop device: what is written down
// as different, and drawn sequences (-kernel.sequences). Only root may mount.
func TestKernelProfiles(t *testing.T) {
	n := onMounted(t, testmain.Many(100, 100, 300))
	if !testmain.OwnMounts(t, "./fsfake") {
		return
	}
	for _, p := range mountedProfiles {
		t.Run(p.profile.String(), func(t *testing.T) {
			*dirFlag, *fsFlag, probeOnce = mounted(t, p.profile, p.mkfs), p.profile.String(), sync.Once{}
			kept, err := readSequence("testdata/kernel/profiles/differences.txt")
			require.NoError(t, err)
			gen := sequences(true, profile())
			require.NoError(t, onKernel(0, func(m *kernel.Machine) error {
				if len(p.profile.Differs()) > 0 { // ext4 is told apart from it
					*fsFlag = fsfake.Ext4.String()
					_, wrong, err := runPair(m, kept, nil)
					if err != nil || wrong == nil {
						return fmt.Errorf("%s does nothing otherwise than ext4: %w", p.profile, err)
					}
					*fsFlag = p.profile.String()
				}
				for k := range n + 1 {
					s := kept
					if k > 0 {
						s = gen.Example(*seedFlag + k - 1)
					}
					_, wrong, err := runPair(m, s, nil)
					if err != nil {
						return fmt.Errorf("sequence %d: %w\n%s", k, err, s)
					}
					if wrong != nil {
						text, err := shrunk(m, s, wrong)
						if err != nil {
							return err
						}
						t.Errorf("sequence %d: the profile and the file system differ\n%s", k, text)
						return nil
					}
				}
				return nil
			}))
		})
	}
}

// mounted returns a directory on a new file system; it skips the test where there can be none.
func mounted(t *testing.T, p fsfake.Profile, mkfs []string) string {
	dir := t.TempDir()
	if mkfs == nil {
		if err := unix.Mount("none", dir, p.String(), 0, ""); err != nil {
			t.Skipf("SKIPPED: a %s cannot be mounted here, so that its profile was not compared; go test ./fsfake runs it where it can: %v", p, err)
		}
	} else {
		if _, err := exec.LookPath(mkfs[0]); err != nil {
			t.Skipf("SKIPPED: there is no %s here, so that the profile %s was not compared; go test ./fsfake runs it where there is", mkfs[0], p)
		}
		image := filepath.Join(t.TempDir(), "image")
		require.NoError(t, os.WriteFile(image, nil, 0o600))
		require.NoError(t, os.Truncate(image, 512<<20))
		out, err := exec.Command(mkfs[0], append(mkfs[1:], image)...).CombinedOutput()
		require.NoError(t, err, string(out))
		if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: a %s on a loop device cannot be mounted here, so that its profile was not compared; go test ./fsfake runs it where it can: %s", p, out)
		}
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}
