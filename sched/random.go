package sched

import "math/rand/v2"

// Random chooses uniformly among everything that can happen: each enabled task's next
// step, each error with which its call can fail, each kill, the stall, each state of the disk after a loss of power and each signal,
// while their budgets last.
type Random struct {
	rng *rand.Rand
	buf []Choice
}

// NewRandom returns a Random strategy that draws under seed.
func NewRandom(seed uint64) *Random {
	return &Random{rng: rand.New(rand.NewPCG(seed, 0x6c6f636b7069636b))}
}

// Next implements Strategy.
func (r *Random) Next(v *View) (Choice, error) {
	r.buf = v.Options(r.buf[:0])
	if len(r.buf) == 0 {
		return Choice{}, ErrEnd
	}
	return r.buf[r.rng.IntN(len(r.buf))], nil
}
