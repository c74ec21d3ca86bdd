package table

import (
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/parallel"
)

// A Batch is some states of one shard that lie together.
type Batch struct {
	page     page
	from, to int // in the page
	first    int // number of the first
	step     int // from one to the next
	width    int
	rows     []uint32 // once they are loaded
	stride   int      // of these
}

// Len counts the states of a batch.
func (b *Batch) Len() int { return b.to - b.from }

// Load makes the words of all states of a batch readable, if need be in room for them, and returns that room.
func (b *Batch) Load(room []uint32) []uint32 {
	if b.page.layout == nil {
		b.stride = b.page.stride
		b.rows = b.page.words[b.from*b.stride : b.to*b.stride]
		return room
	}
	b.rows, b.stride = slices.Grow(room[:0], b.Len()*b.width)[:b.Len()*b.width], b.width
	for i := range b.Len() {
		b.page.row(b.from+i, b.rows[i*b.width:(i+1)*b.width])
	}
	return b.rows
}

// At returns the number and the words of state i of a batch that is loaded.
func (b *Batch) At(i int) (id int, row []uint32) {
	return b.first + i*b.step, b.rows[i*b.stride : i*b.stride+b.width]
}

// cut cuts some states of a shard, in the order in which they came, into batches of at most size. They may be read while
// further states are stored.
func (s *States) cut(shard, from, to, size int) []Batch {
	var out []Batch
	var p page
	for at := from; at < to; {
		i := at & (pageStates - 1)
		if at == from || i == 0 {
			p = s.Shards[shard].pages[at>>pageBits]
			if len(s.Shards) > 1 {
				p = p.still()
			}
		}
		n := min(size, to-at, pageStates-i)
		out = append(out, Batch{
			page: p, from: i, to: i + n, width: s.width,
			first: at*len(s.Shards) + shard, step: len(s.Shards),
		})
		at += n
	}
	return out
}

// A Found lists states of a set that one worker has found, and stored or had stored.
type Found struct {
	states *States
	spans  [][]span // by shard, in the order in which they came
}

// A span is some states of a shard that came one after the other.
type span struct{ from, to int }

// NewFound returns an empty list.
func NewFound(s *States) *Found { return &Found{s, make([][]span, len(s.Shards))} }

// Store is [States.Store], and adds the states that are new.
func (f *Found) Store(shard int, rows []uint32) {
	from := f.states.Shards[shard].n
	f.states.Store(shard, rows)
	f.AddFrom(shard, from)
}

// AddFrom adds the states of a shard from one to the last.
func (f *Found) AddFrom(shard, from int) {
	to, spans := f.states.Shards[shard].n, f.spans[shard]
	if last := len(spans) - 1; last >= 0 && spans[last].to == from {
		spans[last].to = to
	} else if from < to {
		f.spans[shard] = append(spans, span{from, to})
	}
}

// Batches returns what was found, in batches of at most size, of all shards in turn: each is as far as the others
// everywhere. The list is empty then.
func (f *Found) Batches(size int) []Batch {
	lists := make([][]Batch, len(f.spans))
	n := 0
	for shard, spans := range f.spans {
		for _, s := range spans {
			lists[shard] = append(lists[shard], f.states.cut(shard, s.from, s.to, size)...)
		}
		f.spans[shard] = spans[:0]
		n += len(lists[shard])
	}
	out, at := make([]Batch, 0, n), make([]int, len(lists))
	for range n {
		next := -1
		for k, list := range lists {
			if at[k] < len(list) && (next < 0 || at[k]*len(lists[next]) < at[next]*len(list)) {
				next = k
			}
		}
		out = append(out, lists[next][at[next]])
		at[next]++
	}
	return out
}

// A Queue is what one worker found, for it and for whoever has nothing left to do.
type Queue struct {
	Batches []Batch
	taken   atomic.Uint64 // how many from the front, above how many from the back
	_       [parallel.CacheLine]byte
}

// Next takes a batch, or returns nil when all are taken: the worker itself from the front, others from the back, so that
// each goes on with what was found together.
func (q *Queue) Next(own bool) *Batch {
	for {
		taken := q.taken.Load()
		front, back := int(taken>>32), int(uint32(taken))
		if front+back == len(q.Batches) {
			return nil
		}
		at, then := front, taken+1<<32
		if !own {
			at, then = len(q.Batches)-1-back, taken+1
		}
		if q.taken.CompareAndSwap(taken, then) {
			return &q.Batches[at]
		}
	}
}
