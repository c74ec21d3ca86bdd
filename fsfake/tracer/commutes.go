//go:build linux && amd64

package tracer

import "lockpick/fsfake"

// Calls that commute with all calls of others. Whether one of them comes before what another process of the run asks,
// or after it, nobody can tell: so it need not be followed in both orders.
//
// A descriptor that is closed gives no lock back that nobody has asked for: of its description, or by its process. That
// a description which others have, too, is never locked later is a guess. Where it is, after all, [Pending.Missed]
// says so.

// commutes reports whether what a thread asks commutes with all that others may ask before it is answered. The other
// threads of its process share its descriptors.
func (t *thread) commutes() bool {
	if len(t.p.threads) > 1 || !t.op.Call.Is(fsfake.Own) {
		return false
	}
	closing := t.p.closing
	if d := t.p.ofFake(t.op.FD); t.op.Call.Is(fsfake.Closes) && d != nil {
		closing = []*description{d.file}
	}
	for _, f := range closing {
		if f.locks || t.p.locks {
			return false
		}
	}
	for _, f := range closing {
		f.early = f.early || t.shares(f)
	}
	return true
}

// shares reports whether another process of the run has a description.
func (t *thread) shares(f *description) bool {
	for _, p := range t.r.procs {
		for _, d := range p.fds { // order does not matter: whether there is one
			if p != t.p && d.isFake() && d.file == f {
				return true
			}
		}
	}
	return false
}

// missed notes which locks are asked for, and says by whom it is seen so that a guess was wrong.
func (r *Run) missed() map[*thread]bool {
	by := map[*thread]bool{}
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state == asking {
				by[t] = t.locks()
			}
		}
	}
	return by
}

// locks is missed of one thread.
func (t *thread) locks() bool {
	d := t.p.ofFake(t.op.FD)
	if !t.op.Call.Is(fsfake.Locks) || d == nil {
		return false
	}
	if !t.op.Call.Is(fsfake.OfDescription) {
		t.p.locks = true
		return false
	}
	d.file.locks = true
	return d.file.early
}

// ofFake is the descriptor that is one of the fake, or nil.
func (p *process) ofFake(fake int) *descriptor {
	for _, d := range p.fds { // order does not matter: there is one at most
		if d.isFake() && d.fake == fake {
			return d
		}
	}
	return nil
}
