package fsfake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "lockpick/fsfake"
)

// A key has a number in the place of what a large file held at the start, whichever file holds it, another one for each
// data. Any other data, also the beginning of it, stands in the key.
func TestKeysNumberLargeData(t *testing.T) {
	const size = 5000
	x, y := strings.Repeat("x", size), strings.Repeat("y", size)
	m := New(Options{})
	p := m.Proc(1)
	for _, f := range [][2]string{{"/x", x}, {"/y", y}, {"/small", "1"}} {
		require.NoError(t, p.WriteFile(f[0], []byte(f[1]), 0o644))
	}
	m.KeepStart()
	keys := map[string]string{}
	for name, c := range map[string]struct {
		do   func(p *Proc) error
		long int // sizes of data in the key
	}{
		"as at the start":      {func(*Proc) error { return nil }, 0},
		"a copy":               {func(p *Proc) error { return p.WriteFile("/z", []byte(y), 0o644) }, 0},
		"the one in the other": {func(p *Proc) error { return p.WriteFile("/x", []byte(y), 0o644) }, 0},
		"renamed":              {func(p *Proc) error { return p.Rename("/x", "/y") }, 0},
		"cut short":            {func(p *Proc) error { return p.Truncate("/x", size-1000) }, size - 1000},
		"longer":               {func(p *Proc) error { return p.WriteFile("/x", []byte(x+"x"), 0o644) }, size + 1},
		"one byte differs":     {func(p *Proc) error { return p.WriteFile("/x", []byte(x[1:]+"y"), 0o644) }, size},
	} {
		t.Run(name, func(t *testing.T) {
			n := m.Clone()
			require.NoError(t, c.do(n.Proc(1)))
			key := n.AppendKey(nil)
			require.GreaterOrEqual(t, len(key), c.long)
			require.Less(t, len(key), c.long+1000)
			require.Empty(t, keys[string(key)], "another one has this key")
			keys[string(key)] = name
		})
	}
}
