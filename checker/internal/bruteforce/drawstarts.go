package bruteforce

import (
	"math/rand/v2"
	"slices"
)

// starts has some tasks of a process begin only when another one starts them: the first, or one that
// was started. The call stands anywhere but in a loop, which would make it again; also where a
// program does not always come to, so that some are never started.
func (d *drawer) starts(r *rand.Rand) {
	if r.IntN(2) == 0 {
		return
	}
	for i, tasks := range d.p.Programs {
		if len(tasks) == 1 {
			continue
		}
		if d.p.Running == nil {
			for _, all := range d.p.Programs {
				d.p.Running = append(d.p.Running, len(all))
			}
		}
		d.p.Running[i] = 1 + r.IntN(len(tasks)-1)
		for n := d.p.Running[i]; n < len(tasks); n++ {
			by := r.IntN(n)
			places := countPlaces(tasks[by])
			tasks[by] = insertAt(tasks[by], r.IntN(places), Stmt{Do: Start, N: int64(n + 1)})
		}
	}
}

// inner are the bodies of a statement that are not gone round.
func (s *Stmt) inner() []*[]Stmt {
	if s.Do == Retry {
		return nil
	}
	return []*[]Stmt{&s.Body, &s.Else, &s.Release}
}

// countPlaces counts where a statement may be put, at any depth but in a loop.
func countPlaces(body []Stmt) int {
	n := len(body) + 1
	for i := range body {
		for _, b := range body[i].inner() {
			if len(*b) > 0 {
				n += countPlaces(*b)
			}
		}
	}
	return n
}

// insertAt puts a statement at one of these places; body is not changed.
func insertAt(body []Stmt, at int, s Stmt) []Stmt {
	body = slices.Clone(body)
	if at <= len(body) {
		return slices.Insert(body, at, s)
	}
	at -= len(body) + 1
	for i := range body {
		for _, b := range body[i].inner() {
			if len(*b) == 0 {
				continue
			}
			n := countPlaces(*b)
			if at < n {
				*b = insertAt(*b, at, s)
				return body
			}
			at -= n
		}
	}
	return body
}
