package learn

import (
	"fmt"
	"reflect"
	"sync"

	"lockpick/scenarios"
	"lockpick/sched"
)

// Tried remembers what has been tried out of a scenario's programs beside what was asked: which
// kinds of rounds of their retry loops, which of these in any order, and how often they were run
// again. A program does not know which property is asked for, and is not told of another case
// otherwise than by results, which make up the kind. The zero value remembers none. It may be
// used from several goroutines.
type Tried struct {
	// InTime: a property was broken by the time, which other properties depend on, too.
	InTime bool
	mu     sync.Mutex
	of     programs
	seen   map[kindKey]bool
	again  map[sched.Task]int // runs of each task
}

// programs say whose rounds they are: the programs of a scenario, whatever its bounds.
type programs struct {
	scenario string
	code     uintptr
}

// A kindKey names rounds of one kind, of one task or of all that run the same program.
type kindKey struct {
	task sched.Task
	kind string
}

// For says that the rounds to come are those of a scenario; an error when others were before.
func (t *Tried) For(sc *scenarios.Scenario) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	is := programs{sc.ID, reflect.ValueOf(sc.Program).Pointer()}
	switch {
	case t.of == programs{}:
		t.of = is
	case t.of != is:
		return fmt.Errorf("checker: Options.Tried was used for %s, and is now for %s: use one for each scenario", t.of.scenario, sc.ID)
	}
	return nil
}

// has reports whether a kind was tried out.
func (t *Tried) has(k kindKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[k]
}

// add notes that a kind was tried out to the last round.
func (t *Tried) add(k kindKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[kindKey]bool{}
	}
	t.seen[k] = true
}

// repeats is how often a task was run again.
func (t *Tried) repeats(task sched.Task) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.again[task]
}

// repeated notes that a task was run again so many times.
func (t *Tried) repeated(task sched.Task, runs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.again == nil {
		t.again = map[sched.Task]int{}
	}
	t.again[task] += runs
}
