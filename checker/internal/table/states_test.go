package table

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker/internal/parallel"
)

// A set numbers rows as a map would, whatever their words are, and gives them back with what goes with
// them; so it does where a page is full, and words become larger than any before.
func TestStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, shards := rapid.IntRange(2, 5).Draw(t, "width"), rapid.IntRange(1, 3).Draw(t, "shards")
		s := NewTree(width, shards)
		if rapid.Bool().Draw(t, "few") {
			s = NewStates(width, shards)
		}
		word := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 3), rapid.SampledFrom([]uint32{0, 1 << 31, 1<<31 | 5, 1<<32 - 1}))
		var rows [][]uint32
		listed := 0
		known := map[[5]uint32]int{}
		add := func(row []uint32) {
			var key [5]uint32
			copy(key[:], row)
			_, is := known[key]
			at, found := s.Find(row)
			id, isNew := s.Insert(row)
			if is != found || isNew == is || is && (at != known[key] || id != at) {
				t.Fatalf("%v: %t, found at %d: %t, inserted at %d: %t", row, is, at, found, id, isNew)
			}
			if !is {
				known[key], rows = id, append(rows, slices.Clone(row))
			}
		}
		row := make([]uint32, width)
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			for range rapid.IntRange(0, 40).Draw(t, "drawn") {
				for k := range row {
					row[k] = word.Draw(t, "word")
				}
				add(row)
			}
			column, step := rapid.IntRange(0, width-1).Draw(t, "column"), word.Draw(t, "step")
			for range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 10, 10, 10, 10, 10, 10, 10, 10, pageStates, plainStates + 100}).Draw(t, "many") {
				row[column] += step
				row[0]++
				add(row)
			}
		}
		require.Equal(t, len(rows), s.Len())
		var room []uint32
		for _, row := range rows {
			id, ok := s.Find(row)
			if room = s.Row(id, room); !ok || !slices.Equal(row, room) {
				t.Fatalf("%v is %v", row, room)
			}
		}
		for k := range shards {
			for _, b := range s.cut(k, 0, s.Shards[k].n, 256) {
				room = b.Load(room)
				for i := range b.Len() {
					id, row := b.At(i)
					if !slices.Equal(s.Row(id, nil), row) {
						t.Fatalf("%v is %v in a batch", s.Row(id, nil), row)
					}
					listed++
				}
			}
		}
		require.Equal(t, len(rows), listed)
	})
}

// The parents of a tree, which grow while it does, are those that were given.
func TestParents(t *testing.T) {
	s := NewTree(2, 1)
	var rows []uint32
	const n = plainStates + 3*pageStates + 5
	for i := range uint32(n) {
		rows = append(rows, i, i%7<<31|i%7, i/2)
	}
	s.Store(0, rows)
	s.Store(0, rows) // the second time nothing is new
	require.Equal(t, n, s.Len())
	for i := range n {
		row := s.Row(i, nil)
		if parent, ok := s.Parent(i); row[0] != uint32(i) || row[1] != uint32(i%7)<<31|uint32(i%7) || ok != (i > 1) || parent != i/2-1 {
			t.Fatalf("state %d is %v, and its parent %d", i, row, parent)
		}
	}
	require.Less(t, s.Bytes(), (n+2*pageStates)*5+8*len(s.Shards[0].slots), "15 bits, 4, and 14")
}

