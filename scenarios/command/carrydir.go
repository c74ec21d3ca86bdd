package command

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/outcome"
)

// The virtual directory as a real one, for [Spec.Carry].

// realBelow is [outcome.Tree] of a real directory, with what it calls names in front.
func (s *Spec) realBelow(dir, prefix string, ignored func(name string) bool) ([]outcome.Entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []outcome.Entry
	for _, e := range entries {
		name, rel := filepath.Join(dir, e.Name()), prefix+e.Name()
		if ignored(rel) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		at := outcome.Entry{Name: rel, Mode: outcome.Permissions(info.Mode()), Owner: owned(ownerOf(info))}
		switch {
		case e.IsDir():
			below, err := s.realBelow(name, rel+"/", ignored)
			if err != nil {
				return nil, err
			}
			at.Name += "/"
			out = append(append(out, at), below...)
			continue
		case e.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return nil, err
			}
			at.Text, at.Mode = "-> "+target, 0
		case e.Type() == os.ModeNamedPipe:
			at.Text = fsfake.KindFIFO.String()
		case e.Type() == os.ModeSocket:
			at.Text = fsfake.KindSocket.String()
		default:
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			at.Thing = outcome.Content(string(text))
		}
		out = append(out, at)
	}
	return out, nil
}

// movable reports symbolic links that name the virtual directory: in a copy of it they would lead
// back to the original, which nobody may touch.
func (s *Spec) movable(steps []Step) error {
	for _, f := range s.Files {
		if path.IsAbs(f.Link) {
			return fmt.Errorf("the symbolic link %s leads to %s by an absolute path, and the commands would leave the copy of the directory by it", f.Name, f.Link)
		}
	}
	for i, st := range steps {
		if st.Op.Call == fsfake.CallSymlink && path.IsAbs(st.Op.Path2) {
			return fmt.Errorf("step %d makes a symbolic link to %s, an absolute path, and the commands would leave the copy of the directory by it", i+1, st.Op.Path2)
		}
	}
	return nil
}

// write makes the directory and the places outside with the files of the start, for real, below one that
// stands for the root.
func (s *Spec) write(root string) error {
	at := func(name string) string { return filepath.Join(root, s.at(name)) }
	if err := makeDirs(at("")); err != nil {
		return err
	}
	for _, r := range s.Outside {
		if err := makeDirs(at(path.Dir(r.Path))); err != nil {
			return err
		}
	}
	for _, f := range s.Files {
		if err := f.write(at); err != nil {
			return err
		}
	}
	for _, f := range slices.Backward(s.Files) { // a directory last: it may not let anything be made in it
		if err := f.permit(at(f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Write makes the directory below a real one, root, with the files of the start, as old as they are at now.
func (s Spec) Write(root string, now time.Time) error {
	if err := s.write(root); err != nil {
		return err
	}
	for _, kind := range []bool{false, true} { // directories last: to make a file in one changes its time
		for i := range s.Files {
			f := &s.Files[len(s.Files)-1-i]
			if f.Link != "" || strings.HasSuffix(f.Name, "/") != kind {
				continue
			}
			at := now.Add(-f.Age)
			if err := os.Chtimes(filepath.Join(root, s.at(f.Name)), at, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// permit gives a file of the start its owner and its mode.
func (f *File) permit(name string) error {
	if f.Link != "" || f.Same != "" {
		return nil
	}
	if uid, gid := f.owner(); uid != os.Getuid() || gid != os.Getgid() {
		if err := os.Chown(name, uid, gid); err != nil {
			return err
		}
	}
	return syscall.Chmod(name, f.mode())
}

// makeDirs makes a directory and those above it, open to all: no umask is in its way.
func makeDirs(name string) error {
	if at, err := os.Stat(name); err == nil && at.IsDir() {
		return nil
	}
	if err := makeDirs(filepath.Dir(name)); err != nil {
		return err
	}
	return errors.Join(os.Mkdir(name, 0o777), os.Chmod(name, 0o777))
}

func (f *File) write(at func(name string) string) error {
	name := at(f.Name)
	if err := makeDirs(filepath.Dir(name)); err != nil {
		return err
	}
	switch {
	case f.Link != "":
		return os.Symlink(f.Link, name)
	case f.Same != "":
		return os.Link(at(f.Same), name)
	case strings.HasSuffix(f.Name, "/"):
		return makeDirs(name)
	case f.Node != fsfake.KindNone:
		return makeNode(name, uint32(nodeTypes[f.Node])|0o600)
	}
	return os.WriteFile(name, []byte(f.Content), 0o600)
}
