package sched

import "iter"

// A Coroutine is an ordinary Go function that stops at every question it asks, until
// its driver answers. It is not safe for concurrent use.
type Coroutine[Q, A any] struct {
	next   func() (Q, bool)
	stop   func()
	answer A
	failed any // what the body panicked with
}

// stopped unwinds the body of a coroutine that its driver has given up.
type stopped struct{}

// Go prepares body as a coroutine. body runs up to its first question when Next is
// first called. Every coroutine must be run to its end or stopped.
func Go[Q, A any](body func(ask func(Q) A)) *Coroutine[Q, A] {
	c := &Coroutine[Q, A]{}
	c.next, c.stop = iter.Pull(func(yield func(Q) bool) {
		defer func() {
			// Nothing may cross into the driver's stack but what the body itself
			// panicked with: Next hands that on.
			if r := recover(); r != nil && r != any(stopped{}) {
				c.failed = r
			}
		}()
		alive := true
		body(func(q Q) A {
			// Deferred calls of a body that is being unwound must not act.
			if !alive || !yield(q) {
				alive = false
				panic(stopped{})
			}
			return c.answer
		})
	})
	return c
}

// Next resumes the body until its next question. It reports false when the body has
// returned. It panics with whatever the body panicked with.
func (c *Coroutine[Q, A]) Next() (Q, bool) {
	q, ok := c.next()
	if c.failed != nil {
		panic(c.failed)
	}
	return q, ok
}

// Answer sets what the question asked last will return when Next resumes the body.
func (c *Coroutine[Q, A]) Answer(a A) { c.answer = a }

// Stop unwinds the body without letting it ask again. Stopping twice, or a coroutine
// that has ended, does nothing.
func (c *Coroutine[Q, A]) Stop() { c.stop() }