// What several workers find is listed once, by who found it, all shards in turn.
func TestFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, 3).Draw(t, "shards")
		s := NewTree(1, shards)
		size := rapid.IntRange(1, 9).Draw(t, "size")
		finders := []*Found{NewFound(s), NewFound(s)}
		found := make([]map[uint32]bool, len(finders))
		listed := map[uint32]bool{}
		for range rapid.IntRange(0, 3).Draw(t, "levels") {
			for i := range found {
				found[i] = map[uint32]bool{}
			}
			for range rapid.IntRange(0, 20).Draw(t, "stored") {
				i, shard := rapid.IntRange(0, 1).Draw(t, "finder"), rapid.IntRange(0, shards-1).Draw(t, "shard")
				var rows []uint32
				for range rapid.IntRange(0, 30).Draw(t, "rows") {
					w := rapid.Uint32Range(0, 500).Draw(t, "row")*uint32(shards) + uint32(shard)
					if _, known := s.Shards[shard].find(w); !known {
						found[i][w] = true
					}
					rows = append(rows, w, 0)
					finders[i].Store(shard, rows[len(rows)-2:])
				}
			}
			for i, f := range finders {
				n := 0
				for _, b := range f.Batches(size) {
					b.Load(nil)
					require.LessOrEqual(t, b.Len(), size)
					for k := range b.Len() {
						id, row := b.At(k)
						require.Equal(t, row, s.Row(id, nil))
						require.True(t, found[i][row[0]] && !listed[row[0]])
						listed[row[0]] = true
						n++
					}
				}
				require.Equal(t, len(found[i]), n)
				require.Empty(t, f.Batches(size))
			}
		}
		require.Equal(t, s.Len(), len(listed))
	})
}

// Of two shards of which one has twice as many, one comes twice as often.
func TestShardsInTurn(t *testing.T) {
	s := NewStates(1, 2)
	f := NewFound(s)
	for shard, n := range []uint32{40, 20} {
		for i := range n {
			f.Store(shard, []uint32{i})
		}
	}
	var order []int
	for _, b := range f.Batches(10) {
		b.Load(nil)
		id, _ := b.At(0)
		order = append(order, id%2)
	}
	require.Equal(t, []int{0, 1, 0, 0, 1, 0}, order)
}

// Each batch of a queue is taken once, by its worker from the front and by others from the back.
func TestQueue(t *testing.T) {
	q := &Queue{Batches: make([]Batch, 1000)}
	for i := range q.Batches {
		q.Batches[i].first = i
	}
	var took [3][]int
	parallel.Together(len(took), func(k int) {
		for b := q.Next(k == 0); b != nil; b = q.Next(k == 0) {
			took[k] = append(took[k], b.first)
		}
	})
	require.True(t, slices.IsSorted(took[0]))
	for _, others := range took[1:] {
		slices.Reverse(others)
		require.True(t, slices.IsSorted(others))
	}
	all := slices.Concat(took[:]...)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 1000)
	require.Equal(t, 999, all[999])
}

// find looks for a row of one word.
func (sh *stateShard) find(w uint32) (int, bool) {
	for at := range sh.n {
		if sh.same(at, []uint32{w}) {
			return at, true
		}
	}
	return 0, false
}

// The batches of a level are read by others while its worker stores what comes after it, in the same pages: no byte that
// belongs to a batch is written any more.
func TestBatchesAreStill(t *testing.T) {
	for _, n := range []int{100, plainStates - 100, plainStates + pageStates/2, plainStates + pageStates} {
		s := NewStates(2, 2)
		row := func(i int) []uint32 { return []uint32{uint32(i), uint32(i%7)<<31 | uint32(i%7)} }
		add := func(from, to int) {
			var rows []uint32
			for i := from; i < to; i++ {
				rows = append(rows, row(i)...)
			}
			s.Store(1, rows)
		}
		add(0, n)
		batches := s.cut(1, 0, n, 256)
		last := batches[len(batches)-1].page
		words, packed := slices.Clone(last.words), slices.Clone(last.packed)
		parallel.Together(2, func(k int) {
			if k == 1 {
				add(n, n+plainStates)
				return
			}
			var room []uint32
			at := 0
			for _, b := range batches {
				room = b.Load(room)
				for i := range b.Len() {
					if id, is := b.At(i); id != 2*at+1 || !slices.Equal(row(at), is) {
						t.Errorf("state %d of %d is %v with the number %d", at, n, is, id)
					}
					at++
				}
			}
			if at != n {
				t.Errorf("%d states of %d", at, n)
			}
		})
		require.True(t, slices.Equal(words, last.words), "%d states", n)
		require.True(t, slices.Equal(packed, last.packed), "%d states", n)
	}
}
