package search

import (
	"slices"
	"sort"
	"unsafe"

	"lockpick/checker/trace"
)

// A costQueue hands out visits in the order of their costs, all of one cost at a time.
// Costs are small numbers, so it is a queue of queues.
type costQueue struct {
	buckets []*costBucket // the dearest first, as what is added is mostly among the cheapest
}

type costBucket struct {
	cost   trace.Cost
	rows   []uint32
	visits []visit
	all    bool // every visit is one that is looked for
}

// row returns the state of visit i.
func (b *costBucket) row(i int) []uint32 {
	width := len(b.rows) / len(b.visits)
	return b.rows[i*width : (i+1)*width]
}

func (q *costQueue) push(row []uint32, v visit) {
	at := sort.Search(len(q.buckets), func(i int) bool { return !v.cost.Less(q.buckets[i].cost) })
	if at == len(q.buckets) || q.buckets[at].cost.Less(v.cost) {
		q.buckets = slices.Insert(q.buckets, at, &costBucket{cost: v.cost})
	}
	b := q.buckets[at]
	b.rows = append(b.rows, row...)
	b.visits = append(b.visits, v)
}

func (q *costQueue) pop() (*costBucket, bool) {
	last := len(q.buckets) - 1
	if last < 0 {
		return nil, false
	}
	b := q.buckets[last]
	q.buckets = q.buckets[:last]
	return b, true
}

// bytes is the memory of the queue.
func (q *costQueue) bytes() int {
	n := 0
	for _, b := range q.buckets {
		n += 4*cap(b.rows) + int(unsafe.Sizeof(visit{}))*cap(b.visits)
	}
	return n
}
