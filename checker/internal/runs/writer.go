package runs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
)

// A Writer writes a run.
type Writer struct {
	folder *Folder
	name   string
	f      *os.File
	w      *bufio.Writer
	last   []uint32 // the row before; empty at first
	block  []byte
	rows   int // in the block
	run    Run
	at     int64
	lasts  bool // it is to outlast the process
}

// The end of a file: where the index begins, how many rows there are, the checksum of the index and
// of these two, and a word that says what the file is, of which the last letter is the version: "s"
// was the first.
const (
	trailerBytes = 28
	magic        = "lockrun2"
)

// Create begins a run, which has its name when it is finished.
func (f *Folder) Create(name string) (*Writer, error) {
	if err := f.Remove(name + temporary); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(f.dir, name+temporary))
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return &Writer{
		folder: f, name: name, f: file, w: bufio.NewWriterSize(file, 1<<18),
		block: make([]byte, blockHeader, 1<<14), run: Run{folder: f, Name: name},
	}, nil
}

// Add appends a row, which must come after those before.
func (w *Writer) Add(row []uint32, depth uint32) error {
	last := w.last
	if w.run.Rows == 0 {
		last = nil
	}
	if err := ascends(last, row); err != nil {
		return err
	}
	if w.rows == 0 {
		w.run.first = append(w.run.first, row...)
		w.run.offsets = append(w.run.offsets, w.at)
		last = nil
	}
	w.block = appendRow(w.block, last, row, depth)
	w.last = append(w.last[:0], row...)
	w.run.Rows++
	if w.rows++; w.rows == blockRows {
		return w.flush()
	}
	return nil
}

// flush writes the block.
func (w *Writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	seal(w.block, w.rows)
	err := w.write(w.block)
	w.block, w.rows = w.block[:blockHeader], 0
	return err
}

func (w *Writer) write(b []byte) error {
	if err := w.folder.take(len(b)); err != nil {
		return err
	}
	w.at += int64(len(b))
	if _, err := w.w.Write(b); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// Finish completes the run, which is on the disk then, also after a loss of power.
func (w *Writer) Finish() (*Run, error) {
	w.lasts = true
	return w.finish()
}

// finish completes the run.
func (w *Writer) finish() (*Run, error) {
	err := w.flush()
	if err == nil {
		w.run.offsets = append(w.run.offsets, w.at) // where the last block ends
		err = w.write(w.index())
	}
	if err == nil {
		err = w.w.Flush()
	}
	if err == nil && w.lasts {
		err = w.f.Sync()
	}
	if err := errors.Join(err, w.f.Close()); err != nil {
		return nil, fmt.Errorf("runs: %s: %w", w.name, err)
	}
	w.run.bytes = w.at
	run := w.run
	run.first = slices.Clip(run.first)
	return &run, w.folder.name(w.name, w.lasts)
}

// index is what stands behind the blocks.
func (w *Writer) index() []byte {
	var b []byte
	for _, at := range w.run.offsets {
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
	}
	for _, word := range w.run.first {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(w.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(w.run.Rows))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return append(b, magic...)
}

// Abandon gives a run up that is not finished.
func (w *Writer) Abandon() error {
	err := w.f.Close()
	w.folder.used -= w.at // of which some may not have been written
	if info, stat := os.Stat(w.f.Name()); stat == nil {
		w.folder.used += info.Size()
	}
	return errors.Join(err, w.folder.Remove(w.name+temporary))
}
