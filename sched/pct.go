package sched

import "math/rand/v2"

// PCT is the probabilistic concurrency testing scheduler of Burckhardt, Kothari,
// Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
// Finding Bugs" (ASPLOS 2010): every task has a random priority, the highest enabled
// one runs, and at depth-1 random steps the running task falls below all others. A bug
// that needs depth ordering constraints is found with probability at least
// 1/(n·k^(depth-1)) for n tasks and k steps.
//
// Deviations: a task that sleeps falls below all others, as a yield does in the
// paper's implementation; and each kill, stall, loss of power, failing call or signal that the budgets allow is tried at a
// random step of its own, or after the last, which the paper does not speak of.
type PCT struct {
	rng      *rand.Rand
	steps    int
	depth    int
	priority map[Task]int
	lowest   int
	changes  []int
	faults   []int
	buf      []Choice
}

// NewPCT returns a PCT strategy for one run of about steps steps, which looks for bugs
// of the given depth (1 or more). A new one is needed for each run.
func NewPCT(seed uint64, steps, depth int) *PCT {
	return &PCT{
		rng:   rand.New(rand.NewPCG(seed, 0x5043542070637421)),
		steps: max(steps, 1), depth: max(depth, 1),
	}
}

// Next implements Strategy.
func (p *PCT) Next(v *View) (Choice, error) {
	if p.priority == nil {
		p.begin(v)
	}
	if c, ok := p.fault(v); ok {
		return c, nil
	}
	if v.Last >= 0 {
		last := &v.Tasks[v.Last]
		for _, s := range p.changes {
			if s == v.Step {
				p.sink(last.Task)
			}
		}
		if last.Asleep || last.Idle {
			p.sink(last.Task)
		}
	}
	best := -1
	for i := range v.Tasks {
		if v.Tasks[i].Enabled && (best < 0 || p.priority[v.Tasks[i].Task] > p.priority[v.Tasks[best].Task]) {
			best = i
		}
	}
	if best < 0 {
		return Choice{}, ErrEnd
	}
	c := Choice{Action: Run, Task: v.Tasks[best].Task}
	if n := v.Tasks[best].Ways; n > 1 {
		for c.Which = p.rng.IntN(n); !v.Tasks[best].open(c.Which); c.Which = (c.Which + 1) % n {
		}
	}
	return c, nil
}

// begin draws the priorities, the change points and the times of faults.
func (p *PCT) begin(v *View) {
	p.priority = make(map[Task]int, len(v.Tasks))
	for i, rank := range p.rng.Perm(len(v.Tasks)) {
		p.priority[v.Tasks[i].Task] = rank + 1
	}
	for range p.depth - 1 {
		p.changes = append(p.changes, 1+p.rng.IntN(p.steps))
	}
	for range len(v.Kills) {
		p.faults = append(p.faults, p.rng.IntN(p.steps+1))
	}
	if v.Stall {
		p.faults = append(p.faults, p.rng.IntN(p.steps+1))
	}
	if v.Losses > 0 {
		p.faults = append(p.faults, p.rng.IntN(p.steps+1))
	}
	for range v.Failing + len(v.Signals) {
		p.faults = append(p.faults, p.rng.IntN(p.steps+1))
	}
}

func (p *PCT) sink(t Task) {
	p.lowest--
	p.priority[t] = p.lowest
}

// fault returns one of the faults that can happen when one was drawn for this step. A fault that
// comes too early or too late is lost: not every run has one.
func (p *PCT) fault(v *View) (Choice, bool) {
	for i, s := range p.faults {
		if s != v.Step {
			continue
		}
		p.faults[i] = -1
		p.buf = p.buf[:0]
		for _, c := range v.Options(nil) {
			if c.IsFault() && (c.Action != PowerLoss || c.State == 0) {
				p.buf = append(p.buf, c)
			}
		}
		if len(p.buf) == 0 {
			return Choice{}, false
		}
		c := p.buf[p.rng.IntN(len(p.buf))]
		if c.Action == PowerLoss {
			c.State = p.rng.IntN(v.Losses)
		}
		return c, true
	}
	return Choice{}, false
}
