//go:build linux

package tempdir

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A directory lives as long as somebody holds it, whatever pid is in its name: it may be of another pid namespace.
func TestOnlyWhatNobodyHoldsIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	mine, err := New()
	require.NoError(t, err)
	name := func(pid string) string { return filepath.Join(os.TempDir(), prefix+pid+"-1") }
	held, left, alive := name("999999998"), name("999999999"), name("1")
	for _, dir := range []string{held, left, alive} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "in"), 0o700))
	}
	lock, err := hold(held)
	require.NoError(t, err)
	next, err := New()
	require.NoError(t, err)
	for dir, stays := range map[string]bool{mine.Path: true, next.Path: true, held: true, left: false, alive: false} {
		_, err := os.Stat(dir)
		require.Equal(t, stays, err == nil, dir)
	}
	require.NoError(t, lock.Close())
	mine.Remove()
	next.Remove()
	last, err := New()
	require.NoError(t, err)
	last.Remove()
	Dir{}.Remove()
	rest, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, rest)
}

// Programs that begin at the same time do not take each other's directories for ones that were left.
func TestManyBeginAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				d, err := New()
				if err == nil {
					_, err = os.Stat(d.Path)
				}
				if err != nil {
					t.Error(err)
					return
				}
				d.Remove()
			}
		})
	}
	all.Wait()
}

// What a program has taken its own rights from goes, too.
func TestRemoveWithoutRights(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := New()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(filepath.Base(d.Path), prefix))
	require.NoError(t, os.MkdirAll(filepath.Join(d.Path, "a", "b"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(d.Path, "a"), 0))
	d.Remove()
	require.NoDirExists(t, d.Path)
}
