package gateguard

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// The files.
const (
	stateDir  = "/home/.gateguard"
	statePath = stateDir + "/state-session.json"
)

// The constants of the hook.
const (
	sessionTimeout = 30 * time.Minute
	readHeartbeat  = time.Minute
)

// A state is what the state file holds.
type state struct {
	checked    []string
	lastActive int64 // milliseconds
}

// format renders a state as the file's content.
func (s state) format() string {
	return strings.Join(append([]string{strconv.FormatInt(s.lastActive, 10)}, s.checked...), "\n")
}

// parse is the inverse of format.
func parse(data string) (state, error) {
	lines := strings.Split(data, "\n")
	at, err := strconv.ParseInt(lines[0], 10, 64)
	return state{checked: lines[1:], lastActive: at}, err
}

// has reports whether a key is in the state.
func (s state) has(key string) bool { return slices.Contains(s.checked, key) }

// olderThan reports whether the state was last active more than d before now.
func (s state) olderThan(d time.Duration, now int64) bool {
	return now-s.lastActive > d.Milliseconds()
}

// now is Date.now().
func now(t *scenarios.Task) int64 { return t.Now().UnixMilli() }

// readState is JSON.parse(readFileSync(state)): open, read, close.
func readState(t *scenarios.Task) (state, error) {
	data, err := readAll(t, statePath)
	if err != nil {
		return state{}, err
	}
	return parse(data)
}

// exists is existsSync.
func exists(t *scenarios.Task, name string) bool {
	_, err := t.Stat(name)
	return err == nil
}

// readAll reads a small file: open, read, close.
func readAll(t *scenarios.Task, name string) (string, error) {
	f, err := t.Open(name)
	if err != nil {
		return "", err
	}
	buf := make([]byte, 256)
	n, err := f.Read(buf)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(buf[:n]), errors.Join(err, f.Close())
}

// setup makes the directories, and a state file with these keys that was last active
// so long ago; no file when there are no keys.
func setup(age time.Duration, keys ...string) func(m *fsfake.Machine) {
	return func(m *fsfake.Machine) {
		p := m.Proc(1)
		for _, dir := range []string{stateDir, leaseDir, keyDir} {
			if err := p.MkdirAll(dir, 0o755); err != nil {
				panic(err)
			}
		}
		if len(keys) == 0 {
			return
		}
		old := state{checked: keys, lastActive: m.Now().Add(-age).UnixMilli()}
		if err := p.WriteFile(statePath, []byte(old.format()), 0o644); err != nil {
			panic(err)
		}
	}
}
