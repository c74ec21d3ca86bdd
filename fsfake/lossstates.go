package fsfake

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A pick is the version of an inode that a disk has after a loss of power.
type pick struct {
	id    InodeID
	data  string
	names []name
}

// Losses are the distinct disks that a loss of power may leave.
type Losses struct {
	// Whole is false where there are more.
	Whole bool
	picks [][]pick
}

// Len is how many there are.
func (l Losses) Len() int { return len(l.picks) }

// Losses lists what the disk may be when the power is lost now. State 0 keeps everything. The others come in a fixed
// order, which is a function of the machine's key: the root's versions first, newest first, and then those of what is
// in it. There are 4096 combinations of versions at most. Where judged is
// not nil, disks are told apart as far as somebody sees who looks at the absolute paths of one of its lists: of all
// else a disk has what programs saw. With most, unless it is 0, there are up to so many, those first in which the
// fewest files and directories have another version than the last. The error says that the machine does not lose power.
func (m *Machine) Losses(judged [][]string, most int) (Losses, error) {
	if !m.powerLoss {
		return Losses{}, errors.New("fsfake: the machine was made without Options.PowerLoss")
	}
	e := lossEnum{m: m, whole: true}
	cuts := m.cuts()
	if m.syncing != 0 && m.disk.rules().alone { // what is kept ahead may be there before the call has returned
		c := m.Clone()
		c.finishSync()
		cuts = append(cuts, c.cuts()...)
	}
	e.most = maxLossStates
	if e.older = math.MaxInt; most != 0 {
		e.most, e.older = most, 0
	}
	unsynced := 0
	for _, n := range m.inodes {
		if n.unsynced != nil {
			unsynced++
		}
	}
	for ; e.whole && (most == 0 || e.older <= unsynced); e.older++ {
		for _, e.cut = range cuts {
			e.m = e.cut.of
			if judged == nil {
				e.from([]InodeID{rootID}, nil, 0)
			}
			for _, paths := range judged {
				e.needed = map[InodeID]bool{}
				e.need(rootID, "", paths)
				e.from([]InodeID{rootID}, nil, 0)
			}
		}
		if most == 0 {
			break
		}
	}
	l := Losses{picks: e.all[:min(1, len(e.all))], Whole: e.whole}
	if len(e.all) == 1 {
		return l, nil
	}
	l.picks = nil
	var key []byte
	seen := make(map[string]bool, len(e.all))
	for _, picks := range e.all {
		c := m.Clone()
		c.reboot(picks)
		if key = c.AppendKey(key[:0]); !seen[string(key)] {
			seen[string(key)] = true
			l.picks = append(l.picks, picks)
		}
	}
	return l, nil
}

// Lose cuts the power and boots the machine again: every process ends, every descriptor, lock and cell is gone, so is
// every mark, and the disk is in state k of those that [Machine.Losses] listed of a machine that is as this one, all of
// it durable. Process 1 runs again. The clock does not move, and start times go on counting from the first boot. It
// panics when there is no such state.
func (m *Machine) Lose(l Losses, k int) {
	if k < 0 || k >= len(l.picks) {
		panic(fmt.Sprintf("fsfake: LosePower: there is no state %d of %d", k, len(l.picks)))
	}
	m.reboot(l.picks[k])
}

// A lossEnum walks every legal tree from the root.
type lossEnum struct {
	m     *Machine
	cut   namesAt
	all   [][]pick
	whole bool
	most  int // as long as all becomes
	older int // so many inodes have another version than the last; any number where it is huge
	// needed, unless nil, are the inodes whose versions are told apart.
	needed map[InodeID]bool
}

// names lists what the names of a directory may be.
func (e *lossEnum) names(n *inode) [][]name {
	if names, ok := e.cut.names[n.id]; ok {
		return [][]name{names}
	}
	return n.nameVersions()
}

// need notes the inodes that paths may lead over, in any version.
func (e *lossEnum) need(id InodeID, at string, paths []string) {
	n := e.m.inode(id)
	if e.needed[id] = true; n.kind != KindDir {
		return
	}
	for _, names := range e.names(n) {
		for _, k := range names {
			to := at + "/" + k.name
			if slices.ContainsFunc(paths, func(p string) bool { return p == to || strings.HasPrefix(p, to+"/") }) {
				e.need(k.id, to, paths)
			}
		}
	}
}

// from goes on with the inodes of todo, whose names have been kept, where older have another version than the last;
// false when there are too many combinations.
func (e *lossEnum) from(todo []InodeID, done []pick, older int) bool {
	for len(todo) > 0 && slices.ContainsFunc(done, func(p pick) bool { return p.id == todo[0] }) {
		if e.m.inode(todo[0]).kind == KindDir {
			return true // no directory has two names
		}
		todo = todo[1:] // a second name
	}
	if len(todo) == 0 {
		if e.older != math.MaxInt && older != e.older {
			return true
		}
		if len(e.all) == e.most {
			e.whole = false
			return false
		}
		e.all = append(e.all, slices.Clone(done))
		return true
	}
	n := e.m.inode(todo[0])
	told := e.needed == nil || e.needed[n.id]
	if n.kind != KindDir {
		versions, whole := []string{n.data}, true
		if told && n.unsynced != nil {
			versions, whole = e.m.disk.contents(n, e.cut.least[n.id], maxLossStates)
		}
		e.whole = e.whole && whole
		for i, data := range versions {
			if k := older + min(i, 1); k <= e.older && !e.from(todo[1:], append(done, pick{id: n.id, data: data}), k) {
				return false
			}
		}
		return true
	}
	versions := e.names(n)
	if !told {
		versions = versions[:1]
	}
	for i, names := range versions {
		k := older + min(i, 1)
		if k > e.older {
			break
		}
		next := slices.Clone(todo[1:])
		for _, k := range names {
			next = append(next, k.id)
		}
		if !e.from(next, append(done, pick{id: n.id, names: names}), k) {
			return false
		}
	}
	return true
}

// reboot makes the picked versions the disk, and ends everything else.
func (m *Machine) reboot(picks []pick) {
	links, parents := map[InodeID]uint32{}, map[InodeID]InodeID{rootID: rootID}
	for _, p := range picks {
		for _, e := range p.names {
			links[e.id]++
			parents[e.id] = p.id
		}
	}
	own := m.owner()
	inodes := make([]*inode, 0, len(picks))
	for _, p := range picks {
		n := *m.inode(p.id)
		n.own, n.data, n.names = own, p.data, p.names
		n.unsynced, n.records, n.linkable, n.shared = nil, nil, false, unshared
		n.nlink = links[n.id]
		if n.kind == KindDir {
			n.nlink, n.parent = 2+m.subdirs(p.names), parents[n.id]
		}
		inodes = append(inodes, &n)
	}
	slices.SortFunc(inodes, func(a, b *inode) int { return int(a.id - b.id) })
	m.inodes, m.ownInodes, m.journal = inodes, true, nil
	m.settle()
	m.descs, m.procs, m.marks = nil, nil, nil
	s := m.mutSeldom()
	s.paces, s.naps, s.stallLeft, s.syncing = nil, nil, 0, 0
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
