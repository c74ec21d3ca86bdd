package fsfake

import (
	"fmt"
	"slices"
)

// check returns what is wrong with a machine's bookkeeping: counts that do not add up,
// tables out of order, objects that nobody can reach.
func check(m *Machine) error {
	names := map[InodeID]uint32{}
	refs := map[InodeID]int32{}
	for _, n := range m.inodes {
		for _, e := range n.names {
			names[e.id]++
		}
		if n.kind == KindDir {
			refs[n.parent]++
		}
	}
	descRefs := map[descID]int32{}
	for _, p := range m.procs {
		refs[p.cwd]++
		for _, f := range p.fds {
			if !f.outside() {
				descRefs[f.desc]++
			}
		}
		for _, w := range p.waits {
			if w.desc != 0 {
				descRefs[w.desc]++
			}
		}
		if !slices.IsSortedFunc(p.fds, func(a, b fdesc) int { return int(a.fd - b.fd) }) {
			return fmt.Errorf("descriptors of %d out of order", p.pid)
		}
	}
	if err := checkQueues(m); err != nil {
		return err
	}
	for _, d := range m.descs {
		refs[d.inode]++
		if d.refs != descRefs[d.id] || d.refs == 0 {
			return fmt.Errorf("description %d has %d uses, counted %d", d.id, d.refs, descRefs[d.id])
		}
	}
	return checkInodes(m, names, refs)
}

// checkQueues: who waits in flock stands behind a lock or a waiter that is in its way, and
// who stands behind nothing is about to go on.
func checkQueues(m *Machine) error {
	for _, p := range m.procs {
		for i := range p.waits {
			w := &p.waits[i]
			if w.op.Call != CallFlock {
				continue
			}
			d, mode := m.desc(w.desc), flockMode(w.op.Flags)
			switch b := w.behind; {
			case !m.queues && b != predecessor{}:
				return fmt.Errorf("%d.%d stands behind %v, but nobody keeps queues", p.pid, w.task, b)
			case b == predecessor{}:
				if m.queues && !m.ready(p, w) {
					return fmt.Errorf("%d.%d stands behind nothing, and cannot go on", p.pid, w.task)
				}
			case b.lock != 0:
				if !m.desc(b.lock).conflictsWith(d, mode) {
					return fmt.Errorf("%d.%d stands behind a lock that is not in its way", p.pid, w.task)
				}
			default:
				o, ok := m.Blocked(b.waiter)
				if !ok || o.Call != CallFlock || mode == LOCK_SH && flockMode(o.Flags) == LOCK_SH {
					return fmt.Errorf("%d.%d stands behind %v, who is not in its way", p.pid, w.task, b.waiter)
				}
			}
		}
	}
	return nil
}

func checkInodes(m *Machine, names map[InodeID]uint32, refs map[InodeID]int32) error {
	last := InodeID(0)
	for _, n := range m.inodes {
		if n.id <= last {
			return fmt.Errorf("inode %d after %d", n.id, last)
		}
		last = n.id
		want := names[n.id]
		if n.kind == KindDir && (want > 0 || n.id == rootID) {
			want = 2
			for _, e := range n.names {
				if m.inode(e.id).kind == KindDir {
					want++
					if m.inode(e.id).parent != n.id {
						return fmt.Errorf("directory %d is in %d, not in its parent", e.id, n.id)
					}
				}
			}
		}
		switch {
		case n.nlink != want:
			return fmt.Errorf("inode %d has %d links, counted %d", n.id, n.nlink, want)
		case m.inUse(n.id) != (refs[n.id] > 0):
			return fmt.Errorf("inode %d has %d uses", n.id, refs[n.id])
		case n.nlink == 0 && refs[n.id] == 0:
			return fmt.Errorf("inode %d is out of reach", n.id)
		}
		if err := checkRecords(m, n); err != nil {
			return err
		}
	}
	return nil
}

// checkRecords: owners stand together, are alive, and hold disjoint, merged ranges that
// conflict with nobody's.
func checkRecords(m *Machine, n *inode) error {
	done := map[recordOwner]bool{}
	for i, r := range n.records {
		if i > 0 {
			prev := n.records[i-1]
			if prev.owner != r.owner {
				done[prev.owner] = true
			} else if prev.end >= r.start || prev.typ == r.typ && prev.end == r.start-1 {
				return fmt.Errorf("inode %d: records %v and %v", n.id, prev, r)
			}
		}
		if done[r.owner] {
			return fmt.Errorf("inode %d: owner %v in two places", n.id, r.owner)
		}
		if r.owner.pid != 0 && m.proc(r.owner.pid) == nil || r.owner.desc != 0 && !slices.ContainsFunc(m.descs, func(d *desc) bool { return d.id == r.owner.desc }) {
			return fmt.Errorf("inode %d: record of %v, who is gone", n.id, r.owner)
		}
		for _, o := range n.records[:i] {
			if o.conflicts(r) {
				return fmt.Errorf("inode %d: records %v and %v conflict", n.id, o, r)
			}
		}
	}
	return nil
}
