package fsfake_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A new file is stamped with the time of the last tick: it looks older than the clock that was read before,
// on the kernel and under TimesLate, and never newer than the clock after.
func TestStampsAreLate(t *testing.T) {
	m := fsfake.New(fsfake.Options{FileTimes: fsfake.TimesLate})
	p := m.Proc(1)
	before := m.Now()
	require.NoError(t, p.WriteFile("/f", nil, 0o644))
	info, err := p.Stat("/f")
	require.NoError(t, err)
	require.Equal(t, before.Add(-fsfake.Tick), info.ModTime())
	m.Advance(time.Second)
	require.NoError(t, p.Chmod("/f", 0o600))
	require.Equal(t, m.Now().Add(-fsfake.Tick).UnixNano(), m.View(mustLookup(t, m, "/f")).Ctime)

	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: stamps were not compared with a kernel other than Linux, which stamps by ticks; go test ./fsfake on Linux does it")
	}
	older, name := 0, filepath.Join(t.TempDir(), "f")
	for range 200 {
		before := time.Now()
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.False(t, info.ModTime().After(time.Now()))
		if info.ModTime().Before(before) {
			older++
		}
		require.NoError(t, os.Remove(name))
	}
	require.Positive(t, older, "no file looked older than the clock before: does this kernel stamp by ticks?")
}

func mustLookup(t *testing.T, m *fsfake.Machine, path string) fsfake.InodeID {
	id, ok := m.Lookup(path)
	require.True(t, ok)
	return id
}
