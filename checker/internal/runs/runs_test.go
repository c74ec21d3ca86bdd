package runs

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/internal/testmain"
)

func folder(t require.TestingT, dir string, width int, limit int64) *Folder {
	f, err := OpenFolder(dir, width, limit)
	require.NoError(t, err)
	return f
}

// all are the rows of a set with their depths.
func all(t require.TestingT, s *Set) map[[3]uint32]uint32 {
	out := map[[3]uint32]uint32{}
	for _, r := range s.Runs() {
		n := 0
		for row, depth := range rows(t, r) {
			_, twice := out[row]
			require.False(t, twice, "row %v stands in two runs", row)
			out[row] = depth
			n++
		}
		require.Equal(t, r.Rows, n)
	}
	return out
}

// rows are those of one run; they must come in order.
func rows(t require.TestingT, r *Run) map[[3]uint32]uint32 {
	out := map[[3]uint32]uint32{}
	c, err := r.Read()
	require.NoError(t, err)
	var last []uint32
	for {
		ok, err := c.Next()
		require.NoError(t, err)
		if !ok {
			break
		}
		require.Negative(t, slices.Compare(last, c.Row))
		last = slices.Clone(c.Row)
		out[[3]uint32(c.Row)] = c.Depth
	}
	require.NoError(t, c.Close())
	return out
}

// A set has each row that was added, at the level at which it was added first, however small the
// memory is, and after it was opened again.
func TestSetIsASet(t *testing.T) {
	top, n := testmain.QuickDir(t), 0
	rapid.Check(t, func(t *rapid.T) {
		dir := filepath.Join(top, strconv.Itoa(n))
		n++
		f := folder(t, dir, 3, 0)
		s, sorter := NewSet(f), NewSorter(f, rapid.SampledFrom([]int{1, 1 << 30}).Draw(t, "room"))
		want := map[[3]uint32]uint32{}
		word := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, 300), rapid.Uint32())
		for depth := range uint32(rapid.IntRange(1, 6).Draw(t, "levels")) {
			fresh := 0
			for range rapid.IntRange(0, 12).Draw(t, "rows") {
				row := [3]uint32{word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")}
				if _, ok := want[row]; !ok {
					want[row] = depth
					fresh++
				}
				sorter.most, sorter.together = 0, 1 // the room is looked at each time
				require.NoError(t, sorter.Add(row[:]))
			}
			added, err := s.AddNew(sorter, depth)
			require.NoError(t, err)
			require.Equal(t, fresh > 0, added)
			if !added {
				continue
			}
			require.Len(t, rows(t, s.Frontier()), fresh)
			if rapid.Bool().Draw(t, "reopen") {
				l := s.Listing()
				require.NoError(t, f.Keep(l.Files()))
				require.NoError(t, f.Close())
				f = folder(t, dir, 3, 0)
				sorter = NewSorter(f, sorter.room)
				s, err = Reopen(f, l)
				require.NoError(t, err)
				require.Len(t, rows(t, s.Frontier()), fresh)
			}
		}
		require.Equal(t, want, all(t, s))
		require.Equal(t, len(want), s.Len())
		require.NoError(t, f.Close())
	})
}

// rowsWritten is how many rows a run has whose last block is not full.
const rowsWritten = 3*blockRows - 100

// written is a run of some blocks.
func written(t *testing.T, f *Folder) *Run {
	w, err := f.Create("run")
	require.NoError(t, err)
	for i := range uint32(rowsWritten) {
		require.NoError(t, w.Add([]uint32{i / 100, i % 100, 7 * i}, i%5))
	}
	r, err := w.Finish()
	require.NoError(t, err)
	return r
}

// A cursor that seeks finds what one that reads everything finds.
func TestSeek(t *testing.T) {
	r := written(t, folder(t, t.TempDir(), 3, 0))
	for _, step := range []uint32{1, 37, 900, 2500} {
		c, err := r.Read()
		require.NoError(t, err)
		for i := uint32(0); i < rowsWritten; i += step {
			ok, err := c.Seek([]uint32{i / 100, i % 100, 7 * i})
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, []uint32{i / 100, i % 100, 7 * i}, c.Row)
			require.Equal(t, i%5, c.Depth)
		}
		ok, err := c.Seek([]uint32{1 << 30, 0, 0})
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, c.Close())
	}
}

// A file in which a byte was changed, or which was cut, gives an error and no other rows.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir, 3, 0)
	r := written(t, f)
	want := rows(t, r)
	path := filepath.Join(dir, "run")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	try := func(what string, at int, b []byte) {
		require.NoError(t, os.WriteFile(path, b, 0o666))
		got, err := readAll(f)
		require.Error(t, err, "%s at %d gave %d rows of %d", what, at, len(got), len(want))
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/500 {
		b := slices.Clone(whole)
		b[at] ^= 0x40
		try("changed", at, b)
		try("cut", at, whole[:at])
	}
	for at := len(whole) - trailerBytes - 100; at < len(whole); at++ { // the index and what follows it, byte by byte
		b := slices.Clone(whole)
		b[at]++
		try("changed", at, b)
	}
}

func readAll(f *Folder) (map[[3]uint32]uint32, error) {
	out := map[[3]uint32]uint32{}
	r, err := f.Open("run")
	if err != nil {
		return nil, err
	}
	c, err := r.Read()
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // it was only read
	for {
		ok, err := c.Next()
		if !ok || err != nil {
			return out, err
		}
		out[[3]uint32(c.Row)] = c.Depth
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	f := folder(t, dir, 3, 1000)
	_, err := OpenFolder(dir, 3, 0)
	require.ErrorContains(t, err, "another process works in")
	require.NoError(t, f.Write("state", make([]byte, 600)))
	require.NoError(t, f.Write("state.not", nil))
	require.ErrorIs(t, f.Write("state", make([]byte, 600)), ErrFull)
	b, err := f.Read("state")
	require.NoError(t, err)
	require.Len(t, b, 600)
	w, err := f.Create("run")
	require.NoError(t, err)
	var full error
	for i := uint32(0); full == nil && i < 1<<20; i++ {
		full = w.Add([]uint32{i, 0, 0}, 0)
	}
	require.ErrorIs(t, full, ErrFull)
	require.NoError(t, w.Abandon())
	require.Equal(t, int64(600), f.Used())
	require.NoError(t, f.Keep(map[string]bool{}))
	require.Zero(t, f.Used())
	require.ErrorContains(t, func() error {
		w, err := f.Create("run")
		require.NoError(t, err)
		require.NoError(t, w.Add([]uint32{1, 2, 3}, 0))
		err = w.Add([]uint32{1, 2, 3}, 0)
		require.NoError(t, w.Abandon())
		return err
	}(), "each once")
	require.NoError(t, f.Close())
	again := folder(t, dir, 3, 0)
	require.NoError(t, again.Close())
}
