package anynumber

import (
	"slices"

	"lockpick/fsfake"
)

// Machines here number files for each process as it meets them, and no number comes back. Where numbers are used
// again, a process that is shown a new file may find it to have the number of one that has gone. Which one is not
// known here, so each is tried that the process remembers and that may have gone.

// sameNumber visits what a process is shown when the file that it meets now has the number of one that has gone.
func (s *System) sameNumber(before, after *Config, pid int, r fsfake.Result, visit func(Config, fsfake.Result)) {
	was, _ := before.remembers(before.proc(pid))
	now := after.proc(pid).Seen
	at := int(r.Stat.Ino) - 1
	if at >= len(now) || at < len(was) && was[at] == now[at] {
		return // it is no new file
	}
	for j, id := range was {
		if id != fsfake.Gone || before.apartFrom(pid, now[at], j) {
			continue
		}
		d := after.clone()
		p := d.proc(pid)
		p.Seen = slices.Clone(now)
		p.Seen[j], p.Seen[at] = now[at], fsfake.Forgotten
		if at < len(was) {
			p.Seen[at] = was[at]
		} else {
			p.Seen = p.Seen[:at]
		}
		r.Stat.Ino = uint64(j + 1)
		visit(d, r)
	}
}

// apartFrom reports whether a process knows that a file has another number than that which it was shown at place j.
func (c *Config) apartFrom(pid int, id fsfake.InodeID, j int) bool {
	p := c.proc(pid)
	return slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool {
		return f.Inode == id && slices.Contains(p.Place.Apart, Apart{f.FD, j})
	})
}

// apart notes what a process knows of numbers after a call: two files that are there at the same time differ in theirs,
// and one that it has open has it for as long.
func (c *Config) apart(before *Config, pid int) {
	p := c.proc(pid)
	if p == nil || p.Dead {
		return
	}
	was, old := before.proc(pid), p.Place.Apart
	seen, _ := c.remembers(p)
	p.Place.Apart = nil
	for _, f := range p.FDs {
		same := slices.ContainsFunc(was.FDs, func(o fsfake.SnapshotFD) bool { return o.FD == f.FD && o.Inode == f.Inode })
		for j, id := range seen {
			kept := same && id != fsfake.Forgotten && id != f.Inode && slices.Contains(old, Apart{f.FD, j})
			if id > 0 && id != f.Inode || kept {
				p.Place.Apart = append(p.Place.Apart, Apart{f.FD, j})
			}
		}
	}
}
