package fsfake

import (
	"errors"
	"fmt"
	"slices"
)

// A pick is the version of an inode that a disk has after a loss of power.
type pick struct {
	id    InodeID
	data  string
	names []name
}

// losses lists the distinct legal disks, each as the versions of all its inodes.
func (m *Machine) losses() ([][]pick, error) {
	if !m.powerLoss {
		return nil, errors.New("fsfake: the machine was made without Options.PowerLoss")
	}
	e := lossEnum{m: m}
	if !e.from([]InodeID{rootID}, nil) {
		return nil, fmt.Errorf("fsfake: a loss of power with more than %d combinations of what is kept is not modelled", maxLossStates)
	}
	if len(e.all) == 1 {
		return e.all, nil
	}
	var distinct [][]pick
	var key []byte
	seen := make(map[string]bool, len(e.all))
	for _, picks := range e.all {
		c := m.Clone()
		c.reboot(picks)
		if key = c.AppendKey(key[:0]); !seen[string(key)] {
			seen[string(key)] = true
			distinct = append(distinct, picks)
		}
	}
	return distinct, nil
}

// A lossEnum walks every legal tree from the root.
type lossEnum struct {
	m   *Machine
	all [][]pick
}

// from goes on with the inodes of todo, whose names have been kept; false when there are
// too many combinations.
func (e *lossEnum) from(todo []InodeID, done []pick) bool {
	for len(todo) > 0 && slices.ContainsFunc(done, func(p pick) bool { return p.id == todo[0] }) {
		todo = todo[1:] // a second name
	}
	if len(todo) == 0 {
		e.all = append(e.all, slices.Clone(done))
		return len(e.all) <= maxLossStates
	}
	n := e.m.inode(todo[0])
	if n.kind != KindDir {
		for _, data := range n.dataVersions() {
			if !e.from(todo[1:], append(done, pick{id: n.id, data: data})) {
				return false
			}
		}
		return true
	}
	for _, names := range n.nameVersions() {
		next := slices.Clone(todo[1:])
		for _, k := range names {
			next = append(next, k.id)
		}
		if !e.from(next, append(done, pick{id: n.id, names: names})) {
			return false
		}
	}
	return true
}

// reboot makes the picked versions the disk, and ends everything else.
func (m *Machine) reboot(picks []pick) {
	links := map[InodeID]uint32{}
	for _, p := range picks {
		for _, e := range p.names {
			links[e.id]++
		}
	}
	own := m.owner()
	inodes := make([]*inode, 0, len(picks))
	for _, p := range picks {
		n := *m.inode(p.id)
		n.own, n.data, n.names = own, p.data, p.names
		n.unsynced, n.records, n.linkable = nil, nil, false
		n.nlink = links[n.id]
		if n.kind == KindDir {
			n.nlink = 2 + m.subdirs(p.names)
		}
		inodes = append(inodes, &n)
	}
	slices.SortFunc(inodes, func(a, b *inode) int { return int(a.id - b.id) })
	m.inodes, m.ownInodes = inodes, true
	m.settle()
	m.descs, m.procs, m.marks = nil, nil, nil
	s := m.mutSeldom()
	s.paces, s.naps, s.stallLeft = nil, nil, 0
	m.ownDescs, m.ownProcs, m.maxPid = false, false, 0
	m.version++
	m.AddProc(ProcSpec{Pid: 1})
}

func (m *Machine) subdirs(names []name) uint32 {
	n := uint32(0)
	for _, e := range names {
		if m.inode(e.id).kind == KindDir {
			n++
		}
	}
	return n
}
