package anynumber

import (
	"slices"
)

// Most calls look and change nothing. Nobody else can tell that such a step was made: the caller's view becomes what
// the call makes of it, and all other views stay as they are. So where views have one process, the step is made in that
// view alone, and needs no configuration of two.

// alone makes the steps of the process of a view that nobody else can tell, and notes whether it has others.
func (x *search) alone(v *seenView) {
	if x.bad(&v.Config) {
		x.out = Spurious
	}
	if x.how.K > 1 || x.how.Names || x.stopped() {
		return
	}
	for _, pid := range v.full() {
		x.next(&v.Config, pid, func(d step) {
			switch {
			case !unnoticed(&v.Config, &d.Config, pid):
				x.loud[v.Key] = true
			case d.failed && x.asserts || x.bad(&d.Config):
				x.out = Spurious
			default:
				x.add(&d.Config)
			}
		})
	}
}

// quiet reports whether all steps of the process of a view have been made in the view alone.
func (x *search) quiet(v *seenView) bool { return x.how.K == 1 && !x.how.Names && !x.loud[v.Key] }

// unnoticed reports whether a step has changed nothing but what only its process has: where it is in its program,
// its descriptors, and what it remembers.
func unnoticed(was, is *Config, pid int) bool {
	p, q := was.proc(pid), is.proc(pid)
	if q.Dead || !slices.Equal(p.Place.Holds, q.Place.Holds) {
		return false
	}
	for i := range was.Inodes {
		m := &was.Inodes[i]
		n := is.inode(m.ID)
		if was.lockers(m.ID) != is.lockers(m.ID) || n == nil && m.Nlink > 0 || n != nil && !sameInode(m, n) {
			return false
		}
	}
	for i := range is.Inodes {
		if was.inode(is.Inodes[i].ID) == nil {
			return false
		}
	}
	return true
}

func sameInode(m, n *Inode) bool {
	return m.Mode == n.Mode && m.UID == n.UID && m.GID == n.GID && m.Nlink == n.Nlink && m.Data == n.Data &&
		m.Parent == n.Parent && m.Times == n.Times && m.Maker == n.Maker && slices.Equal(m.Names, n.Names)
}

// holding reports whether a full process holds a lock.
func (c *Config) holding() bool {
	return slices.ContainsFunc(c.Procs, func(p Proc) bool { return len(p.Place.Holds) > 0 })
}
