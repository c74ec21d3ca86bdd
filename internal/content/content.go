package content

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// large is the size in bytes from which a file is told beside what it held at the start.
const large = 16 << 10

// Large is what the large files below a directory hold, by path. Files that cannot be read are left out.
func Large(dir string) map[string][]byte {
	held := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if i, err := e.Info(); err != nil || i.Size() < large {
			return nil
		}
		if text, err := os.ReadFile(name); err == nil {
			held[name] = text
		}
		return nil
	})
	return held
}

// Of is what a file of some kind is or holds: "directory", "-> target", text in quotes. start is what a large one held
// at the start, or nil: then only what is new is told.
func Of(name string, kind fs.FileMode, start []byte) string {
	switch {
	case kind.IsDir():
		return "directory"
	case kind&fs.ModeSymlink != 0:
		target, _ := os.Readlink(name)
		return "-> " + target
	case !kind.IsRegular():
		return kind.String()
	}
	text, err := os.ReadFile(name)
	switch {
	case err != nil:
		return "unreadable"
	case start == nil || len(text) < large/2:
		return whole(text)
	case bytes.Equal(text, start):
		return fmt.Sprintf("%d bytes as at the start", len(text))
	}
	return beside(text, start)
}

// beside tells a text without what it and another one begin and end with.
func beside(text, start []byte) string {
	shorter := min(len(text), len(start))
	same := 0
	for same < shorter && text[same] == start[same] {
		same++
	}
	tail := 0
	for tail < shorter-same && text[len(text)-1-tail] == start[len(start)-1-tail] {
		tail++
	}
	return fmt.Sprintf("%d bytes as at the start, %s in the place of %d, %d bytes as at the start", same,
		whole(text[same:len(text)-tail]), len(start)-same-tail, tail)
}

func whole(text []byte) string {
	if len(text) > 1<<20 {
		return fmt.Sprintf("%d bytes, sha256 %x", len(text), sha256.Sum256(text))
	}
	return fmt.Sprintf("%q", text)
}
