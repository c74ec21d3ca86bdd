package command

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// An Outcome is what a run of all commands leaves behind, as lines that are compared and
// shown: how each command ended, what it printed, and the files at the end.
type Outcome struct {
	// Exits has a line for each command, "exit 0" or "killed"; Printed what it printed.
	Exits, Printed []string
	// Tree has each name in the virtual directory with its kind and content. Times, modes, link
	// counts and inode numbers are left out.
	Tree []Entry
}

// An Entry is one name of a tree: "n" with the text "\"1\\n\"", "d/" with none, "l" with "-> n".
type Entry struct{ Name, Text string }

// String is the entry in a line.
func (e Entry) String() string { return strings.TrimRight(e.Name+" "+e.Text, " ") }

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
func (s *Spec) tree(v scenarios.View, dir, prefix string) []Entry {
	at, _ := v.Lstat(dir)
	var out []Entry
	for _, name := range at.Names {
		rel := prefix + name
		if s.ignored(rel) {
			continue
		}
		f, _ := v.Lstat(path.Join(dir, name))
		switch f.Kind {
		case fsfake.KindDir:
			out = append(out, Entry{rel + "/", ""})
			out = append(out, s.tree(v, path.Join(dir, name), rel+"/")...)
		case fsfake.KindSymlink:
			out = append(out, Entry{rel, "-> " + f.Target})
		default:
			out = append(out, Entry{rel, strconv.Quote(f.Content)})
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
	here, there := map[Entry]bool{}, map[Entry]bool{}
	for _, l := range o.Tree {
		here[l] = true
	}
	for _, l := range other.Tree {
		there[l] = true
	}
	var only []string
	for _, l := range o.Tree {
		if !there[l] {
			only = append(only, l.String())
		}
	}
	for _, l := range other.Tree {
		if !here[l] {
			only = append(only, "no "+l.String())
		}
	}
	sort.Strings(only)
	return append(out, only...)
}

// sameOutcomes reports whether orders all end alike.
func sameOutcomes(orders []order) bool {
	all := func(int) bool { return true }
	first := orders[0].outcome.key(all)
	return !slices.ContainsFunc(orders, func(k order) bool { return k.outcome.key(all) != first })
}

// mostOrders is how many serial orders a table shows.
const mostOrders = 6

// table shows what an outcome has otherwise than serial orders: a row for each thing that
// differs, a column for the outcome and for each order, those that come closest first.
func (s *Spec) table(o Outcome, serial []order) [][]string {
	var orders []order
	for _, k := range serial {
		if s.explains(k, o) {
			orders = append(orders, k)
		}
	}
	slices.SortStableFunc(orders, func(a, b order) int {
		return len(o.Differs(a.outcome)) - len(o.Differs(b.outcome))
	})
	orders = orders[:min(len(orders), mostOrders)]
	slices.SortStableFunc(orders, func(a, b order) int { return strings.Compare(a.name(), b.name()) })
	if len(orders) > 2 && sameOutcomes(orders) {
		orders = orders[:1]
		orders[0].called = "in any order"
	}
	heading := []string{"", "here"}
	for _, k := range orders {
		heading = append(heading, k.name())
	}
	rows := [][]string{heading}
	add := func(name string, of func(o Outcome, ran bool) string, process int) {
		row := []string{name, of(o, true)}
		differs := false
		for _, k := range orders {
			text := of(k.outcome, slices.Contains(k.ran, process))
			row = append(row, text)
			differs = differs || row[1] != text
		}
		if differs {
			rows = append(rows, append(row[:1], fromDifference(row[1:])...))
		}
	}
	const left = "—" // it has not run
	for i := range s.Commands {
		add(scenarios.ProcessName(i), func(o Outcome, ran bool) string {
			if !ran {
				return left
			}
			return o.Exits[i]
		}, i)
		add(scenarios.ProcessName(i)+" prints", func(o Outcome, ran bool) string {
			if !ran {
				return left
			}
			return strconv.Quote(o.Printed[i])
		}, i)
	}
	for _, name := range namesOf(o, orders) {
		add(name, func(o Outcome, _ bool) string { return o.at(name) }, -1)
	}
	return rows
}

// namesOf lists the names of all trees in order.
func namesOf(o Outcome, orders []order) []string {
	var names []string
	add := func(o Outcome) {
		for _, e := range o.Tree {
			names = append(names, e.Name)
		}
	}
	add(o)
	for _, k := range orders {
		add(k.outcome)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// at is what stands at a name of the tree.
func (o Outcome) at(name string) string {
	for _, e := range o.Tree {
		switch {
		case e.Name != name:
		case e.Text == "":
			return "there"
		default:
			return e.Text
		}
	}
	return "—"
}

// fromDifference shortens long texts to where they begin to differ.
func fromDifference(texts []string) []string {
	const lead = 12
	common := len(texts[0])
	for _, t := range texts[1:] {
		n := 0
		for n < min(common, len(t)) && t[n] == texts[0][n] {
			n++
		}
		common = n
	}
	at := common - lead
	for at > 0 && at < len(texts[0]) && !utf8.RuneStart(texts[0][at]) {
		at--
	}
	if at <= lead {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = "…" + t[at:]
	}
	return out
}
