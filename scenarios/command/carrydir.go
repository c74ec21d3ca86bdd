package command

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/outcome"
)

// The virtual directory as a real one, for [Spec.Carry].

// realTree is [outcome.Tree] of a real directory.
func (s *Spec) realTree(dir, prefix string) ([]outcome.Entry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []outcome.Entry
	for _, e := range entries {
		name, rel := filepath.Join(dir, e.Name()), prefix+e.Name()
		if s.ignored(rel) {
			continue
		}
		switch {
		case e.IsDir():
			below, err := s.realTree(name, rel+"/")
			if err != nil {
				return nil, err
			}
			out = append(append(out, outcome.Entry{Name: rel + "/"}), below...)
		case e.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return nil, err
			}
			out = append(out, outcome.Entry{Name: rel, Text: "-> " + target})
		default:
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			out = append(out, outcome.Entry{Name: rel, Text: strconv.Quote(string(text))})
		}
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

// write makes the directory with the files of the start, for real.
func (s *Spec) write(dir string) error {
	if err := makeDirs(dir); err != nil {
		return err
	}
	for _, f := range s.Files {
		if err := f.write(filepath.Join(dir, f.Name), strings.HasSuffix(f.Name, "/")); err != nil {
			return err
		}
	}
	return nil
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

func (f *File) write(name string, dir bool) error {
	if err := makeDirs(filepath.Dir(name)); err != nil {
		return err
	}
	switch {
	case f.Link != "":
		return os.Symlink(f.Link, name)
	case f.Same != "":
		return os.Link(filepath.Join(strings.TrimSuffix(name, filepath.FromSlash(f.Name)), f.Same), name)
	case dir:
		if err := makeDirs(name); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(name, []byte(f.Content), 0o600); err != nil {
			return err
		}
	}
	return os.Chmod(name, os.FileMode(f.mode()))
}
