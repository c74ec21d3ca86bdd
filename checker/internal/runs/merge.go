package runs

import (
	"container/heap"
	"errors"
	"slices"
)

// A Merger reads several runs as one, in order. A row that is in several comes up several times.
type Merger struct {
	all  []*Cursor
	left cursors
	at   []uint32
}

// Merge reads runs together.
func Merge(list []*Run) (*Merger, error) {
	m := &Merger{}
	for _, r := range list {
		c, err := r.Read()
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		m.all = append(m.all, c)
		ok, err := c.Next()
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		if ok {
			m.left = append(m.left, c)
		}
	}
	heap.Init(&m.left)
	return m, nil
}

// Close ends reading.
func (m *Merger) Close() error {
	var err error
	for _, c := range m.all {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Row is where the merger stands; nil behind the last row.
func (m *Merger) Row() []uint32 {
	if len(m.left) == 0 {
		return nil
	}
	return m.left[0].Row
}

// Depth goes with the row.
func (m *Merger) Depth() uint32 { return m.left[0].Depth }

// Next moves behind the row, and behind its equals.
func (m *Merger) Next() error {
	m.at = append(m.at[:0], m.Row()...)
	for len(m.left) > 0 && slices.Equal(m.Row(), m.at) {
		if err := m.settle(m.left[0].Next()); err != nil {
			return err
		}
	}
	return nil
}

// Seek moves to the first row that is not less than another. It moves forward only.
func (m *Merger) Seek(row []uint32) error {
	for len(m.left) > 0 && compare(m.left[0].Row, row) < 0 {
		if err := m.settle(m.left[0].Seek(row)); err != nil {
			return err
		}
	}
	return nil
}

// settle puts the first cursor where it belongs, after it has moved.
func (m *Merger) settle(ok bool, err error) error {
	switch {
	case err != nil:
		return err
	case ok:
		heap.Fix(&m.left, 0)
	default:
		heap.Pop(&m.left)
	}
	return nil
}

// cursors are a heap by where they stand.
type cursors []*Cursor

func (h cursors) Len() int           { return len(h) }
func (h cursors) Less(i, j int) bool { return compare(h[i].Row, h[j].Row) < 0 }
func (h cursors) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(any)          { panic("runs: nothing is pushed") }
func (h *cursors) Pop() any {
	last := len(*h) - 1
	*h = (*h)[:last]
	return nil
}
