package edits

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/model"
	"lockpick/scenarios"
)

// ran is what became of one task in a run in which one goes to its end after the other.
type ran struct {
	task    string
	outputs []any
	refused bool     // it did not get a lock
	stuck   bool     // it waits, polls for ever, or does what is not modelled
	locks   []string // the names of those that it held
	tree    []outcome.Entry
}

// serially runs each task of a scenario to its end, one after the other: for each process a run that begins with it,
// so that it is seen alone.
func serially(sc *scenarios.Scenario) (all [][]ran) {
	for first := range sc.Setting.Processes {
		m, err := sc.Start()
		if err != nil {
			return nil
		}
		run := []ran{{tree: treeOf(m)}} // nobody has run
		for k := range sc.Setting.Processes {
			i := (first + k) % sc.Setting.Processes
			if sc.Setting.AfterReboot(i) {
				continue
			}
			for n := range sc.Setting.TasksOf(i) {
				r := ran{task: scenarios.ProcessName(i)}
				r.stuck = edit.RunAlone(sc, m, i, n+1, 0, r.note) != edit.Ended
				r.tree = treeOf(m)
				run = append(run, r)
			}
			if !sc.Setting.Daemons {
				m.Do(fsfake.Task{Pid: scenarios.Pid(i), N: 1}, fsfake.Op{Call: fsfake.CallExit})
			}
		}
		all = append(all, run)
	}
	return all
}

// spins reports whether a process makes calls without an end, in a loop that it has not marked, after another has made
// some and stands still. Nothing can be decided of that.
func spins(sc *scenarios.Scenario) bool {
	quiet := func(any) {}
	for i := range min(sc.Setting.Processes, 2) {
		j := 1 - i
		for calls := 1; ; calls++ {
			m, err := sc.Start()
			if err != nil || j >= sc.Setting.Processes || sc.Setting.AfterReboot(i) || sc.Setting.AfterReboot(j) {
				break
			}
			stopped := edit.RunAlone(sc, m, i, 1, calls, quiet) == edit.Stopped
			if edit.RunAlone(sc, m, j, 1, 0, quiet) == edit.Spins {
				return true
			}
			if !stopped {
				break
			}
		}
	}
	return false
}

func treeOf(m *fsfake.Machine) []outcome.Entry { return outcome.Tree(scenarios.NewView(m), "/", nil) }

// note keeps what an operation gets.
func (r *ran) note(v any) {
	switch v := v.(type) {
	case scenarios.Holding:
		r.locks = append(r.locks, v.Path)
	case scenarios.Returned:
		r.outputs = append(r.outputs, v.Output)
		got, locks := v.Output.(model.Acquired)
		r.refused = r.refused || locks && !got.OK
	}
}

// differs says what tasks one after the other get or leave that they did not before; empty for nothing.
func differs(before, after [][]ran) string {
	for i := range before {
		if why := became(before[i], after[i]); why != "" {
			return "one after the other, " + why
		}
	}
	return ""
}

// became compares two runs in one order. Who was refused or stuck may get a lock now, and from then on others meet
// something else; but who was not must not be, and nobody who waited may be refused.
func became(before, after []ran) string {
	var locks []string
	for i, b := range before {
		a := after[i]
		if locks = append(locks, b.locks...); i == 0 {
			continue
		}
		switch {
		case a.stuck && !b.stuck:
			return b.task + " does not end"
		case a.refused && !b.refused:
			return b.task + " is refused the lock"
		case b.stuck != a.stuck || b.refused && !a.refused:
			return further(before[i+1:], after[i+1:])
		case b.stuck:
			continue
		case fmt.Sprint(a.outputs) != fmt.Sprint(b.outputs):
			return b.task + " gets something else"
		}
		if name := left(before[0].tree, b.tree, a.tree, locks); name != "" {
			return name + " is not as it was"
		}
	}
	return ""
}

// further is became of tasks that meet something else than before.
func further(before, after []ran) string {
	for i, b := range before {
		switch a := after[i]; {
		case a.stuck && !b.stuck:
			return b.task + " does not end"
		case a.refused && !b.refused:
			return b.task + " is refused the lock"
		}
	}
	return ""
}

// left names what is not as tasks left it before. What they made and removed may stay, and what is at the name of a
// lock, or begins with it.
func left(start, before, after []outcome.Entry, locks []string) string {
	for _, e := range before {
		if !slices.Contains(after, e) {
			return path.Base(e.Name)
		}
	}
	for _, e := range start {
		named := func(o outcome.Entry) bool { return o.Name == e.Name }
		ofLock := func(lock string) bool { return strings.HasPrefix("/"+e.Name, lock) }
		stays := slices.ContainsFunc(after, named) && !slices.ContainsFunc(before, named)
		if stays && !slices.ContainsFunc(locks, ofLock) {
			return path.Base(e.Name)
		}
	}
	return ""
}
