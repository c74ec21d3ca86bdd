package fsfake

// A Retry marks a retry loop, so that a search can tell "here again" from "further
// on": at the top of every round the task is where it was at the top of the first.
//
//	for retry := p.Retry(); retry.Next(); {
//		f, err := p.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o644)
//		…
//		p.Sleep(50 * time.Millisecond)
//	}
//
// A round must carry nothing over to the next: a variable that the loop changes and
// reads again (an attempt counter) breaks the promise. The checker verifies it and
// reports a program that breaks it.
type Retry struct {
	p     *Proc
	loop  int
	temp  int // temporary names handed out before the loop
	begun bool
}

// RoundTop is noted at the top of every round of a retry loop. Loop numbers the loops
// that the task has begun; First is true for a loop's first round, the place that the
// later rounds return to.
type RoundTop struct {
	Loop  int
	First bool
}

// Retry begins a retry loop.
func (p *Proc) Retry() *Retry {
	p.loops++
	return &Retry{p: p, loop: p.loops, temp: p.temp}
}

// Next starts a round. It always returns true: a loop is left by return or break. It
// is not a step.
func (r *Retry) Next() bool {
	r.p.loops, r.p.temp = r.loop, r.temp // a round begins as the first did
	r.p.port.Note(RoundTop{Loop: r.loop, First: !r.begun})
	r.begun = true
	return true
}
