package bruteforce

import "lockpick/fsfake"

// otherPath is the second lock of protocols that have two.
const otherPath = "/other"

// locks are two locks: one inside the other, in one order or in two, in turn, of some tasks only
// one, or one lock inside itself. They are small, so that most spaces are.
func (d *drawer) locks() {
	first, second := d.small(lockPath, 0), d.small(otherPath, d.r.IntN(2))
	var probe []Stmt
	d.programs(func() []Stmt {
		a, b := first, second
		if d.chance(2) {
			a, b = b, a
		}
		a.Body, a.Release = d.seldom(a.Body), d.seldom(a.Release)
		if probe == nil {
			probe = a.Body
		}
		switch d.r.IntN(8) {
		case 0, 1, 2, 3:
			a.Else = []Stmt{b}
		case 4, 5:
			return []Stmt{a, b}
		case 6:
			a.Else = []Stmt{a}
			if d.chance(2) {
				return []Stmt{a, b}
			}
		}
		return []Stmt{a}
	})
	d.p.Probe = sound(append([]Stmt{{Do: Work}}, probe...))
	d.ask("mutual-exclusion")
	d.ask(one(d, "foreign-release", "foreign-release", "deadlock", "wedge", "starvation", "spurious-failure", "owner-info"))
}

// seldom spoils a body, but not often: two locks are large.
func (d *drawer) seldom(body []Stmt) []Stmt {
	if d.chance(4) {
		return d.edit(append([]Stmt(nil), body...))
	}
	return body
}

// small is a lock of few calls, with what is done while it is held.
func (d *drawer) small(path string, slot int) Stmt {
	s := Stmt{Do: Acquire, Path: path}
	fail := []Stmt{giveUp}
	if d.chance(5) {
		fail = []Stmt{{Do: Sleep}}
	}
	got := []Stmt{bare}
	switch d.r.IntN(6) {
	case 0:
		s.Body, s.Release = []Stmt{{Do: Mkdir, Path: path}}, []Stmt{{Do: Rmdir, Path: path}}
	case 1:
		s.Body = []Stmt{{Do: Stat, Path: path}, then(IfOK, fail...), {Do: Mkdir, Path: path}}
		s.Release = []Stmt{{Do: Rmdir, Path: path}}
	case 2:
		s.Body = []Stmt{{Do: Open, Path: path, Flags: Exclusive, Slot: slot}, then(IfOK, Stmt{Do: Write, Text: d.name(), Slot: slot}, bare)}
		s.Release = []Stmt{{Do: Unlink, Path: path}}
	case 3, 4:
		how := one(d, fsfake.LOCK_EX, fsfake.LOCK_EX, fsfake.LOCK_EX|fsfake.LOCK_NB, fsfake.LOCK_SH)
		s.Body = []Stmt{{Do: Open, Path: path, Flags: Create, Slot: slot}, {Do: Flock, Flags: how, Slot: slot}}
		s.Release = one(d, []Stmt{{Do: Close, Slot: slot}}, []Stmt{{Do: Unlink, Path: path}, {Do: Close, Slot: slot}})
		got = []Stmt{{Do: Return, N: 1, Slot: slot}}
	default:
		lock := d.recordLock(Fcntl)
		lock.Slot = slot
		s.Body = []Stmt{{Do: Open, Path: path, Flags: Create, Slot: slot}, lock}
		s.Release = []Stmt{{Do: Close, Slot: slot}}
		got = []Stmt{{Do: Return, N: 1, Slot: slot}}
	}
	s.Body = append(s.Body, then(IfOK, got...))
	s.Body = append(s.Body, fail...)
	if fail[0].Do == Sleep {
		s.Body = []Stmt{{Do: Retry, Body: s.Body}}
	}
	s.Else = []Stmt{{Do: Work}}
	if d.chance(4) {
		s.Else = []Stmt{{Do: Record, Text: OpWho, Path: path, Body: []Stmt{
			{Do: Open, Path: path, Flags: Existing, Slot: 1 - slot}, {Do: Read, Slot: 1 - slot}, {Do: Close, Slot: 1 - slot}}}}
	}
	return s
}
