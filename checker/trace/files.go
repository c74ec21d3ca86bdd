package trace

import (
	"path"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Inodes gives the inodes of a run small numbers, from 1, in the order in which they
// turn up at watched names. People and causes speak of inodes by these.
type Inodes struct{ seen []fsfake.InodeID }

func (n *Inodes) add(files []FileState) {
	for i := range files {
		if f := &files[i]; f.Exists && !slices.Contains(n.seen, f.ID) {
			n.seen = append(n.seen, f.ID)
		}
	}
}

// Of returns an inode's number, or 0 when it never stood at a watched name.
func (n Inodes) Of(id fsfake.InodeID) int { return slices.Index(n.seen, id) + 1 }

// Names shortens paths: relative to the directory that a scenario's watched files share.
type Names struct{ dir string }

// NamesOf returns the short names of a scenario's paths.
func NamesOf(sc *scenarios.Scenario) Names {
	if len(sc.Watch) == 0 {
		return Names{}
	}
	dir := path.Dir(sc.Watch[0])
	for _, w := range sc.Watch[1:] {
		for dir != "/" && !strings.HasPrefix(w, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return Names{dir}
}

// Dir is the directory that short names are relative to; empty or "/" for none.
func (n Names) Dir() string { return n.dir }

// Shorten makes the paths in a text short.
func (n Names) Shorten(text string) string {
	if n.dir == "" || n.dir == "/" {
		return text
	}
	return strings.ReplaceAll(text, n.dir+"/", "")
}

// Short returns the short name of a path.
func (n Names) Short(p string) string {
	if n.dir == "" || n.dir == "/" {
		return strings.TrimPrefix(p, "/")
	}
	if rest, ok := strings.CutPrefix(p, n.dir+"/"); ok {
		return rest
	}
	if p == n.dir || strings.HasPrefix(n.dir, p+"/") {
		return path.Base(p) + "/"
	}
	return p
}
