package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A block is some rows that lie together: how many bytes of rows it has, how many rows, and their
// checksum, 4 bytes each; and then the rows. The first stands as it is, each later one as
// how many words it shares with the one before, by how much the next word is larger, and the words
// after that. A depth follows each.
const (
	blockRows   = 1024
	blockHeader = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errDamaged = errors.New("the file is damaged")
	errVersion = errors.New("the file is of another version of lockpick: go on with that, or remove the directory")
)

// appendRow appends a row to a block; last is the row before, nil for the first.
func appendRow(block []byte, last, row []uint32, depth uint32) []byte {
	shared := 0
	if last != nil {
		for shared < len(row) && row[shared] == last[shared] {
			shared++
		}
		block = binary.AppendUvarint(block, uint64(shared))
		block = binary.AppendUvarint(block, uint64(row[shared]-last[shared]))
		shared++
	}
	for _, w := range row[shared:] {
		block = binary.AppendUvarint(block, uint64(w))
	}
	return binary.AppendUvarint(block, uint64(depth))
}

// seal puts the header in front of the rows of a block, for which room was left.
func seal(block []byte, rows int) {
	body := block[blockHeader:]
	binary.LittleEndian.PutUint32(block, uint32(len(body)))
	binary.LittleEndian.PutUint32(block[4:], uint32(rows))
	binary.LittleEndian.PutUint32(block[8:], crc32.Checksum(body, castagnoli))
}

// A decoder reads the rows of one block.
type decoder struct {
	body  []byte
	left  int
	first bool
	row   []uint32
	depth uint32
}

// open begins a block whose header was read.
func (d *decoder) open(header, body []byte) error {
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(header[8:]) {
		return errDamaged
	}
	d.body, d.left, d.first = body, int(binary.LittleEndian.Uint32(header[4:])), true
	return nil
}

// next reads a row; there must be one left.
func (d *decoder) next() error {
	d.left--
	at := 0
	if !d.first {
		shared, ok := d.word()
		if !ok || int(shared) >= len(d.row) {
			return errDamaged
		}
		more, ok := d.word()
		if !ok || more == 0 {
			return errDamaged
		}
		d.row[shared] += more
		at = int(shared) + 1
	}
	d.first = false
	for i := at; i < len(d.row); i++ {
		w, ok := d.word()
		if !ok {
			return errDamaged
		}
		d.row[i] = w
	}
	depth, ok := d.word()
	if !ok {
		return errDamaged
	}
	d.depth = depth
	return nil
}

func (d *decoder) word() (uint32, bool) {
	if len(d.body) > 0 && d.body[0] < 0x80 { // most are small
		w := d.body[0]
		d.body = d.body[1:]
		return uint32(w), true
	}
	w, n := binary.Uvarint(d.body)
	if n <= 0 || w > 1<<32-1 {
		return 0, false
	}
	d.body = d.body[n:]
	return uint32(w), true
}

// ascends reports rows that do not come in order: a fault of whoever writes them.
func ascends(last, row []uint32) error {
	if last != nil && compare(last, row) >= 0 {
		return fmt.Errorf("runs: row %v comes after %v: rows are written in order, each once", row, last)
	}
	return nil
}

// compare orders two rows of one width.
func compare(a, b []uint32) int {
	b = b[:len(a)]
	for i, w := range a {
		if w != b[i] {
			if w < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}
