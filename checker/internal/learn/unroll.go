package learn

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A retry loop that is marked promises that a round carries nothing over. It is tried out: a
// program that gives up, or unlinks the lock, after so many attempts must not be taken for
// one that goes round for ever.

// UnrolledRounds is how many rounds of a marked loop are tried out before it is believed to
// be endless: more than the number of attempts after which programs lose patience.
const UnrolledRounds = 10_000

// ExternalRounds is the same for a program that is no Go function, and marks no loops: there
// a round takes long.
const ExternalRounds = 100

// firstRounds is how many rounds are tried out at once, when the edge that leads back is
// learned; the rest follows when the space is covered.
const firstRounds = 100

// Unroll tries out [UnrolledRounds] rounds of each kind that was learned. Rounds are of one
// kind when they make the same calls and these succeed and fail alike: what a program counts
// is its attempts, or those of one kind, and not the inode numbers that it is told, nor how often it
// spins on a cell in each (see [withoutSpins]). Kinds that
// were tried out before are passed over; alike says that all tasks run the same program. When
// ctx ends first the error is that of ctx.
func (a *Automaton) Unroll(ctx context.Context, tried *Tried, alike bool) error {
	var of sched.Task
	if !alike {
		of = a.task()
	}
	for _, k := range a.order {
		e := a.edges[k]
		if e.Effects.Again == 0 {
			continue
		}
		kind := kindKey{of, a.kind(k, e)}
		if tried.has(kind) {
			continue
		}
		if err := a.unrollFrom(ctx, k, e); err != nil {
			return err
		}
		tried.add(kind)
	}
	return nil
}

// Retries reports whether a program has gone round in a marked loop: it is taken to do so for ever.
func (a *Automaton) Retries() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.order, func(k edgeKey) bool { return a.edges[k].Effects.Again != 0 })
}

// BelievesEndless reports whether a loop that nobody has marked was taken for endless, only because
// it had repeated itself [ExternalRounds] times.
func (a *Automaton) BelievesEndless() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.order {
		if e := a.edges[k]; e.Back && !e.Proved {
			return true
		}
	}
	return false
}

// kind names the kind of round that an edge leads back from.
func (a *Automaton) kind(k edgeKey, e Edge) string {
	round := a.path(k.from)[a.nodes[e.To&^Begun].depth:]
	calls := make([]string, 0, len(round))
	for i, id := range round {
		op, r := &a.nodes[id].Op, k.result
		if i+1 < len(round) {
			r = a.nodes[round[i+1]].via
		}
		calls = append(calls, fmt.Sprintf("|%d %q %q %d %d "+
			"%t", op.Call, op.Path, op.Path2, op.Flags, r.Errno, r.Blocked))
		calls = withoutSpins(calls)
	}
	return fmt.Sprint(e.Effects.Again) + strings.Join(calls, "")
}

// Where the same calls, at most spinCalls of them, come more than manySpins times in a row, the kind of a
// round does not say how often. Whoever waits for a cell has rounds of every length. Each of them was tried
// out for [firstRounds] when it was learned.
const manySpins, spinCalls = 8, 2

// withoutSpins drops the last few calls where they are what came manySpins times before.
func withoutSpins(calls []string) []string {
	for n := 1; n <= spinCalls; n++ {
		from := len(calls) - n*(manySpins+1)
		if from >= 0 && slices.Equal(calls[from:len(calls)-n], calls[from+n:]) {
			return calls[:len(calls)-n]
		}
	}
	return calls
}

// unrollFrom runs the program to the end of the round that an edge leads back from, and on
// from there.
func (a *Automaton) unrollFrom(ctx context.Context, k edgeKey, e Edge) error {
	code, op, more, _, err := a.reach(k.from, k.result)
	if code != nil {
		defer code.Stop()
	}
	top := &a.nodes[e.To&^Begun]
	switch {
	case err != nil:
		return err
	case !more || op != top.Op:
		return a.indeterminate(a.nodes[k.from].depth+1, top.Op, op, more)
	}
	round := a.path(k.from)[top.depth:]
	for n := 2; n < UnrolledRounds; n += firstRounds { // a part at a time, so that ctx is asked
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.unroll(code, round, k.result, e.Effects, n, min(n+firstRounds, UnrolledRounds+1)); err != nil {
			return err
		}
	}
	return nil
}

// unroll verifies that a retry loop can go round for ever: with one round's results fed
// to it again and again, the program must make that round's calls again and again. code
// is at the top of the second round, round lists the nodes of the first, and result is
// what led back, by back; the rounds tried are those from one number to another. What was asserted in the first round must be so in all.
func (a *Automaton) unroll(code Code, round []uint32, result *fsfake.Result, back Effects, from, to int) error {
	answer := func(i int) *fsfake.Result { // that of the round's call i
		if i+1 < len(round) {
			return a.nodes[round[i+1]].via
		}
		return result
	}
	n, i := from, 0
	return Follow(code, answer(0), func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
		next, was := round[0], back.Failed
		if i+1 < len(round) {
			next = round[i+1]
			was = a.nodes[next].Begins.Failed
		}
		failed := ""
		if len(notes) > 0 {
			did, err := Digest(a.name, notes)
			if err != nil {
				return nil, err
			}
			failed = did.Failed
		}
		if failed != was {
			return nil, fmt.Errorf("checker: task %s of %s: a retry round carries something over: after the same "+
				"results, round %d fails the assertion %q, and an earlier one %q (empty is none)",
				a.name, a.scenario, n, failed, was)
		}
		if !more || *op != a.nodes[next].Op {
			return nil, a.carriesOver(n+(i+1)/len(round), i+1, a.nodes[next].Op, *op, more)
		}
		if i++; i == len(round) {
			if n, i = n+1, 0; n == to {
				return nil, nil
			}
		}
		return answer(i), nil
	})
}

// carriesOver reports a retry loop whose later rounds go on differently.
func (a *Automaton) carriesOver(round, call int, was, is fsfake.Op, more bool) error {
	told := Told(is, more)
	return &CarriesError{a.name, was.String(), told, fmt.Sprintf("checker: task %s of %s: a retry round carries "+
		"something over: after the same results, call %d of round %d is %q and not %q; does it count its attempts? %s",
		a.name, a.scenario, call, round, told, was.String(), a.forgetful())}
}

// forgetful says how a round carries nothing over.
func (a *Automaton) forgetful() string {
	if a.external {
		return fmt.Sprintf("Let it give up after fewer than %d rounds", ExternalRounds)
	}
	return "Declare what a round uses inside the round"
}

// carriesAcross reports a retry loop in which a round goes on differently after others
// than the one it was learned after.
func (a *Automaton) carriesAcross(calls int, was, is fsfake.Op, more bool) error {
	told := Told(is, more)
	return &CarriesError{a.name, was.String(), told, fmt.Sprintf("checker: task %s of %s: a retry round carries "+
		"something over: %d calls into rounds whose results were seen before, its next call is %q. Before, it was %q. "+
		"Does it count its attempts? %s", a.name, a.scenario, calls, told, was.String(), a.forgetful())}
}

// A CarriesError says that a task made the call Is after rounds of a retry loop after which it had made the call Was.
type CarriesError struct{ Task, Was, Is, text string }

// Error says it, and what to do in a Go function.
func (e *CarriesError) Error() string { return e.text }

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
		return fmt.Errorf("checker: Options.Tried was used for %s, and is now for %s: use one for each "+
			"scenario", t.of.scenario, sc.ID)
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
