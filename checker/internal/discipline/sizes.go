package discipline

import (
	"slices"

	"lockpick/fsfake"
)

// Outside of the lock a copy may look how long a file is that copies change: Python does, whenever it opens one. What
// it is shown is the length at some moment of the serial run, so each of these is tried at each look.

// sized is the file whose length a call looks at and nothing else of it that changes; 0 for none. The file keeps its
// name.
func (s *shared) sized(c *call) fsfake.InodeID {
	var id fsfake.InodeID
	switch {
	case c.op.Call == fsfake.CallStat || c.op.Call == fsfake.CallLstat:
		id, _ = c.before.LookupName(c.before.Absolute(c.by.Pid, c.op.Path))
	case c.op.Call.Is(fsfake.Stats | fsfake.Moves):
		id, _ = c.before.FDInode(c.by.Pid, c.op.FD)
	}
	if names := c.before.Paths(id); id == 0 || len(s.texts[id]) == 0 || len(names) != 1 ||
		s.looks(c.before, c.by.Pid, names[0]) != "" {
		return 0
	}
	return id
}

// sizes runs copies with other lengths of files, where they look at them outside of the lock. They must do the same.
func (x *runner) sizes(s *shared, l *lock, runs []serial, closed bool) error {
	for k := range runs {
		if runs[k].cut || !closed && k > 0 && k+1 < len(runs) {
			continue
		}
		r := &runs[k]
		var at []int
		total := 1
		for i := range r.calls {
			if id := s.sized(&r.calls[i]); id != 0 && (i < r.took || i > r.left) {
				at = append(at, i)
				total = min(total*len(s.texts[id]), variants+1)
			}
		}
		switch {
		case len(at) == 0:
			continue
		case total > variants:
			return notProved("outside of the lock a copy looks how long a file is that copies change: %s",
				r.calls[at[0]].op)
		case slices.ContainsFunc(r.calls[:r.took+1], func(c call) bool { return l.meets(&c) }):
			return notProved("a copy that may find the lock taken looks how long a file is that copies change: %s",
				r.calls[at[0]].op)
		}
		for v := range total {
			if err := x.resized(s, r, at, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// resized runs a copy again, and shows it other lengths at some calls, as the digits of v say.
func (x *runner) resized(s *shared, r *serial, at []int, v int) error {
	n := -1
	calls, err := x.run(r.again(), r.from, nil, func(m *fsfake.Machine, c *call) (*fsfake.Result, error) {
		if n++; n >= len(r.calls) || !slices.Contains(at, n) || c.op != r.calls[n].op {
			return nil, nil
		}
		id := s.sized(&r.calls[n])
		texts, now := s.texts[id], m.View(id).Content
		name := m.Paths(id)[0]
		if err := write(m, name, texts[v%len(texts)]); err != nil {
			return nil, err
		}
		v /= len(texts)
		is := m.Do(c.by, c.op)
		return &is, write(m, name, now)
	})
	if err != nil {
		return err
	}
	for i := range max(len(calls), len(r.calls)) {
		if i >= len(calls) || i >= len(r.calls) || !sameButSize(&calls[i], &r.calls[i], slices.Contains(at, i)) {
			return notProved("outside of the lock a copy looks how long a file is that copies change, and what it does "+
				"depends on that: %s", r.calls[at[0]].op)
		}
	}
	return nil
}

// sameButSize reports whether two calls are the same and do the same. The answers of looks differ.
func sameButSize(a, b *call, looks bool) bool {
	x, y := *a, *b
	if looks {
		x.result, y.result = fsfake.Result{}, fsfake.Result{}
	}
	return told([]call{x}) == told([]call{y}) && (!a.op.Call.Changes() || sameTree(a.after, b.after))
}

// write has another process change what is in a file.
func write(m *fsfake.Machine, name, text string) error {
	by := stranger(m)
	defer m.KillProc(other)
	r := m.Do(by, fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_WRONLY | fsfake.O_TRUNC})
	if r.OK() && text != "" {
		r = m.Do(by, fsfake.Op{Call: fsfake.CallWrite, FD: int(r.N), Data: text})
	}
	if !r.OK() {
		return notProved("another process cannot write into %s: %v", name, r.Errno)
	}
	return nil
}
