package outcome

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// An Outcome is what a run of all processes leaves behind, as lines that are compared and
// shown: how each process ended, what it printed, and the files at the end.
type Outcome struct {
	// Exits has a line for each process, "exit 0" or "killed"; Printed what it printed.
	Exits, Printed []string
	// Idle says of each process that it has changed no file, where that is known; it is not compared.
	Idle []bool
	// Tree has each name below a directory with its kind, content, permissions, owner, and the time that it was given.
	// Other times, link counts and inode numbers are left out.
	Tree []Entry
	// Clock is how far the clock has moved; empty where that is not compared.
	Clock string
}

// An Entry is one name of a tree. Always: it is judged also where serial runs do not change it.
type Entry struct {
	Name string
	Thing
	Mode   fs.FileMode // see [Permissions]; 0 of a symbolic link
	Owner  string      // user and group, see [Owner]
	Time   string      // that it was given, see [content.Dates]; the tree's caller notes it
	Always bool
}

// A Thing is what stands at a name: a file with its content as Text, a directory with none, a symbolic link as "-> n",
// or what else Text says. Large is the number of the content on the fake machine, see [fsfake.FileView].
type Thing struct {
	Text  string
	File  bool
	Large int
}

// Content is a file with a content.
func Content(text string) Thing { return Thing{Text: text, File: true} }

// Told is what a text tells: the content of a file in quotes, or else what else there is.
func Told(text string) Thing {
	if content, err := strconv.Unquote(text); err == nil {
		return Content(content)
	}
	return Thing{Text: text}
}

// String is the thing in a word.
func (t Thing) String() string {
	if t.File {
		return strconv.Quote(t.Text)
	}
	return cmp.Or(t.Text, "there")
}

// found is the entry without what says how it is judged, shape what stands at its name, as a key of a map.
func (e Entry) found() Entry {
	e.Always = false
	return e
}

func (e Entry) shape() Entry {
	if e.Large != 0 {
		e.Text = "" // the number tells it
	}
	return Entry{Name: e.Name, Thing: e.Thing}
}

// Owner is a user and a group in one word, "0:0".
func Owner(uid, gid uint32) string { return fmt.Sprintf("%d:%d", uid, gid) }

// Permissions are those of a mode, without what kind of file it is.
func Permissions(m fs.FileMode) fs.FileMode {
	return m & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// String is the entry in a line.
func (e Entry) String() string {
	if !e.File && e.Text == "" {
		return e.Name
	}
	return e.Name + " " + e.Thing.String()
}

// Of looks at a machine on which each of so many processes has ended. The tree is left to the caller.
func Of(v scenarios.View, processes int) Outcome {
	var o Outcome
	for i := range processes {
		e, ok := v.Exit(scenarios.ProcessName(i))
		o.Exits, o.Printed = append(o.Exits, ExitText(e, ok)), append(o.Printed, e.Output)
		o.Idle = append(o.Idle, e.Idle)
	}
	return o
}

// Map returns the outcome with what each process printed, and each name and text of the tree, as change has it.
func (o Outcome) Map(change func(text string) string) Outcome {
	out := o
	out.Printed, out.Tree = nil, nil
	out.Printed = append(out.Printed, lists.Map(o.Printed, change)...)
	for _, e := range o.Tree {
		out.Tree = append(out.Tree, e)
		at := &out.Tree[len(out.Tree)-1]
		at.Name, at.Always = change(e.Name), false
		if text := change(e.Text); text != e.Text {
			at.Text, at.Large = text, 0
		}
	}
	return out
}

// ExitText says how a process has ended, or that it was killed.
func ExitText(e fsfake.Exit, ended bool) string {
	switch {
	case !ended:
		return "killed"
	case e.Signal != 0:
		return fmt.Sprintf("signal %d", e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Status)
}

// Tree lists what is below a directory of the machine, in the order of names. Names relative to it that ignored is
// true of are left out, with all that is below them; ignored may be nil.
func Tree(v scenarios.View, dir string, ignored func(name string) bool) []Entry {
	return tree(v, dir, "", ignored)
}

func tree(v scenarios.View, dir, prefix string, ignored func(name string) bool) []Entry {
	at, _ := v.Lstat(dir)
	var out []Entry
	for _, name := range at.Names {
		rel := prefix + name
		if ignored != nil && ignored(rel) {
			continue
		}
		f, _ := v.Lstat(path.Join(dir, name))
		at := Entry{Name: rel, Mode: Permissions(f.Mode), Owner: Owner(f.UID, f.GID)}
		switch f.Kind {
		case fsfake.KindDir:
			at.Name += "/"
			out = append(append(out, at), tree(v, path.Join(dir, name), at.Name, ignored)...)
			continue
		case fsfake.KindSymlink:
			at.Text, at.Mode = "-> "+f.Target, 0
		case fsfake.KindFIFO, fsfake.KindSocket:
			at.Text = f.Kind.String()
		default:
			at.Thing = Thing{f.Content, true, f.Large}
		}
		out = append(out, at)
	}
	return out
}

// Key is the outcome as far as it is compared, of the processes that keep is true of; nil is true of all.
func (o Outcome) Key(keep func(i int) bool) string {
	var b strings.Builder
	for i := range o.Exits {
		if keep == nil || keep(i) {
			fmt.Fprintf(&b, "%d %s %q\n", i, o.Exits[i], o.Printed[i])
		}
	}
	for _, e := range o.Tree {
		s := e.shape()
		fmt.Fprintf(&b, "%q %t %d %d %s %s %s %s\n", e.Name, s.File, s.Large, len(s.Text), s.Text, e.Mode, e.Owner,
			e.Time)
	}
	return b.String() + o.Clock
}

// equal reports whether two outcomes have one key. Lists of them are long where a kill leaves other files at each
// call.
func (o Outcome) equal(p Outcome) bool {
	return slices.Equal(o.Exits, p.Exits) && slices.Equal(o.Printed, p.Printed) && slices.Equal(o.Tree, p.Tree) &&
		o.Clock == p.Clock
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
	here, there := byShape(o.Tree), byShape(other.Tree)
	var only []string
	for shape, e := range here { // order does not matter: they are sorted
		is, both := there[shape]
		switch {
		case !both:
			only = append(only, e.String())
		case is.Mode != e.Mode:
			only = append(only, fmt.Sprintf("%s is %s and not %s", e.Name, e.Mode, is.Mode))
		}
		if both && is.Owner != e.Owner {
			only = append(only, fmt.Sprintf("%s is of %s and not of %s", e.Name, e.Owner, is.Owner))
		}
		if both && is.Time != e.Time {
			only = append(only, fmt.Sprintf("the time of %s is %s and not %s", e.Name, e.time(), is.time()))
		}
	}
	for shape, e := range there { // order does not matter: they are sorted
		if _, both := here[shape]; !both {
			only = append(only, "no "+e.String())
		}
	}
	sort.Strings(only)
	return append(out, only...)
}

func byShape(tree []Entry) map[Entry]Entry {
	out := map[Entry]Entry{}
	for _, e := range tree {
		out[e.shape()] = e
	}
	return out
}
