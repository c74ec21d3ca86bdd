package table

import (
	"encoding/binary"
	"math/bits"
)

// A layout says how the words of a row are packed: of each word those bits lie in the row in which some row differs
// from the first one, and all between them. Words are turned by one bit before that: the highest
// is often a flag beside a small number.
type layout struct {
	cols  []column
	bytes int  // of a row
	plain bool // words lie there as they are
}

// A column is one word of all rows.
type column struct {
	first uint32 // of the first row, turned
	low   uint8  // the lowest bit that is kept
	mask  uint32 // the bits that are kept, from the lowest on
	at    int    // the bit of the row at which they begin
}

func turned(w uint32) uint32 { return bits.RotateLeft32(w, 1) }

// plain is the layout that any row of so many words fits in.
func plain(words int) *layout {
	return &layout{cols: make([]column, words), bytes: 4 * words, plain: true}
}

// differs are the bits in which a word differs from the first of its column.
func (c *column) differs(w uint32) uint32 { return turned(w) ^ c.first }

// fits reports whether a row can be packed.
func (l *layout) fits(row []uint32) bool {
	if l.plain {
		return true
	}
	for k := range l.cols {
		if c := &l.cols[k]; c.differs(row[k])&^(c.mask<<c.low) != 0 {
			return false
		}
	}
	return true
}

// narrow returns the layout for rows that differ from the first in these bits.
func narrow(first, differs []uint32) *layout {
	l := &layout{cols: make([]column, len(first))}
	at := 0
	for k, d := range differs {
		low := bits.TrailingZeros32(d) & 31 // of no bit, any
		n := max(32-bits.LeadingZeros32(d)-low, 0)
		l.cols[k] = column{first: first[k], low: uint8(low), mask: uint32(1<<n - 1), at: at}
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

// A page is some packed rows.
type page struct {
	*layout
	bytes []byte // with padding
	n     int
}

// at returns the bytes of a row, and some that follow.
func (p *page) at(i int) []byte { return p.bytes[i*p.layout.bytes:] }

// word returns word k of a packed row.
func (l *layout) word(packed []byte, k int) uint32 {
	if l.plain {
		return binary.LittleEndian.Uint32(packed[4*k:])
	}
	c := &l.cols[k]
	v := uint32(binary.LittleEndian.Uint64(packed[c.at>>3:])>>(c.at&7)) & c.mask
	return bits.RotateLeft32(v<<c.low^c.first, -1)
}

// unpack puts the words of a packed row into room for some of them.
func (l *layout) unpack(packed []byte, into []uint32) {
	if l.plain {
		for k := range into {
			into[k] = binary.LittleEndian.Uint32(packed)
			packed = packed[4:]
		}
		return
	}
	for k := range into {
		into[k] = l.word(packed, k)
	}
}

// same reports whether a packed row begins with these words.
func (l *layout) same(packed []byte, words []uint32) bool {
	if l.plain {
		for _, w := range words {
			if binary.LittleEndian.Uint32(packed) != w {
				return false
			}
			packed = packed[4:]
		}
		return true
	}
	for k, w := range words {
		if l.word(packed, k) != w {
			return false
		}
	}
	return true
}

// add packs one row more, which fits, into a page that is to have at most so many.
func (p *page) add(row []uint32, most int) {
	need := (p.n+1)*p.layout.bytes + padding
	if need > cap(p.bytes) {
		room := min(2*(p.n+1), most)*p.layout.bytes + padding
		p.bytes = append(make([]byte, 0, room), p.bytes...)
	}
	p.bytes = p.bytes[:need]
	packed := p.at(p.n)
	p.n++
	if p.plain {
		for _, w := range row {
			binary.LittleEndian.PutUint32(packed, w)
			packed = packed[4:]
		}
		return
	}
	for k, w := range row {
		c := &p.cols[k]
		to := packed[c.at>>3:]
		v := uint64(c.differs(w)>>c.low) << (c.at & 7)
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)|v)
	}
}

// laid returns the page with its rows in another layout, in which they fit.
func (p *page) laid(l *layout, most int) page {
	to := page{layout: l, bytes: make([]byte, 0, most*l.bytes+padding)}
	row := make([]uint32, len(l.cols))
	for i := range p.n {
		p.unpack(p.at(i), row)
		to.add(row, most)
	}
	return to
}

// tight returns the narrowest layout for the rows of a page.
func (p *page) tight() *layout {
	row, first, differs := make([]uint32, len(p.cols)), make([]uint32, len(p.cols)), make([]uint32, len(p.cols))
	for i := range p.n {
		p.unpack(p.at(i), row)
		for k, w := range row {
			if i == 0 {
				first[k] = turned(w)
			}
			differs[k] |= turned(w) ^ first[k]
		}
	}
	return narrow(first, differs)
}
