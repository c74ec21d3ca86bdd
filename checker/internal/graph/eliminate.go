package graph

import "container/heap"

// Elimination, as Grassmann, Taksar and Heyman do it (1985): a state is taken out of a chain
// by joining each way into it with each way out of it. All numbers are probabilities, and are
// only added, multiplied and divided, so nothing cancels out and every result is right to
// nearly all its digits, however small. The state whose removal joins the fewest ways goes
// first; where many loops run side by side, the rest gets dense all the same.

// A chain is what is left of a component.
type chain struct {
	out  [][]way    // ways to other states of the component
	into [][]uint32 // states that have, or had, a way here
	// away is the probability to leave the component, and low and high that times the bounds
	// of the probability of what is reached.
	away, low, high []float64
	gone            []bool
	queue           degrees
	place           []int32 // scratch: where a state is in a row, from 1
	work            int
}

// A way leads to a state with a probability.
type way struct {
	to uint32
	p  float64
}

// eliminate solves the equations of a component exactly. It reports false, and changes
// nothing, when that would take more work.
func (s *solver) eliminate(c []uint32, work int) bool {
	ch := s.chain(c, work)
	order := make([]uint32, 0, len(c))
	for range c {
		if s.stopped() {
			return true
		}
		k := ch.next()
		if !ch.remove(k) {
			return false
		}
		order = append(order, k)
	}
	for i := len(order) - 1; i >= 0; i-- {
		k := order[i]
		low, high, sum := ch.low[k], ch.high[k], ch.away[k]
		for _, w := range ch.out[k] {
			low += w.p * s.low[c[w.to]]
			high += w.p * s.high[c[w.to]]
			sum += w.p
		}
		s.low[c[k]], s.high[c[k]] = low/sum, high/sum
	}
	return true
}

// chain writes a component down.
func (s *solver) chain(c []uint32, work int) *chain {
	if s.at == nil {
		s.at = make([]uint32, s.g.Len())
	}
	for i, id := range c {
		s.at[id] = uint32(i) + 1
	}
	n := len(c)
	ch := &chain{
		out: make([][]way, n), into: make([][]uint32, n), away: make([]float64, n), low: make([]float64, n),
		high: make([]float64, n), gone: make([]bool, n), place: make([]int32, n), work: work,
	}
	for i, id := range c {
		to, _ := s.g.Edges(id)
		p := 1 / float64(len(to))
		for _, v := range to {
			switch {
			case v == Bad:
				ch.leave(i, p, 1, 1)
			case s.at[v] == 0:
				ch.leave(i, p, s.low[v], s.high[v])
			default:
				ch.add(uint32(i), s.at[v]-1, p)
			}
		}
	}
	for _, id := range c {
		s.at[id] = 0
	}
	for i := range c {
		ch.queue = append(ch.queue, degree{uint32(i), ch.cost(uint32(i))})
	}
	heap.Init(&ch.queue)
	return ch
}

// leave adds a way out of the component.
func (ch *chain) leave(i int, p, low, high float64) {
	ch.away[i] += p
	ch.low[i] += p * low
	ch.high[i] += p * high
}

// add adds a way between two states; one that leads to itself is left out: it only delays.
func (ch *chain) add(from, to uint32, p float64) {
	if from == to {
		return
	}
	for i := range ch.out[from] {
		if ch.out[from][i].to == to {
			ch.out[from][i].p += p
			return
		}
	}
	ch.out[from] = append(ch.out[from], way{to, p})
	ch.into[to] = append(ch.into[to], from)
}

// remove takes a state out: whoever led to it leads to where it led.
func (ch *chain) remove(k uint32) bool {
	ch.gone[k] = true
	row := ch.live(k)
	sum := ch.away[k]
	for _, w := range row {
		sum += w.p
	}
	for _, i := range ch.into[k] {
		if ch.gone[i] {
			continue
		}
		p := ch.cut(i, k)
		if p == 0 {
			continue
		}
		if ch.work -= len(row) + len(ch.out[i]); ch.work < 0 {
			return false
		}
		f := p / sum
		ch.away[i] += f * ch.away[k]
		ch.low[i] += f * ch.low[k]
		ch.high[i] += f * ch.high[k]
		ch.join(i, row, f)
		ch.queue.push(i, ch.cost(i))
	}
	ch.into[k] = nil
	for _, w := range row { // their ways in have changed
		ch.queue.push(w.to, ch.cost(w.to))
	}
	return true
}

// live drops the ways of a state that lead to states which are gone: they have been replaced.
func (ch *chain) live(k uint32) []way {
	row := ch.out[k][:0]
	for _, w := range ch.out[k] {
		if !ch.gone[w.to] {
			row = append(row, w)
		}
	}
	ch.out[k] = row
	return row
}

// cut takes the way from i to k out of a row, and returns its probability.
func (ch *chain) cut(i, k uint32) float64 {
	row := ch.out[i]
	for j := range row {
		if row[j].to == k {
			p := row[j].p
			row[j] = row[len(row)-1]
			ch.out[i] = row[:len(row)-1]
			return p
		}
	}
	return 0
}

// join adds f times a row to the ways of i.
func (ch *chain) join(i uint32, row []way, f float64) {
	for j, w := range ch.out[i] {
		ch.place[w.to] = int32(j) + 1
	}
	n := len(ch.out[i])
	for _, w := range row {
		switch at := ch.place[w.to]; {
		case w.to == i:
		case at > 0:
			ch.out[i][at-1].p += f * w.p
		default:
			ch.out[i] = append(ch.out[i], way{w.to, f * w.p})
			ch.into[w.to] = append(ch.into[w.to], i)
		}
	}
	for _, w := range ch.out[i][:n] {
		ch.place[w.to] = 0
	}
}

// cost is how many ways the removal of a state would join, about.
func (ch *chain) cost(i uint32) int { return len(ch.into[i]) * len(ch.out[i]) }

// next takes the state off the queue whose removal costs least.
func (ch *chain) next() uint32 {
	for {
		d := heap.Pop(&ch.queue).(degree)
		if !ch.gone[d.state] {
			return d.state
		}
	}
}

// degrees is a queue of states by cost. A state may be in it several times, with costs that it
// had before.
type degrees []degree

type degree struct {
	state uint32
	cost  int
}

func (q degrees) Len() int { return len(q) }
func (q degrees) Less(i, j int) bool {
	return q[i].cost < q[j].cost || q[i].cost == q[j].cost && q[i].state < q[j].state
}
func (q degrees) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *degrees) Push(v any)   { *q = append(*q, v.(degree)) }
func (q *degrees) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
func (q *degrees) push(state uint32, cost int) { heap.Push(q, degree{state, cost}) }
