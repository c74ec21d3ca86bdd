package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/content"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// Places outside of the directory. What a command changes there is shared by all, and is the fake machine's. Which
// places these are an execution tells by the error that it ends with before it would change a real file.

// at is the absolute path of a file of the start.
func (s *Spec) at(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(s.Dir, name)
}

// named is the name of a file of the start: relative to the directory, or absolute.
func (s *Spec) named(at string) string {
	if rel, ok := strings.CutPrefix(at, s.Dir+"/"); ok {
		return rel
	}
	return at
}

// owner is the place in Outside that a clean path is in, or nil.
func (s *Spec) owner(name string) *fsfake.Region {
	i := slices.IndexFunc(s.Outside, func(r fsfake.Region) bool { return r.Owns(name) })
	if i < 0 {
		return nil
	}
	return &s.Outside[i]
}

// owns reports whether a clean path is in the directory or in a place outside of it.
func (s *Spec) owns(name string) bool {
	return name == s.Dir || strings.HasPrefix(name, s.Dir+"/") || s.owner(name) != nil
}

// Extend adds to [Spec.Outside] the place that an error is about, with what is there, and reports
// whether the error was about one: then what has failed can be tried again. The error says what cannot be shared.
// Ages are those at the time now, which is that of [Copy].
func (s *Spec) Extend(err error, now time.Time) (more bool, failed error) {
	s.Dir = cmp.Or(s.Dir, defaultDir)
	var e *tracer.Error
	x := extension{s: s, now: now}
	switch {
	case err == nil || s.RealOutside:
		return false, nil
	case s.follows(err):
		to, _ := fsfake.LeadsTo(err.Error())
		failed = x.follow(to)
	case errors.As(err, &e) && e.Outside != "":
		failed = x.add(e.Outside, e.Tree)
	default:
		return false, nil
	}
	if failed == nil && !x.changed {
		failed = err
	}
	if failed != nil {
		return false, failed
	}
	s.known = nil
	if s.shared != nil { // what was executed has seen another world
		s.shared = nil
		s.Share()
	}
	return true, nil
}

// follows reports whether an error is about a path that leads out of what is shared, and is shared next.
func (s *Spec) follows(err error) bool {
	_, leads := fsfake.LeadsTo(err.Error())
	return leads && !s.RealOutside
}

// files are the paths of the real files that the directory and the places outside are copies of: what has another
// name there is the same file.
func (s *Spec) files() map[tracer.FileID]string {
	if s.known == nil && !s.RealOutside {
		s.known = map[tracer.FileID]string{}
		for _, f := range slices.Concat([]File{{}}, s.Files) {
			if id, ok := idOf(s.at(f.Name)); ok && s.known[id] == "" {
				s.known[id] = s.at(f.Name)
			}
		}
	}
	return s.known
}

// another makes a file another name of one that is there, if it is that.
func (s *Spec) another(f *File) {
	id, ok := idOf(s.at(f.Name))
	is := func(of File) bool { return ok && s.at(of.Name) == s.files()[id] && !strings.HasSuffix(of.Name, "/") }
	if i := slices.IndexFunc(s.Files, is); i >= 0 {
		f.Same, f.Content, f.Age = s.Files[i].Name, "", s.Files[i].Age
	}
}

// An extension adds a place.
type extension struct {
	s       *Spec
	now     time.Time
	changed bool
}

