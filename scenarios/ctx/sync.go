package ctx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// The shared files.
const (
	hubDir    = "/project/.context/hub"
	lockPath  = hubDir + "/.sync.lock"
	statePath = hubDir + "/.sync-state.json"
	entryPath = hubDir + "/learning.md"
)

// newest is the number of the last entry on the hub.
const newest = 1

// sync is `ctx connect sync` under a lock.
func sync(t *scenarios.Task, lock scenarios.Protocol) error {
	if err := t.MkdirAll(hubDir, 0o700); err != nil { // one stat: it is there
		return err
	}
	var failed error
	if err := scenarios.Locked(t, lock, func() { failed = pull(t) }); err != nil {
		return err
	}
	return failed
}

// pull is the body: cursor, entries, cursor.
func pull(t *scenarios.Task) error {
	last, err := readCursor(t)
	if err != nil {
		return err
	}
	entries := fetch(last)
	if len(entries) == 0 {
		return nil
	}
	for _, e := range entries {
		if err := appendEntry(t, e); err != nil {
			return err
		}
	}
	return writeCursor(t, entries[len(entries)-1])
}

// fetch asks the hub for the entries after last. Nobody here can interfere with it.
func fetch(last int) []int {
	var entries []int
	for e := last + 1; e <= newest; e++ {
		entries = append(entries, e)
	}
	return entries
}

// readCursor reads the state file: 0 when it is absent or empty.
func readCursor(t *scenarios.Task) (int, error) {
	data, err := readAll(t, statePath)
	if errors.Is(err, fs.ErrNotExist) || err == nil && data == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(data)
}

// writeCursor writes the state file in place: it is empty for a moment.
func writeCursor(t *scenarios.Task, last int) error {
	return t.WriteFile(statePath, []byte(strconv.Itoa(last)), 0o600)
}

// appendEntry renders an entry to the end of its markdown file. The append that
// counts is the write.
func appendEntry(t *scenarios.Task, entry int) error {
	f, err := t.OpenFile(entryPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	scenarios.Record(t, model.Append{Entry: entry}, func() model.Appended {
		_, err = f.WriteString("entry " + strconv.Itoa(entry) + "\n")
		return model.Appended{}
	})
	return errors.Join(err, f.Close())
}

// readAll reads a small file: open, read, close.
func readAll(t *scenarios.Task, name string) (string, error) {
	f, err := t.Open(name)
	if err != nil {
		return "", err
	}
	buf := make([]byte, 64)
	n, err := f.Read(buf)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(buf[:n]), errors.Join(err, f.Close())
}

// setup makes the hub directory, and the files given as name, content, name, content.
func setup(files ...string) func(m *fsfake.Machine) {
	return func(m *fsfake.Machine) {
		p := m.Proc(1)
		if err := p.MkdirAll(hubDir, 0o700); err != nil {
			panic(err)
		}
		for i := 0; i < len(files); i += 2 {
			if err := p.WriteFile(files[i], []byte(files[i+1]), 0o600); err != nil {
				panic(err)
			}
		}
	}
}
