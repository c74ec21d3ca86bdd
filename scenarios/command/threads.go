package command

import (
	"maps"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// Threads of one process that have many orders. A call that looks at what nobody changes goes before the calls of the
// other threads then, as it does before those of other processes (reduce.go). What its thread does in memory until its
// next call comes earlier, too: of the orders of threads through memory one is followed in any case.
//
// Threads share descriptors. One that a thread looks at in such a call is taken to be its own: that another one moves
// its position, closes or replaces it, makes a difference that is not followed.

// fewThreadOrders is how many orders of its own calls a command with threads may have until looks go first.
const fewThreadOrders = 50

// mayLookFirst reports whether looks of threads may go first, and do not yet.
func (s *Spec) mayLookFirst() bool { return s.record.threads && !s.looksFirst }

// A descriptorOf is a descriptor of a process.
type descriptorOf struct{ pid, fd int }

// A use is which thread has used a descriptor, 0 where several have, and whose look at it went first, 0 for nobody's.
type use struct{ by, first int }

// threadLooks reports whether a look of one thread of several may go first. An open may not, for it takes a number.
func (d *driver) threadLooks(p tracer.Pending) bool {
	used, known := d.uses[descriptorOf{p.Task.Pid, p.Op.FD}]
	return d.spec.looksFirst && p.Op.Call != fsfake.CallOpen &&
		(!p.Op.Call.Is(fsfake.Reads|fsfake.Moves) || !known || used.by == p.Task.N)
}

// using notes which thread is about to use a descriptor, and that looks at it went first which another one has.
func (d *driver) using(p tracer.Pending, looked bool) {
	if !d.spec.looksFirst {
		return
	}
	if d.uses = maps.Clone(d.uses); d.uses == nil { // a snapshot has the same
		d.uses = map[descriptorOf]use{}
	}
	c, is := p.Op.Call, descriptorOf{p.Task.Pid, p.Op.FD}
	if c.Is(fsfake.Duplicates) {
		is.fd = p.Op.FD2
	}
	u, known := d.uses[is]
	if !known {
		u.by = p.Task.N
	}
	switch replaces := c.Is(fsfake.Closes | fsfake.Duplicates); {
	case !replaces && !c.Is(fsfake.Reads|fsfake.Writes|fsfake.Moves) && !looked:
		return
	case u.first != 0 && u.first != p.Task.N:
		d.oneOrder([]tracer.Pending{p})
	case replaces:
		delete(d.uses, is)
		return
	}
	if u.by != p.Task.N {
		u.by = 0
	}
	if looked {
		u.first = p.Task.N
	}
	d.uses[is] = u
}
