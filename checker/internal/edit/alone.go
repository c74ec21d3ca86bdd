package edit

import "lockpick/fsfake"

// mostCalls bounds the calls of a task that runs alone: who makes more polls for ever.
const mostCalls = 400

// A Stuck is what a task that runs alone panics with where it goes no further: it waits, polls for ever, or does what
// is not modelled.
type Stuck struct{}

// Alone is the port of a task that runs while nobody else does.
type Alone struct {
	Machine *fsfake.Machine
	Task    fsfake.Task
	// Noted gets what the program notes; nil for nobody.
	Noted func(v any)

	calls int // made so far
}

// Do makes one call. It panics with [Stuck].
func (a *Alone) Do(op fsfake.Op) fsfake.Result {
	r := a.Machine.Do(a.Task, op)
	if a.calls++; a.calls > mostCalls || r.Blocked || r.Unmodelled != "" {
		panic(Stuck{})
	}
	return r
}

// Note hands on what the program notes.
func (a *Alone) Note(v any) {
	if a.Noted != nil {
		a.Noted(v)
	}
}
