package runs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

// A Run is a set of rows on disk.
type Run struct {
	folder *Folder
	// Name is the file's.
	Name string
	// Rows counts them.
	Rows  int
	bytes int64
	// first holds the first row of each block, and offsets where the blocks begin, and where
	// the last ends.
	first   []uint32
	offsets []int64
}

// Open opens a run that was finished earlier.
func (f *Folder) Open(name string) (*Run, error) {
	r, err := f.open(name)
	if err != nil {
		return nil, fmt.Errorf("runs: %s: %w", filepath.Join(f.dir, name), err)
	}
	return r, nil
}

func (f *Folder) open(name string) (*Run, error) {
	file, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < trailerBytes {
		return nil, errDamaged
	}
	trailer := make([]byte, trailerBytes)
	if _, err := file.ReadAt(trailer, info.Size()-trailerBytes); err != nil {
		return nil, err
	}
	if word := string(trailer[20:]); word != magic && word[:len(word)-1] == magic[:len(magic)-1] {
		return nil, errVersion
	}
	at, rows := int64(binary.LittleEndian.Uint64(trailer)), int64(binary.LittleEndian.Uint64(trailer[8:]))
	n := info.Size() - trailerBytes - at // bytes of the index
	each := int64(8 + 4*f.width)
	if string(trailer[20:]) != magic || at < 0 || n < 8 || (n-8)%each != 0 || (rows+blockRows-1)/blockRows != (n-8)/each {
		return nil, errDamaged
	}
	index := make([]byte, n)
	if _, err := file.ReadAt(index, at); err != nil {
		return nil, err
	}
	if crc32.Update(crc32.Checksum(index, castagnoli), castagnoli, trailer[:16]) != binary.LittleEndian.Uint32(trailer[16:]) {
		return nil, errDamaged
	}
	r := &Run{folder: f, Name: name, Rows: int(rows), bytes: info.Size()}
	blocks := int((n - 8) / each)
	for i := range blocks + 1 {
		r.offsets = append(r.offsets, int64(binary.LittleEndian.Uint64(index[8*i:])))
	}
	for words := index[8*(blocks+1):]; len(words) > 0; words = words[4:] {
		r.first = append(r.first, binary.LittleEndian.Uint32(words))
	}
	return r, nil
}

// Bytes is what the index of the run takes in memory.
func (r *Run) Bytes() int { return 8*cap(r.offsets) + 4*cap(r.first) }

func (r *Run) blocks() int { return len(r.offsets) - 1 }

func (r *Run) firstOf(block int) []uint32 {
	w := r.folder.width
	return r.first[block*w : (block+1)*w]
}

// blockOf is the block in which a row is, if it is there.
func (r *Run) blockOf(row []uint32) int {
	return sort.Search(r.blocks(), func(i int) bool { return compare(r.firstOf(i), row) > 0 }) - 1
}

// A Cursor reads the rows of a run in order.
type Cursor struct {
	run   *Run
	f     *os.File
	block int // the next to be read
	buf   []byte
	d     decoder
	// Row is where the cursor stands, and Depth goes with it. They are valid until it moves.
	Row   []uint32
	Depth uint32
}

// Read returns a cursor in front of the first row.
func (r *Run) Read() (*Cursor, error) {
	f, err := os.Open(filepath.Join(r.folder.dir, r.Name))
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	c := &Cursor{run: r, f: f}
	c.d.row = make([]uint32, r.folder.width)
	return c, nil
}

// Close ends reading.
func (c *Cursor) Close() error { return c.f.Close() }

// Next moves to the next row, and reports whether there is one.
func (c *Cursor) Next() (bool, error) {
	for c.d.left == 0 {
		if c.block == c.run.blocks() {
			return false, nil
		}
		if err := c.load(c.block); err != nil {
			return false, fmt.Errorf("runs: %s: %w", filepath.Join(c.run.folder.dir, c.run.Name), err)
		}
	}
	if err := c.d.next(); err != nil {
		return false, fmt.Errorf("runs: %s: %w", filepath.Join(c.run.folder.dir, c.run.Name), err)
	}
	c.Row, c.Depth = c.d.row, c.d.depth
	return true, nil
}

// load reads a block.
func (c *Cursor) load(block int) error {
	from, to := c.run.offsets[block], c.run.offsets[block+1]
	if to-from < blockHeader {
		return errDamaged
	}
	c.buf = slices.Grow(c.buf[:0], int(to-from))[:to-from]
	if _, err := c.f.ReadAt(c.buf, from); err != nil {
		return err
	}
	if int(binary.LittleEndian.Uint32(c.buf)) != len(c.buf)-blockHeader {
		return errDamaged
	}
	c.block = block + 1
	return c.d.open(c.buf[:blockHeader], c.buf[blockHeader:])
}

// Seek moves to the first row that is not less than another, and reports whether there is one. It
// moves forward only, and reads no block that it can pass over.
func (c *Cursor) Seek(row []uint32) (bool, error) {
	if c.Row != nil && compare(c.Row, row) >= 0 {
		return true, nil
	}
	if c.block < c.run.blocks() && compare(c.run.firstOf(c.block), row) <= 0 { // it is not in this block
		c.block, c.d.left = c.run.blockOf(row), 0
	}
	for {
		ok, err := c.Next()
		if !ok || err != nil || compare(c.Row, row) >= 0 {
			return ok, err
		}
	}
}
