package discipline

import (
	"path"
	"slices"

	"lockpick/fsfake"
)

// shared is what runs change.
type shared struct {
	names map[string]bool // paths that come, go, or lead to another file
	files map[fsfake.InodeID]bool
	dirs  map[fsfake.InodeID][]string // names that come and go in a directory, sorted
	texts map[fsfake.InodeID][]string // of a file, one of each length; nil where more than the text changes
}

// see adds what a call has changed.
func (s *shared) see(c *call) {
	if c.before.Version() == c.after.Version() {
		return
	}
	was, is := map[string]fsfake.InodeID{}, map[string]fsfake.InodeID{}
	for _, n := range c.before.Tree() {
		was[n.Path] = n.ID
	}
	for _, n := range c.after.Tree() {
		is[n.Path] = n.ID
		if was[n.Path] != n.ID {
			s.name(c.after, n.Path)
		}
		if a, b := c.before.View(n.ID), c.after.View(n.ID); was[n.Path] == n.ID && !sameFile(a, b) {
			s.change(n.ID, a, b)
		}
	}
	for _, n := range c.before.Tree() {
		if is[n.Path] != n.ID {
			s.name(c.before, n.Path)
			s.files[n.ID] = true // it may be open
		}
	}
}

// change notes that a file looks otherwise after a call.
func (s *shared) change(id fsfake.InodeID, was, is fsfake.FileView) {
	texts, known := s.texts[id]
	for _, text := range []string{was.Content, is.Content} {
		if !slices.ContainsFunc(texts, func(t string) bool { return len(t) == len(text) }) {
			texts = append(texts, text)
		}
	}
	if was.Content = is.Content; !sameFile(was, is) || s.files[id] && known && s.texts[id] == nil {
		texts = nil
	}
	s.files[id], s.texts[id] = true, texts
}

func (s *shared) name(m *fsfake.Machine, name string) {
	s.names[name] = true
	if dir, ok := m.LookupName(path.Dir(name)); ok {
		s.dirs[dir] = append(s.dirs[dir], path.Base(name))
		slices.Sort(s.dirs[dir])
		s.dirs[dir] = slices.Compact(s.dirs[dir])
	}
}

// sameFile compares what calls tell of a file, but for names in it, and times.
func sameFile(a, b fsfake.FileView) bool {
	return a.Kind == b.Kind && a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Nlink == b.Nlink &&
		a.Content == b.Content && a.Target == b.Target
}

// sameTree reports whether two machines have the same files.
func sameTree(a, b *fsfake.Machine) bool {
	return slices.EqualFunc(a.Tree(), b.Tree(), func(x, y fsfake.NameView) bool {
		return x.Path == y.Path && sameFile(a.View(x.ID), b.View(y.ID))
	})
}

// looks says what of a path may lead elsewhere in another run, or nothing.
func (s *shared) looks(m *fsfake.Machine, pid int, name string) string {
	for at := m.Absolute(pid, name); ; at = path.Dir(at) {
		if s.names[at] {
			return at
		}
		if id, ok := m.LookupName(at); ok && m.View(id).Kind == fsfake.KindSymlink {
			return at + ", a symlink,"
		}
		if at == "/" {
			return ""
		}
	}
}
