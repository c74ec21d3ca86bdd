package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// Where the links of directories are hidden a directory has one, whatever is made in it, and none
// when it was removed; those of files show.
func TestDirLinksHidden(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		m := fsfake.New(fsfake.Options{DirLinksHidden: hidden})
		p := m.Proc(1)
		links := func(name string) uint32 {
			r := p.Do(fsfake.Op{Call: fsfake.CallStat, Path: name})
			require.True(t, r.OK())
			return r.Stat.Nlink
		}
		require.NoError(t, p.MkdirAll("/d/e", 0o755))
		require.NoError(t, p.WriteFile("/f", nil, 0o644))
		require.NoError(t, p.Link("/f", "/g"))
		require.Equal(t, map[bool]uint32{false: 3, true: 1}[hidden], links("/d"))
		require.EqualValues(t, 2, links("/f"))
		fd := p.Do(fsfake.Op{Call: fsfake.CallOpen, Path: "/d/e"})
		require.True(t, fd.OK())
		require.NoError(t, p.Remove("/d/e"))
		require.Equal(t, map[bool]uint32{false: 2, true: 1}[hidden], links("/d"))
		r := p.Do(fsfake.Op{Call: fsfake.CallFstat, FD: int(fd.N)})
		require.True(t, r.OK())
		require.Zero(t, r.Stat.Nlink)
	}
}
