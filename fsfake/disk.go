package fsfake

import (
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
