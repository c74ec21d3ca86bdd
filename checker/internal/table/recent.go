package table

import "math"

// A Recent knows some of the rows that it was asked for lately. A transition often leads where one shortly before it led,
// for two tasks come to the same state in either order; that is seen here, in memory that is near, and nobody
// has to look among all states.
type Recent struct {
	rows  []uint32
	width int
}

// recentRows is how many rows a Recent knows at most: they fit into memory that a processor has for itself. With sixty-four times as
// many, few more transitions are recognised.
const recentRows = 1 << 10

// NewRecent returns one for rows of so many words, of which not all are the largest that there is.
func NewRecent(width int) *Recent {
	r := &Recent{rows: make([]uint32, recentRows*width), width: width}
	for i := range r.rows {
		r.rows[i] = math.MaxUint32
	}
	return r
}

// Knows reports whether it was asked for a row before, as far as it has not forgotten that, and knows it from now on.
func (r *Recent) Knows(row []uint32) bool {
	at := int(hashWords(row)%recentRows) * r.width
	known := r.rows[at : at+r.width]
	if EqualWords(row, known) {
		return true
	}
	copy(known, row)
	return false
}
