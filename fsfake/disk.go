package fsfake

import (
	"maps"
	"slices"
	"strings"
)

// A Disk says what a file system may leave after a loss of power: what POSIX leaves open, or less.
type Disk uint8

// The disks, weakest promises first.
const (
	// DiskDefault is as DiskPosix.
	DiskDefault Disk = iota
	// DiskPosix keeps what POSIX promises, and does with contents what real disks do: blocks overtake each other, and
	// a file has its new size without its new data.
	DiskPosix
	// DiskExt4 is ext4 as it is mounted by default, DiskXfs xfs, DiskBtrfs btrfs: what Linux 6.18 was seen to leave.
	DiskExt4
	DiskXfs
	DiskBtrfs
)

// diskRules are what a disk may leave: docs/power.md has them as a table.
type diskRules struct {
	name string
	// blocks: of several blocks of a file each may be of another version. zeros: a file may have a size without the
	// data that it was extended by.
	blocks, zeros bool
	// ordered: the names of all directories change in one order, and fsync keeps what came before. alone: fsync keeps
	// the names of one directory or file, and not what came before.
	ordered, alone bool
	// allocates: a file that was renamed over another is as long as it was then.
	allocates bool
	// cuts: what a truncate cuts off is gone with it, and does not come back in what is written later.
	cuts bool
	// lazy: sync leaves what was only overwritten in the cache of the disk, where there is nothing to log.
	lazy bool
}

func (d Disk) rules() *diskRules {
	posix := &diskRules{name: "posix", blocks: true, zeros: true}
	return [...]*diskRules{
		posix, posix,
		{name: "ext4", blocks: true, zeros: true, ordered: true, allocates: true, cuts: true},
		{name: "xfs", blocks: true, ordered: true, cuts: true, lazy: true},
		{name: "btrfs", ordered: true, alone: true},
	}[d]
}

// String returns "posix", "ext4", "xfs" or "btrfs".
func (d Disk) String() string { return d.rules().name }

// Disks lists the disks that are told apart.
func Disks() []Disk { return []Disk{DiskPosix, DiskExt4, DiskXfs, DiskBtrfs} }

// block is what a disk writes at once.
const block = 4096

// mostText bounds the length of all contents together that a file is listed with: a large one has very many.
const mostText = 4 << 20

// contents lists what a file of at least a size may contain after a loss of power, what programs saw first. Of more
// than most it returns the first, and false.
func (d Disk) contents(n *inode, least, most int) (all []string, whole bool) {
	versions := n.dataVersions()
	if len(versions) == 1 {
		return versions, true
	}
	if !d.rules().blocks {
		return truncated(versions, most)
	}
	top := len(slices.MaxFunc(versions, func(a, b string) int { return len(a) - len(b) }))
	most = min(most, max(len(versions), mostText/max(1, top, least)))
	seen := map[string]bool{}
	add := func(text string) bool {
		if !seen[text] && len(all) >= most {
			return false
		}
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
		return true
	}
	whole = true
	for _, v := range versions { // the plain ones first
		whole = (len(v) < least || add(v)) && whole
	}
	for _, e := range d.eras(n, versions) {
		for _, size := range e.sizes(least, most) {
			options := make([][]string, (size+block-1)/block)
			for b := range options {
				options[b] = e.options(b*block, min(size, b*block+block), least)
			}
			whole = product(options, func(parts []string) bool { return add(strings.Join(parts, "")) }) && whole
		}
	}
	return all, whole
}

// An era is what a file may be while the same truncations are on the disk: its size is that of one of its versions.
type era struct {
	*unsynced
	versions  []string // all, newest first
	from, to  int      // where its own begin and end
	mayZero   bool     // what it grew by may be zeros
	keepsCuts bool     // what was cut off is gone
}

// eras are those of a file, newest first. On a disk on which what was cut off may come back there is one.
func (d Disk) eras(n *inode, versions []string) (all []era) {
	r, from := d.rules(), 0
	add := func(to int, keepsCuts bool) {
		all = append(all, era{n.unsynced, versions, from, to, r.zeros && n.unsynced.grown, keepsCuts})
		from = to
	}
	for i := 1; i < len(versions) && r.cuts && !n.unsynced.again; i++ {
		if len(versions[i-1]) < len(versions[i]) {
			add(i, true)
		}
	}
	add(len(versions), from > 0)
	return all
}

