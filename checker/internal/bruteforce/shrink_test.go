package bruteforce

import "slices"

// Shrink returns the smallest protocol that it finds by striking out what can be struck out,
// bit by bit, as long as still reports true of the result.
func Shrink(p *Protocol, still func(*Protocol) bool) *Protocol {
	for {
		smaller := p.smaller()
		at := slices.IndexFunc(smaller, still)
		if at < 0 {
			return p
		}
		p = smaller[at]
	}
}

// smaller lists the protocols that are smaller by one thing.
func (p *Protocol) smaller() []*Protocol {
	var out []*Protocol
	less := func(change func(q *Protocol)) {
		q := *p
		change(&q)
		out = append(out, &q)
	}
	if last := len(p.Programs) - 1; last > 0 && !slices.Contains(p.Mortal, last) {
		less(func(q *Protocol) {
			q.Programs, q.Running = p.Programs[:last], p.Running[:min(last, len(p.Running))]
			q.Handlers = p.Handlers[:min(last, len(p.Handlers))]
		})
	}
	for i, tasks := range p.Programs {
		if last := len(tasks) - 1; last > 0 {
			less(func(q *Protocol) {
				q.Programs = slices.Clone(p.Programs)
				q.Programs[i] = tasks[:last]
				if q.Running = slices.Clone(p.Running); p.Running != nil {
					q.Running[i] = min(q.Running[i], last)
				}
			})
		}
		for n, body := range tasks {
			for _, b := range smallerBodies(body) {
				less(func(q *Protocol) {
					q.Programs = slices.Clone(p.Programs)
					q.Programs[i] = slices.Clone(tasks)
					q.Programs[i][n] = b
				})
			}
		}
	}
	for i := range p.Handlers {
		for _, b := range smallerBodies(p.Handlers[i]) {
			less(func(q *Protocol) {
				q.Handlers = slices.Clone(p.Handlers)
				q.Handlers[i] = append([]Stmt{}, b...)
			})
		}
	}
	if p.Signals > 0 {
		less(func(q *Protocol) { q.Signals-- })
	}
	for _, b := range smallerBodies(p.Probe) {
		less(func(q *Protocol) { q.Probe = b })
	}
	if len(p.Files) > 0 {
		less(func(q *Protocol) { q.Files = nil })
	}
	if p.Crashes > 0 {
		less(func(q *Protocol) { q.Crashes--; q.Mortal = nil })
	}
	if p.Failing > 0 {
		less(func(q *Protocol) { q.Failing-- })
		less(func(q *Protocol) { q.FailWith = failNames[:1] })
	}
	if p.Stalls > 0 {
		less(func(q *Protocol) { q.Stalls-- })
	}
	if len(p.Punctual) > 0 {
		less(func(q *Protocol) { q.Punctual = nil })
	}
	if p.Daemons {
		less(func(q *Protocol) { q.Daemons = false })
	}
	return out
}

// smallerBodies lists the bodies without one of their statements, at any depth, and those in
// which a statement has given way to what is inside of it.
func smallerBodies(body []Stmt) [][]Stmt {
	var out [][]Stmt
	for i := range body {
		s := &body[i]
		out = append(out, slices.Concat(body[:i], body[i+1:]))
		if s.Do == If {
			out = append(out, slices.Concat(body[:i], s.Body, body[i+1:]), slices.Concat(body[:i], s.Else, body[i+1:]))
		}
		for which, inner := range [][]Stmt{s.Body, s.Else, s.Release} {
			for _, b := range smallerBodies(inner) {
				changed := slices.Clone(body)
				*[]*[]Stmt{&changed[i].Body, &changed[i].Else, &changed[i].Release}[which] = b
				out = append(out, changed)
			}
		}
	}
	return out
}
