package command

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// An Outcome is what a run of all commands leaves behind, as lines that are compared and
// shown: how each command ended, what it printed, and the files at the end.
type Outcome struct {
	// Exits has a line for each command, "exit 0" or "killed"; Printed what it printed.
	Exits, Printed []string
	// Tree has a line for each name in the virtual directory: its kind and content. Times,
	// modes, link counts and inode numbers are left out.
	Tree []string
}

// outcome looks at a machine on which every command has ended.
func (s *Spec) outcome(v scenarios.View) Outcome {
	var o Outcome
	for i := range s.Commands {
		e, ok := v.Exit(scenarios.ProcessName(i))
		o.Exits, o.Printed = append(o.Exits, exitText(e, ok)), append(o.Printed, e.Output)
	}
	o.Tree = s.tree(v, s.Dir, "")
	return o
}

// exitText says how a process has ended.
func exitText(e fsfake.Exit, ended bool) string {
	switch {
	case !ended:
		return "killed"
	case e.Signal != 0:
		return fmt.Sprintf("signal %d", e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Status)
}

// tree lists what is below a directory of the machine.
func (s *Spec) tree(v scenarios.View, dir, prefix string) []string {
	at, _ := v.Lstat(dir)
	var out []string
	for _, name := range at.Names {
		rel := prefix + name
		if s.ignored(rel) {
			continue
		}
		f, _ := v.Lstat(path.Join(dir, name))
		switch f.Kind {
		case fsfake.KindDir:
			out = append(out, rel+"/")
			out = append(out, s.tree(v, path.Join(dir, name), rel+"/")...)
		case fsfake.KindSymlink:
			out = append(out, fmt.Sprintf("%s -> %s", rel, f.Target))
		default:
			out = append(out, fmt.Sprintf("%s %q", rel, f.Content))
		}
	}
	return out
}

func (s *Spec) ignored(name string) bool {
	for _, p := range s.Ignore {
		whole, _ := path.Match(p, name)
		base, _ := path.Match(p, path.Base(name))
		if whole || base {
			return true
		}
	}
	return false
}

// key is the outcome as far as it is compared, of the commands that keep is true of.
func (o Outcome) key(keep func(i int) bool) string {
	var b strings.Builder
	for i := range o.Exits {
		if keep(i) {
			fmt.Fprintf(&b, "%d %s %q\n", i, o.Exits[i], o.Printed[i])
		}
	}
	for _, line := range o.Tree {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// Differs lists what one outcome has and another has not, for reports: a line for each
// thing that differs, first as it is here.
func (o Outcome) Differs(other Outcome) []string {
	var out []string
	for i := range o.Exits {
		if o.Exits[i] != other.Exits[i] {
			out = append(out, fmt.Sprintf("%s: %s and not %s", scenarios.ProcessName(i), o.Exits[i], other.Exits[i]))
		}
		if o.Printed[i] != other.Printed[i] {
			out = append(out, fmt.Sprintf("%s printed %q and not %q", scenarios.ProcessName(i), o.Printed[i], other.Printed[i]))
		}
	}
	here, there := map[string]bool{}, map[string]bool{}
	for _, l := range o.Tree {
		here[l] = true
	}
	for _, l := range other.Tree {
		there[l] = true
	}
	var only []string
	for _, l := range o.Tree {
		if !there[l] {
			only = append(only, l)
		}
	}
	for _, l := range other.Tree {
		if !here[l] {
			only = append(only, "no "+l)
		}
	}
	sort.Strings(only)
	return append(out, only...)
}
