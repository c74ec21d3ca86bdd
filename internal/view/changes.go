//go:build linux

package view

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is the path of a file that the process may make and that commands do not find: name has no slash.
func (v *View) File(name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", v.base, name) }

// Changes lists what was changed in the view, outside of [Options].Dir, in the order of paths. A directory is listed
// when anything below it was changed.
func (v *View) Changes() ([]Change, error) {
	var out []Change
	for _, u := range v.uppers {
		from := v.File(u.dir)
		err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
			at := u.at + strings.TrimPrefix(name, from)
			switch {
			case name == from && err == nil:
				return nil
			case at == v.dir && e != nil && e.IsDir(): // what the copy was bound over
				return fs.SkipDir
			case os.IsPermission(err): // a directory that its owner may not read
				return fs.SkipDir
			case err != nil:
				return err
			}
			i, err := e.Info()
			if err != nil {
				return err
			}
			out = append(out, Change{Path: at, Mode: i.Mode(), Removed: i.Mode()&fs.ModeCharDevice != 0})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}
