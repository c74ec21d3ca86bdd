package kit

import (
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Late is a process whose lock was taken away by the age rule before the first step: it
// only releases (or renews, or exits). Nothing of it is recorded, as its hold has ended
// by the rule.
func Late(f func(t *scenarios.Task)) scenarios.Program { return f }

// Ask holds the lock and meanwhile looks up who is recorded as the holder. look answers
// the pid that it found, or 0 for none.
func Ask(l scenarios.Protocol, look func(t *scenarios.Task) int) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			scenarios.Record(t, model.WhoHolds{}, func() model.Holder { return model.Holder{Owner: OwnerOf(look(t))} })
		})
	}
}

// OwnerOf names the process with a pid, as histories do; "" when there is none.
func OwnerOf(pid int) string {
	if i, ok := scenarios.ProcessOf(pid); ok {
		return scenarios.ProcessName(i)
	}
	return ""
}

// Adds is a writer: it adds a key of its own, the process's name, to the state by update,
// and then looks for it. update reports whether the key was added; a writer that gives
// up records nothing. find reports whether a key is in the state.
func Adds(update func(t *scenarios.Task, key string) bool, find func(t *scenarios.Task, key string) bool) scenarios.Program {
	return func(t *scenarios.Task) {
		key := t.Process
		added := false
		scenarios.Record(t, model.Add{Key: key}, func() model.Added {
			added = update(t, key)
			return model.Added{}
		})
		if added {
			scenarios.Record(t, model.Contains{Key: key}, func() model.Found { return model.Found{Yes: find(t, key)} })
		}
	}
}

// AddLine is the usual update of a state file: read it, and write it anew with one more
// line, as write does.
func AddLine(t *scenarios.Task, name, key string, write func(t *scenarios.Task, name, text string) error) bool {
	text, err := ReadAll(t, name)
	if err != nil && !Missing(err) {
		return false
	}
	return write(t, name, text+key+"\n") == nil
}

// HasLine reports whether a file has a line; one that is not there has none. A read that fails says
// nothing about the file, and is made again.
func HasLine(t *scenarios.Task, name, key string) bool {
	text, err := ReadAll(t, name)
	if err != nil && !Missing(err) {
		for retry := t.Retry(); retry.Next(); {
			if text, err = ReadAll(t, name); err == nil || Missing(err) {
				break
			}
		}
	}
	return slices.Contains(strings.Split(text, "\n"), key)
}

// Writes records that a text was written, whole.
func Writes(t *scenarios.Task, text string, write func() error) error {
	var err error
	scenarios.Record(t, model.Write{Value: text}, func() model.Written {
		err = write()
		return model.Written{}
	})
	return err
}

// Reads records what a read of the whole text gave.
func Reads(t *scenarios.Task, read func() string) {
	scenarios.Record(t, model.Read{}, func() model.ReadValue { return model.ReadValue{Value: read()} })
}

// A Mutex keeps the tasks of one process apart, threads and those of an event loop, by its name.
// It is a cell that is taken by a compare-and-swap; waiting for it is a step that may block. The
// zero value of its cell is unlocked. A task that is woken may find that another was faster, as
// with sync.Mutex, which promises no order either.
type Mutex struct{ Name string }

func (m Mutex) cell() fsfake.Cell[bool] { return fsfake.Cell[bool]{Name: m.Name} }

// Lock waits until the mutex is free, and takes it.
func (m Mutex) Lock(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next() && !m.TryLock(t); {
		m.cell().Wait(t.Proc, func(taken bool) bool { return !taken })
	}
}

// TryLock takes the mutex if it is free, and reports whether it was.
func (m Mutex) TryLock(t *scenarios.Task) bool { return m.cell().CompareAndSwap(t.Proc, false, true) }

// Unlock gives the mutex back, whoever has it.
func (m Mutex) Unlock(t *scenarios.Task) { m.cell().Store(t.Proc, false) }