// follow adds all that is on the way along a path through symlinks, and where it ends.
func (x *extension) follow(to string) error {
	at, rest := "/", to
	for links := 0; ; {
		var name string
		if name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/"); name == "" {
			return x.add(at, true)
		}
		next := path.Join(at, name) // ".." too, for at has no symlink
		info, err := os.Lstat(next)
		switch {
		case next == x.s.Dir:
			return nil // the machine goes on
		case err != nil:
			return x.add(next, false)
		case info.Mode()&os.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > 40 {
			return fmt.Errorf("command: %s leads through too many symbolic links", to)
		}
		if err := x.add(next, false); err != nil {
			return err
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if rest = target + "/" + rest; path.IsAbs(target) {
			at = "/"
		}
	}
}

// add adds a path without symlinks on the way. Of a directory, unless all of it is meant, only the directory itself is
// added and the names that are not there.
func (x *extension) add(name string, tree bool) error {
	s, dir := x.s, path.Dir(name)
	info, err := os.Lstat(name)
	switch {
	case name == s.Dir || strings.HasPrefix(s.Dir, name+"/") && tree:
		return fmt.Errorf("command: the commands would move or look through %s, which contains the directory %s: "+
			"choose a --dir that contains all of it", name, s.Dir)
	case strings.HasPrefix(name, s.Dir+"/"):
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case err != nil && x.manyNew(dir):
		return x.partly(dir)
	case err != nil:
		x.put(fsfake.Region{Path: name})
	case info.IsDir() && tree:
		return x.whole(name)
	case info.IsDir():
		return x.partly(name)
	default:
		files, err := copyFrom(name, x.now)
		if err != nil {
			return err
		}
		s.another(&files[0])
		s.Files = append(s.Files, files...)
		x.put(fsfake.Region{Path: name})
	}
	return nil
}

// manyNew reports whether new names in a directory are better taken for the machine's all at once: it is one for
// temporary files, whose names nobody knows, or others were made there.
func (x *extension) manyNew(dir string) bool {
	if isTemporary(dir) {
		return true
	}
	n := 0
	for _, r := range x.s.Outside {
		if path.Dir(r.Path) == dir {
			n++
		}
	}
	return n >= mostNew
}

// mostNew is how many new names in a directory are taken one by one.
const mostNew = 3

// isTemporary reports whether a directory is for everybody's temporary files: all may write there, and nobody may
// remove what is another's.
func isTemporary(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
}

// partly adds a directory, but what is in it.
func (x *extension) partly(dir string) error {
	if dir == "/" {
		return errors.New("command: the commands make files in /, which cannot be shared: have them make these elsewhere")
	}
	files, err := copyFrom(dir, x.now)
	entries, more := os.ReadDir(dir)
	if err := errors.Join(err, more); err != nil {
		return err
	}
	r := fsfake.Region{Path: dir, Partly: true, Hidden: isTemporary(dir)}
	for _, e := range entries {
		if at := path.Join(dir, e.Name()); !x.s.owns(at) {
			r.Real = append(r.Real, e.Name())
		}
	}
	x.s.Files = append(x.s.Files, files[0])
	x.put(r)
	return nil
}

// whole adds a directory with all that is in it.
func (x *extension) whole(dir string) error {
	files, err := Copy(dir, x.now)
	if err != nil {
		return err
	}
	s := x.s
	within := func(name string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
	s.Outside = slices.DeleteFunc(s.Outside, func(r fsfake.Region) bool { return within(r.Path) })
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return within(s.at(f.Name)) })
	for _, f := range files {
		slash := strings.HasSuffix(f.Name, "/")
		if f.Name = path.Join(dir, f.Name); slash {
			f.Name += "/"
		}
		if f.Same != "" {
			f.Same = path.Join(dir, f.Same)
		} else {
			s.another(&f)
		}
		s.Files = append(s.Files, f)
	}
	x.put(fsfake.Region{Path: dir})
	return nil
}

// put adds a region, unless it is there.
func (x *extension) put(r fsfake.Region) {
	s := x.s
	if i := slices.IndexFunc(s.Outside, func(o fsfake.Region) bool { return o.Path == r.Path }); i >= 0 {
		if s.Outside[i].Partly == r.Partly {
			return
		}
		s.Outside = slices.Delete(s.Outside, i, i+1)
	}
	r.Device = s.deviceOf(r.Path)
	s.Outside = append(s.Outside, r)
	slices.SortFunc(s.Outside, func(a, b fsfake.Region) int { return strings.Compare(a.Path, b.Path) })
	for i := range s.Outside {
		o := &s.Outside[i]
		o.Real = slices.DeleteFunc(slices.Clone(o.Real), func(name string) bool { return path.Join(o.Path, name) == r.Path })
	}
	x.changed = true
}

