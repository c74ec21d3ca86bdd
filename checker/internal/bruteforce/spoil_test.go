package bruteforce

import "slices"

// spoil changes a few statements of a body, or none.
func (d *drawer) spoil(body []Stmt) []Stmt {
	body = slices.Clone(body)
	for d.chance(3) {
		body = d.edit(body)
	}
	return body
}

// edit strikes out a statement, doubles it, swaps it with the next, or puts one in.
func (d *drawer) edit(body []Stmt) []Stmt {
	if len(body) == 0 {
		return []Stmt{d.anything()}
	}
	i := d.r.IntN(len(body))
	if s := body[i]; len(s.Body) > 0 && d.chance(2) {
		s.Body = d.edit(slices.Clone(s.Body))
		body[i] = s
		return body
	}
	switch d.r.IntN(5) {
	case 0, 1:
		return slices.Delete(body, i, i+1)
	case 2:
		return slices.Insert(body, i, body[i])
	case 3:
		if i+1 < len(body) {
			body[i], body[i+1] = body[i+1], body[i]
		}
		return body
	}
	return slices.Insert(body, i, d.anything())
}

// anything is some call.
func (d *drawer) anything() Stmt {
	path := one(d, lockPath, lockPath, tempPath)
	return one(d, Stmt{Do: Stat, Path: path}, Stmt{Do: Unlink, Path: path}, Stmt{Do: Sleep}, Stmt{Do: Work},
		Stmt{Do: Open, Path: path, Flags: one(d, Create, Exclusive, Existing, Truncate)}, Stmt{Do: Close}, Stmt{Do: Read},
		Stmt{Do: Write, Text: d.name()}, Stmt{Do: Rename, Path: tempPath, To: lockPath}, Stmt{Do: Old, Path: path, N: 60})
}

// sound puts a step of work where an operation, or a round of a loop, might make no call.
func sound(body []Stmt) []Stmt {
	out := slices.Clone(body)
	for i := range out {
		s := &out[i]
		s.Body, s.Else, s.Release = sound(s.Body), sound(s.Else), sound(s.Release)
		switch s.Do {
		case Acquire:
			s.Body, s.Release = begun(s.Body), begun(s.Release)
		case Record, Retry, Leave:
			s.Body = begun(s.Body)
		}
	}
	return out
}

func begun(body []Stmt) []Stmt {
	if !calls(body) {
		return slices.Insert(slices.Clone(body), 0, Stmt{Do: Work})
	}
	return body
}

// calls reports whether a body certainly makes a call.
func calls(body []Stmt) bool {
	for i := range body {
		switch s := &body[i]; s.Do {
		case If, Break, Return, Acquire, Record:
			return false
		case Retry:
			return calls(s.Body)
		case Alive:
		default:
			if !s.usesFile() {
				return true
			}
		}
	}
	return false
}
