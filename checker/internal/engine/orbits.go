package engine

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"lockpick/checker/internal/learn"
)

// What all renamings make of a machine is an orbit. One renaming after another is a renaming, so the orbit of a machine is
// known with that of any other in it, and each is renamed once.
type orbits struct {
	mu     sync.RWMutex
	by     []member // by machine
	images []uint32 // of the first machine of each orbit, by renaming
}

// A member says how a machine comes from the first of its orbit.
type member struct {
	orbit   uint32 // its number from 1; 0: it is not known
	renamed uint32 // by which renaming
}

// node is where a renaming maps a node to.
func (r *renames) node(k, slot int, word uint32) uint32 {
	n := word &^ learn.Begun
	if n <= learn.Ended {
		return word
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	to, ok := r.nodes[image{k, slot, n}]
	if !ok {
		panic(fmt.Sprintf("checker: %s: node %d of process %s is not known under other names: this is a fault of lockpick",
			r.x.Sc.ID, n, r.x.Slots[slot].Task))
	}
	return to | word&learn.Begun
}

// orbit is what all renamings make of the first machine in the orbit of id, and which of them makes id. What is not known
// is made in a workspace, while nobody waits; where two workers make the same, one of them has been first.
func (r *renames) orbit(id uint32, b *workspace) (images []uint32, by uint32, err error) {
	o := &r.orbits
	o.mu.RLock()
	images, by, ok := o.find(id, len(r.perms))
	o.mu.RUnlock()
	if ok {
		return images, by, nil
	}
	if images, err = r.images(id, b); err != nil {
		return nil, 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if images, by, ok := o.find(id, len(r.perms)); ok {
		return images, by, nil
	}
	o.add(images)
	images, by, _ = o.find(id, len(r.perms))
	return images, by, nil
}

// images are what all renamings make of a machine.
func (r *renames) images(id uint32, b *workspace) ([]uint32, error) {
	from, err := r.x.machines.put(b, id)
	if err != nil {
		return nil, err
	}
	to := b.free(from)
	if b.last != from {
		b.last = nil
	}
	images := make([]uint32, len(r.perms))
	for k := range images {
		from.m.CloneTo(&to.room)
		if !r.by[k].Machine(&to.room) {
			return nil, r.unlike("a machine shows a pid otherwise than in texts and names")
		}
		var kept bool
		if images[k], kept = r.x.machines.add(&to.room, b, &to.key, &from.key); kept {
			b.rebuilder.Keep()
		}
	}
	return images, nil
}

func (o *orbits) find(id uint32, n int) (images []uint32, by uint32, ok bool) {
	if int(id) >= len(o.by) || o.by[id].orbit == 0 {
		return nil, 0, false
	}
	at := int(o.by[id].orbit-1) * n
	return o.images[at : at+n], o.by[id].renamed, true
}

func (o *orbits) add(images []uint32) {
	o.images = append(o.images, images...)
	number := uint32(len(o.images) / len(images))
	if most := int(slices.Max(images)); most >= len(o.by) {
		o.by = append(o.by, make([]member, most+1-len(o.by))...)
	}
	for k, id := range images {
		if o.by[id].orbit == 0 { // several renamings may make one
			o.by[id] = member{number, uint32(k)}
		}
	}
}

// A least is the machine with the lowest number that renamings make of one, and which do: one bit each.
type least struct{ machine, by uint32 }

// A renamer is what one worker remembers of renamings.
type renamer struct {
	*renames
	workspace workspace
	least     []least    // by machine; by is 0 where it is not known
	nodesOf   [][]uint32 // by slot, node and renaming; 0 where it is not known
}

// lowest is the least machine of an orbit.
func (w *renamer) lowest(id uint32) least {
	if int(id) < len(w.least) && w.least[id].by != 0 {
		return w.least[id]
	}
	images, by, err := w.orbit(id, &w.workspace)
	if err != nil { // each was renamed when it came up
		panic(err)
	}
	l := least{machine: slices.Min(images)}
	for k := range w.perms {
		if images[w.product[k][by]] == l.machine {
			l.by |= 1 << k
		}
	}
	if int(id) >= len(w.least) {
		w.least = append(w.least, make([]least, int(id)+1-len(w.least))...)
	}
	w.least[id] = l
	return l
}

// nodeOf is where a renaming maps a node of a slot to; the answer is remembered.
func (w *renamer) nodeOf(k, slot int, word uint32) uint32 {
	n := word &^ learn.Begun
	if n <= learn.Ended {
		return word
	}
	at := int(n)*len(w.perms) + k
	if at >= len(w.nodesOf[slot]) {
		w.nodesOf[slot] = append(w.nodesOf[slot], make([]uint32, at+len(w.perms)-len(w.nodesOf[slot]))...)
	}
	to := &w.nodesOf[slot][at]
	if *to == 0 {
		*to = w.node(k, slot, n)
	}
	return *to | word&learn.Begun
}

// canonical is [Symmetry.Canonical] where pids are renamed: of all renamings of a state the lowest. Its machine comes first in
// it, so few of them are looked at.
func (s *Symmetry) canonical(row []uint32) {
	l := s.pids.lowest(row[wordMachine])
	for left, first := l.by, true; left != 0; left, first = left&(left-1), false {
		k := bits.TrailingZeros32(left)
		copy(s.trial, row)
		s.trial[wordMachine] = l.machine
		for from, to := range s.pids.perms[k] {
			s.trial[wordNodes+to] = s.pids.nodeOf(k, from, row[wordNodes+from])
		}
		if s.x.Histories != nil {
			s.trial[WordHistory] = s.history(row[WordHistory], k)
		}
		if first || slices.Compare(s.trial, s.best) < 0 {
			copy(s.best, s.trial)
		}
	}
	copy(row, s.best)
}
