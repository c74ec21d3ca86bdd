package edit

import (
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A Span is for how long a guard's lock is held.
type Span string

// The spans, the shortest first.
const (
	Operation Span = "around each operation"
	Held      Span = "from before the lock is taken until it is given back"
	Task      Span = "from the first call to the end"
)

// Guard is the edit in which a kernel lock on a file of its own is held for a span. A signal handler takes none: what
// it has interrupted may have it.
func Guard(file string, span Span) *Edit {
	e := &Edit{Text: "flock " + file + " " + string(span)}
	e.Change = func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
		if t.Handler {
			return p
		}
		return &guard{Port: p, file: file, span: span}
	}
	return e
}

// guard is the port of a task that holds a lock around its operations.
type guard struct {
	fsfake.Port
	file string
	span Span
	held int // locks of the program for which it is kept
	fd   int // of the guard's file while it is locked, else 0
}

// Do makes one call.
func (g *guard) Do(op fsfake.Op) fsfake.Result {
	if g.span == Task {
		g.begin()
	}
	if op.Call.Ends() { // nothing is done after it
		g.fd = 0
	}
	return g.Port.Do(op)
}

// begin takes the guard's lock, and waits for it.
func (g *guard) begin() {
	if g.fd > 0 {
		return
	}
	a := g.Port.Do(fsfake.Op{Call: fsfake.CallOpen, Path: g.file, Mode: 0o666,
		Flags: fsfake.O_RDWR | fsfake.O_CREAT | fsfake.O_CLOEXEC})
	if !a.OK() {
		return
	}
	g.fd = int(a.N)
	for g.Port.Do(fsfake.Op{Call: fsfake.CallFlock, FD: g.fd, Flags: fsfake.LOCK_EX}).Errno == fsfake.EINTR {
	}
}

func (g *guard) end() {
	if g.fd > 0 {
		g.Port.Do(fsfake.Op{Call: fsfake.CallClose, FD: g.fd})
	}
	g.fd = 0
}

// Note holds the guard's lock from an operation's first step to its last.
func (g *guard) Note(v any) {
	if r, ok := v.(scenarios.Returned); ok && g.span != Task {
		switch o := r.Output.(type) {
		case model.Acquired:
			if o.OK && g.span == Held {
				g.held++
			}
		case model.Released:
			g.held = max(g.held-1, 0)
		}
		if g.held == 0 {
			g.end()
		}
	}
	g.Port.Note(v)
	if _, ok := v.(scenarios.Invoked); ok {
		g.begin()
	}
}
