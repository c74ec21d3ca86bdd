package bruteforce

import (
	"math/rand/v2"
	"slices"

	"lockpick/fsfake"
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

// signals sometimes gives a process a signal handler, of which most remove the lock, as traps of shells
// do, or look whether it is theirs before, and many exit.
func (d *drawer) signals(r *rand.Rand) {
	if d.p.Lasts || d.p.Punctual != nil || r.IntN(5) > 0 {
		return
	}
	own, draws := d.r, d.anonymous
	d.r, d.anonymous, d.p.Alike = r, false, false
	d.p.Signals = 1 + r.IntN(8)/7
	d.p.Handlers = make([][]Stmt, len(d.p.Programs))
	for range 1 + r.IntN(2) {
		remove := []Stmt{{Do: Unlink, Path: lockPath}}
		body := one(d, remove, remove, d.checked(remove), []Stmt{d.anything()}, []Stmt{{Do: Rmdir, Path: lockPath}},
			[]Stmt{{Do: Store, Path: cellName, N: int64(r.IntN(2))}}, []Stmt{d.small(lockPath, 0)}, []Stmt{d.wait(3)},
			[]Stmt{{Do: Open, Path: lockPath, Flags: Create}, {Do: Flock, Flags: fsfake.LOCK_EX}})
		if d.chance(3) {
			body = d.spoil(body)
		}
		of := r.IntN(len(d.p.Programs))
		switch k := r.IntN(4); {
		case k == 0:
			body = append(slices.Clone(body), Stmt{Do: Exit})
		case k < 3 && len(d.p.Programs[of]) == 1 && !hasStmt(body, func(s *Stmt) bool { return s.Do == Acquire }):
			body = []Stmt{{Do: Leave, Path: lockPath, Body: body}}
		}
		d.p.Handlers[of] = sound(body)
	}
	d.r, d.anonymous = own, draws
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
