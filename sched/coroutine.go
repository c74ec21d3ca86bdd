package sched

import "iter"

// A Coroutine is an ordinary Go function that stops at every question it asks, until
// its driver answers. It is not safe for concurrent use.
type Coroutine[Q, A any] struct {
	next   func() (Q, bool)
	cancel func() // before the first question
	answer A
	failed any // what the body panicked with
	begun  bool
	// Own, when not nil, reports whether it is called on the goroutine of the body, and not on one that
	// the body has started, which cannot be unwound from here and is left where it is. It is asked
	// where a body that is stopped has asked last.
	Own func() bool
	// stopping: the driver has given the body up. lost: it goes on asking all the same.
	stopping, lost bool
}

// stopped unwinds the body of a coroutine that its driver has given up.
type stopped struct{}

// patience is how many questions a body may ask that is being unwound: deferred functions ask
// some, and a loop that recovers from everything asks for ever.
const patience = 1000

// Go prepares body as a coroutine. body runs up to its first question when Next is
// first called. Every coroutine must be run to its end or stopped.
func Go[Q, A any](body func(ask func(Q) A)) *Coroutine[Q, A] {
	c := &Coroutine[Q, A]{}
	c.next, c.cancel = iter.Pull(func(yield func(Q) bool) {
		defer func() {
			// Nothing may cross into the driver's stack but what the body itself
			// panicked with: Next hands that on.
			if r := recover(); r != nil && r != any(stopped{}) {
				c.failed = r
			}
		}()
		refused := 0
		body(func(q Q) A {
			// Deferred calls of a body that is being unwound must not act.
			if !c.stopping {
				yield(q)
			}
			if c.stopping {
				if refused++; refused > patience || c.Own != nil && !c.Own() {
					yield(q) // for good: nobody asks for more
				}
				panic(stopped{})
			}
			return c.answer
		})
	})
	return c
}

// Next resumes the body until its next question. It reports false when the body has
// returned, or was stopped. It panics with whatever the body panicked with.
func (c *Coroutine[Q, A]) Next() (q Q, more bool) {
	if c.stopping {
		return q, false
	}
	c.begun = true
	q, more = c.next()
	if c.failed != nil {
		panic(c.failed)
	}
	return q, more
}

// Answer sets what the question asked last will return when Next resumes the body.
func (c *Coroutine[Q, A]) Answer(a A) { c.answer = a }

// Stop unwinds the body without letting it ask again. Stopping twice, or a coroutine
// that has ended, does nothing. It reports whether the body has ended: one that recovers from
// everything, in a loop, cannot be unwound, and is left where it is.
func (c *Coroutine[Q, A]) Stop() (ended bool) {
	if c.stopping {
		return !c.lost
	}
	c.stopping = true
	if !c.begun {
		c.cancel()
		return true
	}
	_, c.lost = c.next()
	return !c.lost
}