// deviceOf numbers the file system that a path is on, or would be.
func (s *Spec) deviceOf(name string) int {
	dev := func(name string) uint64 {
		for ; ; name = path.Dir(name) {
			if id, ok := idOf(name); ok || name == "/" {
				return id.Dev
			}
		}
	}
	if s.devices == nil {
		s.devices = []uint64{dev(s.Dir)}
	}
	of := dev(name)
	i := slices.Index(s.devices, of)
	if i < 0 {
		i = len(s.devices)
		s.devices = append(slices.Clone(s.devices), of)
	}
	return i
}

// copyFrom lists one file as it is at the time now, under its absolute name; of a directory nothing that is in it.
func copyFrom(name string, now time.Time) ([]File, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := copyOf(name, info, now)
	if err != nil {
		return nil, err
	}
	if f.Name = name; info.IsDir() {
		f.Name += "/"
	}
	return []File{f}, nil
}

// tree lists what is shared on a machine: what is in the directory by its relative names, and the rest by
// absolute ones.
func (s *Spec) tree(v scenarios.View) []outcome.Entry {
	out := outcome.Tree(v, s.Dir, s.Ignored)
	s.eachOutside(func(parent string, leftOut func(rel string) bool) {
		for _, e := range outcome.Tree(v, path.Clean(parent), leftOut) {
			e.Name = strings.TrimSuffix(parent, "/") + "/" + e.Name
			out = append(out, e)
		}
	})
	dates := s.dates()
	for i := range out {
		e := &out[i]
		e.Owner = owned(e.Owner)
		if f, _ := v.Lstat(s.at(e.Name)); f.Kind == fsfake.KindFile {
			e.Time = dates.Of(e.Name, time.Unix(0, f.Mtime))
		}
	}
	return out
}

// dates are the times of the files of the start on the machine. One that is no older than the commands has a time that
// the clock may make.
func (s *Spec) dates() content.Dates {
	d := content.Dates{}
	for i := range s.Files {
		if f := &s.Files[i]; f.Age > 0 && f.Link == "" && !strings.HasSuffix(f.Name, "/") {
			d.Add(f.Name, begin.Add(-f.Age))
		}
	}
	return d
}

// owned is what is compared of an owner: nothing where only the superuser could have changed it, for a copy of a file
// belongs to who made it.
func owned(owner string) string {
	if os.Getuid() != 0 {
		return ""
	}
	return cmp.Or(owner, outcome.Owner(0, uint32(os.Getgid())))
}

// eachOutside yields the directories in which the places outside are that are listed for themselves, and what is left
// out of what is in them, by relative names.
func (s *Spec) eachOutside(yield func(parent string, leftOut func(rel string) bool)) {
	for i := range s.Outside {
		r := &s.Outside[i]
		if dir := s.owner(path.Dir(r.Path)); dir != nil && dir.Owns(r.Path) {
			continue // listed there
		}
		parent, base := path.Split(r.Path)
		if r.Partly {
			parent, base = r.Path, ""
		}
		yield(parent, func(rel string) bool {
			first, _, _ := strings.Cut(rel, "/")
			return base != "" && first != base || !r.Owns(path.Join(parent, rel)) || s.Ignored(path.Join(parent, rel))
		})
	}
}

// realTree is tree of a real directory that stands for the root.
func (s *Spec) realTree(root string) ([]outcome.Entry, error) {
	out, err := s.realBelow(root+s.Dir, "", s.Ignored)
	s.eachOutside(func(parent string, leftOut func(rel string) bool) {
		prefix := strings.TrimSuffix(parent, "/") + "/"
		below, more := s.realBelow(filepath.Join(root, parent), prefix, func(name string) bool {
			return leftOut(strings.TrimPrefix(name, prefix))
		})
		out, err = append(out, below...), errors.Join(err, more)
	})
	return out, err
}
