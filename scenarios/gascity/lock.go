// Package gascity holds the sequence numbers of gastownhall/gascity's event log (Go,
// https://github.com/gastownhall/gascity/pull/565). Details of the merged form are
// uncertain.
package gascity

import (
	_ "embed"
	"errors"
	"os"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	file = "/srv/city/events.log"
	lock = file + ".seq"
)

// Scenarios lists the ways to find the next number.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "gascity", Lock: lock, State: file, Report: "https://github.com/gastownhall/gascity/pull/565", Source: source}
	row := func(id, does string, write scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/writers", Does: does, In: kit.In(kit.Roles(write, write)), Claims: claims}
	}
	dup := scenarios.Duplicate
	return sys.Scenarios(
		row("scan-then-append", "The log is read for the highest number, and an entry with the next one is appended.", scanThenAppend, kit.Broken(dup)),
		row("scan-under-flock", "The same under a kernel lock on a file of its own.", scanUnderFlock, kit.Holds(dup)),
		row("counter-under-flock", "The number comes from a counter under the lock; the entry is appended after it.", counterUnderFlock, kit.Holds(dup)),
	)
}

// put appends an entry with its number, which is recorded.
func put(t *scenarios.Task, n int) {
	scenarios.Record(t, model.Append{Entry: n}, func() model.Appended {
		f, err := t.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err == nil {
			_, _ = f.WriteString(strconv.Itoa(n) + "\n")
			_ = f.Close()
		}
		return model.Appended{}
	})
}

// highest is the highest number in the log.
func highest(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, file)
	lines := strings.Fields(text)
	if len(lines) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(lines[len(lines)-1])
	return n
}

func scanThenAppend(t *scenarios.Task) { put(t, highest(t)+1) }

func scanUnderFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		return
	}
	scanThenAppend(t)
	_ = f.Close()
}

func counterUnderFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		return
	}
	text, err := kit.ReadFrom(f)
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	if text == "" {
		n = highest(t)
	}
	_, werr := f.WriteAt([]byte(strconv.Itoa(n+1)), 0)
	if errors.Join(err, werr, f.Close()) == nil {
		put(t, n+1)
	}
}
