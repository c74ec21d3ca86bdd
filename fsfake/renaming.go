package fsfake

import (
	"slices"
	"strconv"
	"strings"
)

// A Renaming gives processes each other's identities, in what they say and are told as well: wherever a text, a name or a
// path has the pid of one as a whole number in decimal, it is that of the other. No two names become one, for numbers
// change places.
type Renaming struct {
	ids  []ProcID
	perm []int
	text [][2]string // pids in decimal, and what they become, but those that stay
	size int         // digits of a pid
}

// NewRenaming returns the renaming in which the process that is ids[i] becomes ids[perm[i]]. All pids must have the same
// number of digits, so that no text becomes longer; if they have not, ok is false.
func NewRenaming(ids []ProcID, perm []int) (r Renaming, ok bool) {
	r, ok = Renaming{ids: ids, perm: perm}, true
	for i, id := range ids {
		from, to := strconv.Itoa(id.Pid), strconv.Itoa(ids[perm[i]].Pid)
		if r.size = len(from); from != to {
			r.text = append(r.text, [2]string{from, to})
		}
		ok = ok && len(from) == len(to)
	}
	return r, ok
}

// Text renames the pids in a text: its longest runs of digits.
func (r *Renaming) Text(s string) string {
	if len(s) < r.size {
		return s
	}
	var b []byte
	for i := 0; i < len(s); {
		digits := i
		for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
			digits++
		}
		if digits-i == r.size {
			for k := range r.text {
				if r.text[k][0] != s[i:digits] {
					continue
				}
				if b == nil {
					b = []byte(s)
				}
				copy(b[i:], r.text[k][1])
			}
		}
		i = max(digits, i+1)
	}
	if b == nil {
		return s
	}
	return string(b)
}

// Op renames the pids in a call: whom kill(2) asks about, what is written, the paths, the target of a symlink.
// ok is false where a call has to do with pids otherwise: it shows one in a way of its own, or leaves a value in a cell.
func (r *Renaming) Op(op Op) (to Op, ok bool) {
	to = op
	to.Path, to.Path2, to.Data = r.Text(op.Path), r.Text(op.Path2), r.Text(op.Data)
	for i, id := range r.ids {
		if id.Pid == op.Pid {
			to.Pid = r.ids[r.perm[i]].Pid
		}
	}
	return to, !op.Call.IsCell() && (!op.Call.ShowsPid() || op.Call == CallKill)
}

// Result renames the pids in what a call answered: in what was read, and in names, of which a listing is in their order.
func (r *Renaming) Result(call Call, of Result) Result {
	if call == CallReaddir {
		names := strings.Split(of.Data, "\x00")
		if r.names(names) {
			of.Data = strings.Join(names, "\x00")
		}
		return of
	}
	of.Data = r.Text(of.Data)
	return of
}

// names renames and sorts names in place, and reports whether it changed any.
func (r *Renaming) names(names []string) (changed bool) {
	for i, s := range names {
		names[i] = r.Text(s)
		changed = changed || names[i] != s
	}
	slices.Sort(names)
	return changed
}

// Machine is [Machine.Permute] with the pids that are in files, in the targets of symlinks, and in names. ok is false where
// one is elsewhere, or where that is not known: of what may be on a disk when the power is lost.
func (r *Renaming) Machine(m *Machine) (ok bool) {
	m.Permute(r.ids, r.perm)
	ok = !m.powerLoss
	if b := m.border; b != nil {
		for _, name := range append([]string{b.dir}, pathsOf(b.regions)...) {
			ok = ok && r.Text(name) == name
		}
	}
	for i := range m.marks {
		ok = ok && r.Text(m.marks[i].Path) == m.marks[i].Path && r.Text(m.marks[i].Lock) == m.marks[i].Lock
	}
	for _, n := range slices.Clone(m.inodes) {
		if to := r.Text(n.data); to != n.data {
			m.mutInode(n.id).data = to
		}
		if names, changed := r.entries(n.names); changed {
			m.mutInode(n.id).names = names
		}
	}
	for _, d := range slices.Clone(m.descs) {
		if since := slices.Clone(d.since); r.names(since) {
			m.mutDesc(d.id).since = since
		}
	}
	return ok
}

// entries returns the names in a directory renamed and sorted, and whether that changed any.
func (r *Renaming) entries(names []name) (renamed []name, changed bool) {
	for i := range names {
		to := r.Text(names[i].name)
		if to == names[i].name {
			continue
		}
		if !changed {
			renamed, changed = slices.Clone(names), true
		}
		renamed[i].name = to
	}
	slices.SortFunc(renamed, func(a, b name) int { return strings.Compare(a.name, b.name) })
	return renamed, changed
}
