package bruteforce

import (
	"math/rand/v2"
	"slices"
)

// swaps sometimes has the tasks of a process look and store in one step, as locks in memory do:
// whoever waits and then stores, or just stores, makes a compare-and-swap in its place.
func (d *drawer) swaps(seed uint64) {
	s := swapper{rand.New(rand.NewPCG(seed, 16))}
	if s.r.IntN(2) == 0 {
		return
	}
	d.p.Probe = s.body(d.p.Probe, true)
	for p, tasks := range d.p.Programs {
		if d.p.Alike { // equal programs stay equal
			s.r = rand.New(rand.NewPCG(seed, 17))
		}
		for i := range tasks {
			d.p.Programs[p][i] = s.body(tasks[i], false)
		}
	}
}

// Swaps reports whether some task makes a compare-and-swap.
func (p *Protocol) Swaps() bool { return p.has(func(s *Stmt) bool { return s.Do == CAS }) }

type swapper struct{ r *rand.Rand }

// body returns a copy with compare-and-swaps. locks: it is in an acquisition, which can give up.
func (d swapper) body(body []Stmt, locks bool) []Stmt {
	if body == nil {
		return nil
	}
	var out []Stmt
	for i := 0; i < len(body); i++ {
		s := body[i]
		s.Body, s.Else, s.Release = d.body(s.Body, locks || s.Do == Acquire), d.body(s.Else, locks && s.Do != Acquire), d.body(s.Release, false)
		waits := s.Do == Await && i+1 < len(body) && body[i+1].Do == Store
		switch k := d.r.IntN(8); {
		case waits && k < 7:
			i++
			out = append(out, d.taken(Stmt{Do: CAS, Path: s.Path, Len: s.N, N: body[i].N}, s, locks)...)
		case s.Do == Store && k < 4:
			out = append(out, Stmt{Do: CAS, Path: s.Path, Len: int64(d.r.IntN(2)), N: s.N})
		default:
			out = append(out, s)
		}
	}
	return slices.Clip(out)
}

// taken is how a compare-and-swap is made until it succeeds: with a wait in each round, without
// one, or but once.
func (d swapper) taken(swap, await Stmt, locks bool) []Stmt {
	again := Stmt{Do: Retry, Body: []Stmt{swap, then(IfOK, Stmt{Do: Break}), await}}
	switch k := d.r.IntN(8); {
	case locks && k < 3:
		return []Stmt{swap, then(IfNot, giveUp)}
	case k == 3:
		again.Body = again.Body[:2]
	case k == 4:
		again.Body[2] = Stmt{Do: Sleep, N: 40}
	case k == 5:
		again.Body[0], again.Body[1], again.Body[2] = await, swap, then(IfOK, Stmt{Do: Break})
	}
	return []Stmt{again}
}
