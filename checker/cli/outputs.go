package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// An output is a file or a directory that a flag asks for.
type output struct {
	flag, path string
	dir        bool
}

// writable reports outputs that cannot be what somebody wants, before any work is done:
// two in one file, one in a file that is read, one where nothing can be written.
func writable(outputs []output, inputs ...string) error {
	for i, o := range outputs {
		for _, other := range outputs[:i] {
			if sameFile(o.path, other.path) {
				return fmt.Errorf("--%s and --%s both write to %s: choose two files", other.flag, o.flag, o.path)
			}
		}
		for _, in := range inputs {
			if sameFile(o.path, in) {
				return fmt.Errorf("--%s would write over %s, which is read: choose another file", o.flag, in)
			}
		}
		if err := o.possible(); err != nil {
			return fmt.Errorf("--%s: %w", o.flag, err)
		}
	}
	return nil
}

// possible reports whether there is a place for the output. Files are made in folders that
// exist; a directory is made as a whole.
func (o *output) possible() error {
	at, err := os.Stat(o.path)
	switch {
	case err == nil && at.IsDir() && !o.dir:
		return fmt.Errorf("%s is a directory: choose a file", o.path)
	case err == nil && !o.dir && at.Mode().IsRegular() && at.Mode()&0o111 != 0:
		return fmt.Errorf("%s is a program: choose another file", o.path)
	case o.flag == "markdown" && strings.Contains(filepath.Base(o.path), " ") && filepath.Ext(o.path) != ".md":
		// It printed and took no file once.
		return fmt.Errorf("%q looks like a command: name a file first, or - for standard output", o.path)
	case err == nil && !at.IsDir() && o.dir:
		return fmt.Errorf("%s is not a directory: choose one, or a name that is free", o.path)
	case o.dir:
		return nil
	}
	folder, err := os.Stat(filepath.Dir(o.path))
	if err == nil && !folder.IsDir() {
		err = fmt.Errorf("%s is not a directory", filepath.Dir(o.path))
	}
	if err != nil {
		return fmt.Errorf("no file can be made there: %w", err)
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errA := filepath.Abs(a)
	y, errB := filepath.Abs(b)
	if errA == nil && errB == nil && x == y {
		return true
	}
	s, errA := os.Stat(a)
	t, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(s, t)
}

// idle notes that a flag was given and does nothing.
func (a *app) idle(c *cobra.Command, flag string, does bool, why string) {
	if f := c.Flags().Lookup(flag); f != nil && f.Changed && !does {
		a.note("--%s has no effect: %s", flag, why)
	}
}

// workDir is the directory that the command was called in; empty when it is gone.
func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// repository is the directory that readers of files take names relative to: the one with the
// repository that the command was called in, or else with its module, or else that directory
// itself.
func repository() string {
	for _, mark := range []string{".git", "go.mod"} {
		for dir := workDir(); dir != ""; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return workDir()
}
