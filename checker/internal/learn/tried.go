package learn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
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
	mu    sync.Mutex
	of    programs
	seen  map[kindKey]bool
	again map[sched.Task]int // runs of each task
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

// A triedKind is a kind of rounds in a file.
type triedKind struct {
	Process int    `json:"process"`
	Task    int    `json:"task"`
	Kind    string `json:"kind"`
}

// MarshalJSON writes what was tried out, so that further processes of the same program need not
// try it again. It is no news to another program.
func (t *Tried) MarshalJSON() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kinds := []triedKind{}
	for k, tried := range t.seen { // order does not matter: they are sorted
		if tried {
			kinds = append(kinds, triedKind{k.task.Process, k.task.N, k.kind})
		}
	}
	slices.SortFunc(kinds, func(a, b triedKind) int {
		return cmp.Or(a.Process-b.Process, a.Task-b.Task, strings.Compare(a.Kind, b.Kind))
	})
	return json.Marshal(kinds)
}

// UnmarshalJSON adds what was tried out by another process of the same program.
func (t *Tried) UnmarshalJSON(text []byte) error {
	var kinds []triedKind
	if err := json.Unmarshal(text, &kinds); err != nil {
		return err
	}
	for _, k := range kinds {
		t.add(kindKey{sched.Task{Process: k.Process, N: k.Task}, k.Kind})
	}
	return nil
}
