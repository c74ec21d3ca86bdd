package cli

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"lockpick/checker"
)

// Most spaces are small: what takes time is to look once more at everything that their verdicts
// rest on, one thing after the other. So small spaces are decided ahead of their turn, a scenario
// at a time on each processor, while a large one may be under way on all of them. Verdict and
// counts are the same. A space that turns out to be larger waits for its turn and begins anew, so
// that only one that takes much memory is under way at a time. Whoever would wait for its turn
// decides something ahead meanwhile. What is decided ahead is taken from the end: where the last
// takes long, nobody has to wait for it alone.
type ahead struct {
	questions  []question
	tried      []*checker.Tried // by question: one for each scenario
	mu         sync.Mutex
	next, last int // the questions from next up to last, without it, have not been begun
	ready      []*readyResult
}

// A readyResult is decided when done is closed; result is nil where it has to be asked again.
type readyResult struct {
	done   chan struct{}
	result *checker.Result
}

// What is decided ahead of its turn has at most so many states, which take at most so much memory: no
// processor is to take much. Of a larger space that is broken it is enough that a violation is among these.
const (
	aheadStates = 200_000
	aheadBytes  = 64 << 20
)

func newAhead(questions []question) *ahead {
	e := &ahead{questions: questions, tried: make([]*checker.Tried, len(questions)), ready: make([]*readyResult, len(questions)), last: len(questions)}
	for i := range questions {
		if i > 0 && questions[i-1].sc == questions[i].sc {
			e.tried[i] = e.tried[i-1]
		} else {
			e.tried[i] = &checker.Tried{}
		}
	}
	return e
}

// ahead is how many decide ahead: none where the time that a verdict takes matters, or what is
// asked for is not covered by the counts of a small space.
func (f *checkFlags) ahead(o checker.Options, questions int) int {
	if questions == 1 || f.options.Timings || f.engine.timeout > 0 ||
		o.Memory != checker.RememberAuto || o.Preemptions != nil || o.States > 0 || o.Workers == 1 {
		return 0
	}
	return min(runtime.GOMAXPROCS(0)-1, questions)
}

// take returns the result of a question, waiting for it where somebody is about to have it: it
// helps as long as there is something to help with. It is nil where nobody has it: then nobody else
// will begin with it.
func (e *ahead) take(i int, help func() bool) *checker.Result {
	e.mu.Lock()
	e.next = max(e.next, i+1)
	r := e.ready[i]
	e.mu.Unlock()
	if r == nil {
		return nil
	}
	for helping := true; ; {
		select {
		case <-r.done:
			return r.result
		default:
		}
		if helping = helping && help(); !helping {
			<-r.done
		}
	}
}

// begin takes the questions of a scenario that nobody has begun: those from one to another.
func (e *ahead) begin() (from, to int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from, to = e.last, e.last
	for from > e.next && e.questions[from-1].sc == e.questions[to-1].sc {
		from--
		e.ready[from] = &readyResult{done: make(chan struct{})}
	}
	e.last = from
	return from, to
}

// work decides what nobody has begun, a scenario, and reports whether there was one.
func (e *ahead) work(ctx context.Context, f *checkFlags, o checker.Options) bool {
	o.Workers, o.States, o.Whole, o.Progress = 1, aheadStates, true, nil
	o.Bytes = min(cmp.Or(o.Bytes, aheadBytes), aheadBytes)
	from, to := e.begin()
	for i := from; i < to; i++ {
		q := e.questions[i]
		o.Tried = e.tried[i]
		if ctx.Err() == nil {
			// An error is told, or gone, when it is asked again.
			if r, err := f.decide(ctx, q, o); err == nil && r.Verdict != checker.Unknown {
				e.ready[i].result = &r
			}
		}
		close(e.ready[i].done)
	}
	return from < to
}