// sizes are those that the file may have.
func (e *era) sizes(least, most int) (all []int) {
	for _, v := range e.versions[e.from:e.to] {
		if s := max(len(v), least); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	// a truncate changes the size at once
	for s, top := slices.Min(all)/block*block+block, slices.Max(all); e.extended && s < top; s += block {
		if !slices.Contains(all, s) && len(all) < most {
			all = append(all, s)
		}
	}
	return all
}

// options are what a block of the file may be.
func (e *era) options(from, to, least int) (all []string) {
	for i, v := range e.versions {
		low, cuts := len(v), e.shrunk && !e.keepsCuts
		for k := i; e.keepsCuts && k >= e.to; k-- { // an older one was cut since
			low = min(low, len(e.versions[k-1]))
		}
		for k := i; e.keepsCuts && k < e.from; k++ { // of a newer one the block may be another one
			low, cuts = min(low, len(e.versions[k])), true
		}
		if i < e.from && low <= from {
			continue
		}
		if i >= e.to {
			v = v[:low]
		}
		// Zeros stand where a file was extended, and beyond its end in the block in which it was cut.
		may := len(v) >= to || e.mayZero || cuts && len(v) > from || least > len(v)
		if text := padded(v, from, to); may && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// truncated adds to versions, newest first, those in which a truncate is on the disk and an earlier write is not.
func truncated(versions []string, most int) (all []string, whole bool) {
	add := func(v string) {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	for i := len(versions) - 1; i >= 0; i-- {
		v := versions[i]
		if i+1 < len(versions) && v == padded(versions[i+1], 0, len(v)) {
			for _, older := range slices.Clone(all) {
				add(padded(older, 0, len(v)))
			}
		}
		add(v)
	}
	slices.Reverse(all)
	at := slices.Index(all, versions[0])
	all = append([]string{versions[0]}, slices.Delete(all, at, at+1)...)
	return all[:min(len(all), most)], len(all) <= most
}

// padded is a part of a text, with zeros beyond its end.
func padded(s string, from, to int) string {
	have := s[min(from, len(s)):min(to, len(s))]
	return have + strings.Repeat("\x00", to-from-len(have))
}

// product calls do with each choice of one option of each list, the first ones first, until it returns false.
func product(options [][]string, do func(parts []string) bool) bool {
	parts := make([]string, len(options))
	var from func(i int) bool
	from = func(i int) bool {
		if i < 0 {
			return do(parts)
		}
		for _, o := range options[i] {
			if parts[i] = o; !from(i - 1) {
				return false
			}
		}
		return true
	}
	return from(len(options) - 1)
}

// A change is one of a name that may not be on the disk yet, where all names change in one order.
type change struct {
	at   int // changes with the same number happen at once
	dir  InodeID
	name string
	old  InodeID // what it stood for; 0 for nothing
	// moved, unless 0, is the file that was renamed over another by that, when it was so long.
	moved InodeID
	size  int
}

// log notes what was changed of the names of a directory.
func (m *Machine) log(d *inode, old []name) {
	at := 1
	if n := len(m.journal); n > 0 {
		at += m.journal[n-1].at
	}
	m.journal = slices.Clone(m.journal)
	add := func(s string, was InodeID) {
		m.journal = append(m.journal, change{at: at, dir: d.id, name: s, old: was})
	}
	for _, e := range old {
		if d.lookup(e.name) != e.id {
			add(e.name, e.id)
		}
	}
	before := inode{names: old}
	for _, e := range d.names {
		if before.lookup(e.name) == 0 {
			add(e.name, 0)
		}
	}
}

// atOnce makes one change of those of the journal from a place on. moved is 0, or a file that was renamed over another.
func (m *Machine) atOnce(from int, moved InodeID) {
	for i := from; i < len(m.journal); i++ {
		c := &m.journal[i]
		if c.at = m.journal[from].at; moved != 0 && m.disk.rules().allocates {
			c.moved, c.size = moved, len(m.inode(moved).data)
		}
	}
}

// commit keeps the names that fsync of an inode keeps.
func (m *Machine) commit(id InodeID) {
	r := m.disk.rules()
	m.ahead(id)
	last := 0
	for _, c := range m.journal {
		if c.dir == id || c.old == id || m.inode(c.dir).lookup(c.name) == id {
			last = c.at
		}
	}
	if last == 0 {
		return
	}
	var left []change
	alone := r.alone && !m.movedOut(id)
	for _, c := range m.journal {
		kept := c.at <= last
		if alone {
			kept = c.dir == id || m.inode(c.dir).lookup(c.name) == id
		}
		if !kept {
			left = append(left, c)
		} else if c.moved != 0 {
			m.allocated(c.moved, c.size)
		}
	}
	m.journal = left
}

// movedOut reports whether something was renamed from a directory into another one, and may be lost there. btrfs keeps
// all names then, for it would be lost in both.
func (m *Machine) movedOut(dir InodeID) bool {
	for _, c := range m.journal {
		for _, d := range m.journal {
			if c.dir == dir && d.at == c.at && d.dir != dir && c.old != 0 && m.inode(d.dir).lookup(d.name) == c.old {
				return true
			}
		}
	}
	return false
}

// ahead: what is kept with an inode may be there before all else that changed, where a disk does not keep names in
// order: changes of its names, all changes that happened at once with one, and earlier ones of the same name.
func (m *Machine) ahead(id InodeID) {
	moves := make([]bool, len(m.journal))
	for more := m.disk.rules().alone; more; {
		more = false
		for i, c := range m.journal {
			is := c.old == id || m.inode(c.dir).lookup(c.name) == id
			for j, d := range m.journal {
				is = is || moves[j] && (d.at == c.at || i < j && d.dir == c.dir && d.name == c.name)
			}
			more = more || is && !moves[i]
			moves[i] = moves[i] || is
		}
	}
	if !slices.Contains(moves, true) {
		return
	}
	var out []change
	for _, first := range []bool{true, false} {
		last := 0 // of no change
		for i, c := range m.journal {
			if moves[i] != first {
				continue
			}
			at := 1
			if n := len(out); n > 0 && c.at == last {
				at = out[n-1].at
			} else if n > 0 {
				at = out[n-1].at + 1
			}
			last, c.at = c.at, at
			out = append(out, c)
		}
	}
	m.journal = out
}

// shrink: a file that was renamed over another has become shorter since.
func (m *Machine) shrink(id InodeID, size int) {
	for i, c := range m.journal {
		if c.moved == id && c.size > size {
			m.journal = slices.Clone(m.journal)
			m.journal[i].size = size
		}
	}
}

// allocated: a file has at least a size on the disk from now on, whatever its contents are.
func (m *Machine) allocated(id InodeID, size int) {
	n := m.inode(id)
	if n.unsynced == nil {
		return
	}
	u := *n.unsynced
	u.data = nil
	for _, v := range n.unsynced.data {
		if len(v) < size {
			v = padded(v, 0, size)
		}
		u.keep(v, n.data)
	}
	n = m.mutInode(id)
	m.setOldData(n, &u)
}

// A namesAt is what the names of directories are when the last changes of the journal are lost.
type namesAt struct {
	of    *Machine
	names map[InodeID][]name // of directories that had others
	least map[InodeID]int    // sizes of files that were renamed over others
}

// cuts lists the names that a disk in one order may have, what programs saw first. On another disk every directory has
// versions of its own: there is one cut, without names.
func (m *Machine) cuts() []namesAt {
	least := map[InodeID]int{}
	for _, c := range m.journal {
		if c.moved != 0 {
			least[c.moved] = max(least[c.moved], c.size)
		}
	}
	out := []namesAt{{m, map[InodeID][]name{}, least}}
	for i := len(m.journal) - 1; i >= 0; {
		last := out[len(out)-1]
		next := namesAt{m, maps.Clone(last.names), map[InodeID]int{}}
		for at := m.journal[i].at; i >= 0 && m.journal[i].at == at; i-- {
			c := m.journal[i]
			names, ok := next.names[c.dir]
			if !ok {
				names = m.inode(c.dir).names
			}
			d := inode{names: names}
			switch k, there := d.find(c.name); {
			case there && c.old == 0:
				names = remove(names, k)
			case there:
				names = slices.Clone(names)
				names[k].id = c.old
			case c.old != 0:
				names = insert(names, k, name{c.name, c.old})
			}
			next.names[c.dir] = names
		}
		for _, c := range m.journal[:i+1] {
			if c.moved != 0 {
				next.least[c.moved] = max(next.least[c.moved], c.size)
			}
		}
		out = append(out, next)
	}
	return out
}
