package outcome

import (
	"slices"

	"lockpick/fsfake"
)

// A Passage is what serial runs do to files on the way, as names of trees.
type Passage struct {
	// Rewritten are those at which something else stands on the way than at the start.
	Rewritten []string
	// Locked are those of files that somebody locks: an empty one that is new has nothing in it that could be lost.
	Locked []string
}

// See notes what stands at names of the start on a machine of a serial run. at is the absolute path of a name.
func (p *Passage) See(start, m *fsfake.Machine, names []Entry, at func(name string) string) {
	for _, e := range names {
		was, _ := start.LookupName(at(e.Name))
		is, there := m.LookupName(at(e.Name))
		same := there && is == was && m.View(is).Content == start.View(was).Content
		if !same && !slices.Contains(p.Rewritten, e.Name) {
			p.Rewritten = append(p.Rewritten, e.Name)
		}
	}
}

// SeeLocks notes which files are locked on a machine of a serial run, by flock or by a record lock.
func (p *Passage) SeeLocks(m *fsfake.Machine, names []Entry, at func(name string) string) {
	for _, e := range names {
		id, there := m.LookupName(at(e.Name))
		if v := m.View(id); there && len(v.Flocks)+len(v.Records) > 0 && !slices.Contains(p.Locked, e.Name) {
			p.Locked = append(p.Locked, e.Name)
		}
	}
}
