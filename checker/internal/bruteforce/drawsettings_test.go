package bruteforce

import (
	"math/rand/v2"
	"slices"
)

// lasting has sleeps take as long as they say: less than what is old, or longer.
func (d *drawer) lasting() {
	d.p.Lasts, d.p.Alike = true, false
	for _, tasks := range d.p.Programs {
		for i, body := range tasks {
			if d.chance(2) {
				tasks[i] = d.within(body)
				body = tasks[i]
			}
			lengthen(body, one[int64](d, 40, 70))
		}
	}
	if d.p.Punctual == nil && d.chance(3) {
		d.p.Punctual = []int{d.r.IntN(len(d.p.Programs))}
	}
}

// within puts a sleep, and a look how old the lock is, into the rounds of loops.
func (d *drawer) within(body []Stmt) []Stmt {
	out := slices.Clone(body)
	for i := range out {
		s := &out[i]
		s.Body, s.Else = d.within(s.Body), d.within(s.Else)
		if s.Do == Retry {
			s.Body = slices.Insert(s.Body, d.r.IntN(len(s.Body)+1), Stmt{Do: Sleep})
			s.Body = slices.Insert(s.Body, d.r.IntN(len(s.Body)+1), Stmt{Do: Old, Path: lockPath, N: 60}, then(IfOK, Stmt{Do: Unlink, Path: lockPath}))
		}
	}
	return out
}

// skews sometimes sets clocks apart, by more and by less than what is old, where somebody looks how
// old a file is.
func (d *drawer) skews(r *rand.Rand) {
	looks := d.p.has(func(s *Stmt) bool { return s.Do == Old })
	if !looks || d.p.Alike || r.IntN(2) == 0 {
		return
	}
	for range d.p.Programs {
		d.p.Skew = append(d.p.Skew, []int64{0, 0, 90, 30, -90}[r.IntN(5)])
	}
}

// setsBack sometimes sets the clock back in place of a stall.
func (d *drawer) setsBack(r *rand.Rand) {
	if d.p.Stalls > 0 && d.p.Punctual == nil && r.IntN(4) == 0 {
		d.p.StallFor = []int64{-90, -30, -3600}[r.IntN(3)]
	}
}

// failing lets a call fail, with few errors, as each is one more way on.
func (d *drawer) failing() {
	d.p.Failing, d.p.Crashes, d.p.Mortal = 1, 0, nil
	d.p.FailWith = []string{one(d, failNames...)}
	if d.chance(3) {
		d.p.FailWith = nil
	}
}

// punctual lets a process never be delayed. It sleeps so long that a stall passes in a few pieces.
func (d *drawer) punctual() {
	d.p.Punctual, d.p.StallFor = []int{d.r.IntN(len(d.p.Programs))}, 100
	for _, tasks := range d.p.Programs {
		for _, body := range tasks {
			lengthen(body, 40)
		}
	}
}

func lengthen(body []Stmt, seconds int64) {
	for i := range body {
		if body[i].Do == Sleep {
			body[i].N = seconds
		}
		lengthen(body[i].Body, seconds)
		lengthen(body[i].Else, seconds)
		lengthen(body[i].Release, seconds)
	}
}
