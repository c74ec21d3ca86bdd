package fsfake

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// When only a part of a program's world is fake, a path that leads out of it leads to files that the machine
// does not know.

// errBorder is what a walk over the border answers; no program sees it.
const errBorder = syscall.Errno(1 << 16)

// A Region is a place outside of the directory that a border is around, and is the machine's too.
type Region struct {
	// Path is absolute and clean, and goes through no symlink. What is at it and below it is the machine's,
	// also when nothing is there.
	Path string
	// Partly: Path is a directory of which only some is the machine's: the directory itself, and the names that
	// Real does not list. Real is sorted.
	Partly bool
	Real   []string
	// Hidden: what Real lists is not shown when the directory is read.
	Hidden bool
	// Device tells file systems apart, for names cannot be moved from one to another: 0 is that of the directory.
	Device int
}

// Owns reports whether a clean path is the region's.
func (r *Region) Owns(name string) bool {
	rest, is := strings.CutPrefix(name, r.Path)
	switch {
	case !is || rest != "" && rest[0] != '/':
		return false
	case rest == "" || !r.Partly:
		return true
	}
	first, _, _ := strings.Cut(rest[1:], "/")
	_, real := slices.BinarySearch(r.Real, first)
	return !real
}

// A border is around what is the machine's.
type border struct {
	dir     string
	regions []Region
	// around are the directories above these places, which are the machine's only as the way there, and the regions that
	// are partly.
	around map[InodeID]string
}

// SetBorder says that nothing but what is below a directory, and what is in some regions, is the machine's: a
// path that leads out of these, by ".." or by a symlink, is not modelled; see [LeadsTo]. Paths from the root are
// not looked at. It panics when the path, which must be clean and absolute, is not a directory's, or when that of a
// region is not in a directory.
func (m *Machine) SetBorder(dir string, regions ...Region) {
	id, ok := m.Lookup(dir)
	if !ok || m.inode(id).kind != KindDir || path.Clean(dir) != dir {
		panic(fmt.Sprintf("fsfake: SetBorder: %q is no directory", dir))
	}
	b := &border{dir: dir, regions: regions, around: map[InodeID]string{}}
	for _, name := range append([]string{dir}, pathsOf(regions)...) {
		for up := path.Dir(name); ; up = path.Dir(up) {
			id, ok := m.Lookup(up)
			if !ok {
				panic(fmt.Sprintf("fsfake: SetBorder: %q is no directory", up))
			}
			b.around[id] = up
			if up == "/" {
				break
			}
		}
	}
	for i := range regions {
		if regions[i].Partly {
			id, _ := m.Lookup(regions[i].Path)
			b.around[id] = regions[i].Path
		}
	}
	m.mutSetup().border = b
}

func pathsOf(regions []Region) (names []string) {
	for i := range regions {
		names = append(names, regions[i].Path)
	}
	return names
}

// owns reports whether a clean path is the machine's.
func (b *border) owns(name string) bool {
	if name == b.dir || strings.HasPrefix(name, b.dir+"/") {
		return true
	}
	return slices.ContainsFunc(b.regions, func(r Region) bool { return r.Owns(name) })
}

// listing adds to the names in a directory those that are beyond the border and shown.
func (b *border) listing(dir InodeID, names []string) []string {
	if b == nil {
		return names
	}
	at, is := b.around[dir]
	if !is {
		return names
	}
	for i := range b.regions {
		if b.regions[i].Path == at {
			names = b.regions[i].Listing(names)
		}
	}
	return names
}

// Listing adds to the names that the machine has in the region's directory those that are real, in order.
func (r *Region) Listing(names []string) []string {
	if !r.Partly || r.Hidden {
		return names
	}
	names = append(names, r.Real...)
	slices.Sort(names)
	return slices.Compact(names)
}

// leads reports whether a name in a directory above the border is beyond it. The error says so then.
func (w *walker) leads(dir InodeID, name string) syscall.Errno {
	b := w.m.border
	if b == nil || !w.crosses {
		return 0
	}
	at, is := b.around[dir]
	if !is {
		return 0
	}
	to := path.Join(at, name)
	above := strings.TrimSuffix(to, "/") + "/"
	leads := func(place string) bool { return strings.HasPrefix(place, above) }
	if b.owns(to) || leads(b.dir) || slices.ContainsFunc(pathsOf(b.regions), leads) {
		return 0
	}
	w.m.leadsTo = to
	return errBorder
}

// ends reports whether a walk has come to a directory above the border, which is not the machine's to tell of.
func (w *walker) ends(id InodeID) syscall.Errno {
	if b := w.m.border; b != nil && w.crosses {
		if at, is := b.around[id]; is && !b.owns(at) {
			w.m.leadsTo = at
			return errBorder
		}
	}
	return 0
}

// follows notes what of a path comes behind the place where it leads over the border.
func (w *walker) follows(rest string) {
	if rest != "" {
		w.m.leadsTo = strings.TrimSuffix(w.m.leadsTo, "/") + "/" + rest
	}
}

const beyond = "the path "

// beyondBorder is the answer to a call whose path leads over the border.
func (m *Machine) beyondBorder() Result {
	to := m.leadsTo
	m.leadsTo = ""
	return unmodelled(beyond+"%q, which leads out of %s,", to, m.border.dir)
}

// LeadsTo finds in the text of an error that a path leads over the border, and where to. The path is absolute, and
// may go through symlinks that the machine does not have.
func LeadsTo(text string) (to string, ok bool) {
	for {
		_, after, found := strings.Cut(text, beyond)
		if !found {
			return "", false
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err == nil && strings.HasPrefix(after[len(quoted):], ", which leads out of ") {
			to, err := strconv.Unquote(quoted)
			return to, err == nil
		}
		text = after
	}
}
