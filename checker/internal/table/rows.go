package table

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A layout says how the words of a row are packed: of each word those bits lie in the row in which some row differs
// from the first one, and all between them. Words are turned by one bit before that: the highest
// is often a flag beside a small number.
type layout struct {
	cols  []column
	bytes int // of a row
}

// A column is one word of all rows.
type column struct {
	first uint32 // of the first row, turned
	low   uint8  // the lowest bit that is kept
	mask  uint32 // the bits that are kept, from the lowest on
	width uint8  // how many these are
	at    int    // the bit of the row at which they begin
}

func turned(w uint32) uint32 { return bits.RotateLeft32(w, 1) }

// differs are the bits in which a word differs from the first of its column.
func (c *column) differs(w uint32) uint32 { return turned(w) ^ c.first }

// narrow returns the layout for rows that differ from the first in these bits.
func narrow(first, differs []uint32) *layout {
	l := &layout{cols: make([]column, len(first))}
	at := 0
	for k, d := range differs {
		low := bits.TrailingZeros32(d) & 31 // of no bit, any
		n := max(32-bits.LeadingZeros32(d)-low, 0)
		l.cols[k] = column{first: first[k], low: uint8(low), mask: uint32(1<<n - 1), width: uint8(n), at: at}
		at += n
	}
	l.bytes = (at + 7) / 8
	return l
}

// wider returns the layout for a row, too.
func (l *layout) wider(row []uint32) *layout {
	first, differs := make([]uint32, len(l.cols)), make([]uint32, len(l.cols))
	for k := range l.cols {
		c := &l.cols[k]
		first[k], differs[k] = c.first, c.mask<<c.low|c.differs(row[k])
	}
	return narrow(first, differs)
}

// padding is how many bytes follow the last row, so that a word can be read with what follows it.
const padding = 8

// A page is some rows: as they are, where there is no layout, or packed.
type page struct {
	*layout
	n      int
	words  []uint32
	stride int    // words of a row
	packed []byte // with padding
}

// at returns the bytes of a packed row, and some that follow.
func (p *page) at(i int) []byte { return p.packed[i*p.bytes:] }

// plain are the words of a row that is not packed.
func (p *page) plain(i int) []uint32 { return p.words[i*p.stride : (i+1)*p.stride] }

// word returns word k of a packed row.
func (l *layout) word(packed []byte, k int) uint32 {
	c := &l.cols[k]
	v := uint32(binary.LittleEndian.Uint64(packed[c.at>>3:])>>(c.at&7)) & c.mask
	return bits.RotateLeft32(v<<c.low^c.first, -1)
}

// row puts the first words of a row into room for them.
func (p *page) row(i int, into []uint32) {
	if p.layout == nil {
		copy(into, p.plain(i))
		return
	}
	packed := p.at(i)
	for k := range into {
		into[k] = p.word(packed, k)
	}
}

// same reports whether a row begins with these words.
func (p *page) same(i int, words []uint32) bool {
	if p.layout == nil {
		return EqualWords(words, p.plain(i))
	}
	packed := p.at(i)
	for k, w := range words {
		if p.word(packed, k) != w {
			return false
		}
	}
	return true
}

// add adds a row to a page that is to have at most so many.
func (p *page) add(row []uint32, most int) {
	if p.layout == nil {
		p.words = append(p.words, row...)
		p.n++
		return
	}
	for p.packed = p.packed[:(p.n+1)*p.bytes+padding]; !p.pack(p.at(p.n), row); {
		*p = p.laid(p.wider(row), most)
		p.packed = p.packed[:(p.n+1)*p.bytes+padding]
	}
	p.n++
}

// pack packs a row, and tells whether it fits. It writes into the padding behind the row, too.
func (l *layout) pack(to []byte, row []uint32) bool {
	word, n := uint64(0), uint8(0) // bits that are not written yet, and how many
	for k, w := range row {
		c := &l.cols[k]
		d := c.differs(w)
		if d&^(c.mask<<c.low) != 0 {
			return false
		}
		word |= uint64(d>>c.low) << n
		if n += c.width; n >= 32 {
			binary.LittleEndian.PutUint32(to, uint32(word))
			word, n, to = word>>32, n-32, to[4:]
		}
	}
	binary.LittleEndian.PutUint32(to, uint32(word))
	return true
}

// after returns an empty page for at most so many rows, in the layout of another.
func (p *page) after(most int) page {
	return page{layout: p.layout, stride: p.stride, packed: make([]byte, 0, most*p.bytes+padding)}
}

// laid returns the page with its rows in another layout, in which they fit.
func (p *page) laid(l *layout, most int) page {
	to := page{layout: l, stride: p.stride}
	to = to.after(most)
	row := make([]uint32, p.stride)
	for i := range p.n {
		p.row(i, row)
		to.add(row, most)
	}
	return to
}

// tight returns the narrowest layout for the rows of a page.
func (p *page) tight() *layout {
	row, first, differs := make([]uint32, p.stride), make([]uint32, p.stride), make([]uint32, p.stride)
	for i := range p.n {
		p.row(i, row)
		for k, w := range row {
			if i == 0 {
				first[k] = turned(w)
			}
			differs[k] |= turned(w) ^ first[k]
		}
	}
	return narrow(first, differs)
}

// still returns the page as it is, for reading while rows are added: of a packed one that is not full a copy, for the
// last row is read together with bytes of the next.
func (p *page) still() page {
	is := *p
	if p.layout != nil && p.n < pageStates {
		is.packed = bytes.Clone(p.packed)
	}
	return is
}

// room is the memory that a page takes.
func (p *page) room() int { return cap(p.packed) + 4*cap(p.words) }
