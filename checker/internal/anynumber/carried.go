package anynumber

import (
	"cmp"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// retold is a result, but for its text, with other processes in it.
func retold(call fsfake.Call, r fsfake.Result, to func(int) int) fsfake.Result {
	if _, ok := scenarios.ProcessOf(r.Lock.Pid); ok {
		r.Lock.Pid = to(r.Lock.Pid)
	}
	if pid := int(r.N-startOf(low)) + low; call == fsfake.CallStartTime && r.OK() {
		if _, ok := scenarios.ProcessOf(pid); ok {
			r.N = startOf(to(pid))
		}
	}
	return r
}

// remember keeps how a node was reached, and cuts whom a process was told of to what the node was told: a
// round of a retry loop carries nothing over.
func (s *System) remember(via edge, p *Proc) {
	if !s.known[via] {
		s.known[via] = true
		s.edges = append(s.edges, via)
	}
	n := p.Place.Node
	if n <= learn.Ended {
		p.Place.Told = nil
		return
	}
	if k, ok := s.told[n]; ok {
		if k > len(p.Place.Told) {
			s.refuse("a loop leads to a place that knows more")
			return
		}
		p.Place.Told = p.Place.Told[:k]
		return
	}
	s.told[n], s.via[n] = len(p.Place.Told), via
}

// forget has a process forget inode numbers that it cannot use any more.
func (s *System) forget(c *Config, pid int, via edge, e *learn.Edge) {
	keep, fewer := s.a.Forgets(via.from, via.result, e)
	if !fewer || keep == learn.All {
		return
	}
	m := c.machine(s.kind, s.rest)
	m.ForgetInodes(pid, uint64(keep))
	*c = s.after(c, m, pid)
}

// sameLock reports whether two names may be one lock's: one without a name may be any.
func sameLock(a, b string) bool { return a == b || a == "" || b == "" }

// letGo ends the hold of a lock.
func (p *Proc) letGo(lock string) {
	hs := slices.Clone(p.Place.Holds)
	for i := range hs {
		if hs[i].Lock == lock {
			hs = slices.Delete(hs, i, i+1)
			break
		}
	}
	p.Place.Holds = hs
}

// holds notes that a process has acquired a lock, whose object is what it has open or what stands at the path.
func (c *Config) holds(s *System, pid int, h scenarios.Holding) {
	p := c.proc(pid)
	real := func(q int) int {
		if q == low {
			return pid
		}
		if i := q - low - 1; i < len(p.Place.Told) {
			return p.Place.Told[i]
		}
		s.refuse("a lock is named after a process: " + h.Lock)
		return pid
	}
	n := Hold{Lock: renamed(h.Lock, real), Path: renamed(h.Path, real), Inode: fsfake.Gone}
	if h.Path != "" {
		m := c.machine(s.kind, s.rest)
		if id, ok := m.FDInode(pid, h.FD); ok && h.FD >= 0 {
			n.Inode = id
		} else if id, ok := m.LookupName(n.Path); ok {
			n.Inode = id
		}
	}
	hs := slices.Clone(p.Place.Holds)
	if slices.ContainsFunc(hs, func(o Hold) bool { return sameLock(o.Lock, n.Lock) }) {
		s.refuse("a process acquires a lock that it holds: " + h.Lock)
	}
	hs = append(hs, n)
	slices.SortFunc(hs, func(a, b Hold) int { return cmp.Compare(a.Lock, b.Lock) })
	p.Place.Holds = hs
}
