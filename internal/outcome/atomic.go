package outcome

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/internal/numbers"
)

// An Atomic says what may be left of the files that runs change, when one of them is killed, the power is lost or a
// call fails: each as it was before, or as it is after serial runs of some of the processes. A name that no serial
// run leaves, as that of a temporary file, is not judged.
type Atomic struct {
	before Outcome
	orders []Order
	// changed are the names of the start that a serial run changes, made those that one adds.
	changed, made []string
	// rewritten are those of changed that every serial run leaves as they were, and writes or replaces on the way.
	rewritten []string
	databases []string
	passage   Passage
}

// NewAtomic compares what was there before with what serial runs leave behind. A file that they write or replace on the
// way, that has content, and that they leave as it was, must not be cut short. A new one that they lock and leave empty
// is not judged.
func NewAtomic(before Outcome, orders []Order, passage Passage) *Atomic {
	a := &Atomic{before: before, passage: passage}
	for _, k := range orders {
		if len(k.Killed) > 0 {
			continue
		}
		a.orders = Add(a.orders, k.AsFound())
	}
	for _, name := range namesOf(before, a.orders) {
		was := before.at(name)
		same := !slices.ContainsFunc(a.orders, func(k Order) bool { return k.Outcome.at(name) != was })
		if same && was.File && was.Text != "" && slices.Contains(passage.Rewritten, name) && !isDatabase(was) {
			a.rewritten = append(a.rewritten, name)
			a.changed = append(a.changed, name)
			continue
		}
		switch {
		case !before.always(name) && same, slices.Contains(passage.Locked, name) && a.isNewLock(name):
		case was == nothing():
			a.made = append(a.made, name)
		case isDatabase(was):
			a.databases = append(a.databases, name)
		default:
			a.changed = append(a.changed, name)
		}
	}
	return a
}

// Add lets what one more serial run leaves behind be left.
func (a *Atomic) Add(k Order) {
	*a = *NewAtomic(a.before, append(slices.Clone(a.orders), k), a.passage)
}

// isNewLock reports whether a file that is locked is new, and has nothing in it after any serial run.
func (a *Atomic) isNewLock(name string) bool {
	return a.before.at(name) == nothing() && !slices.ContainsFunc(a.orders, func(k Order) bool {
		is := k.Outcome.at(name)
		return is != nothing() && is != Content("")
	})
}

// always reports whether a name is judged also where nothing changes it.
func (o Outcome) always(name string) bool {
	return slices.ContainsFunc(o.Tree, func(e Entry) bool { return e.Always && e.Name == name })
}

// Databases are the names that are not judged although serial runs change them: a database is changed in place, and
// what is left of it is for its own recovery to say.
func (a *Atomic) Databases() []string { return a.databases }

// Changed reports whether serial runs change a file of the start that is judged, or write or replace one.
func (a *Atomic) Changed() bool { return len(a.changed) > 0 }

// Changes reports whether serial runs change or add anything that is judged.
func (a *Atomic) Changes() bool { return len(a.changed)+len(a.made) > 0 }

// isDatabase reports whether a file begins as those of SQLite, bbolt or GDBM do.
func isDatabase(at Thing) bool {
	text := at.Text
	return at.File && (strings.HasPrefix(text, "SQLite format 3\x00") ||
		len(text) > 20 && text[16:20] == "\xed\xda\x0c\xed" ||
		len(text) > 4 && text[1:4] == "\x9a\x57\x13")
}

// Judge says which file is lost in what is left behind; "" for none. done lists processes whose change must be there.
func (a *Atomic) Judge(o Outcome, done []int) string {
	for _, name := range a.changed {
		switch here := o.at(name); {
		case here == nothing() && a.kept(o, name):
		case !a.may(name, here, done):
			return a.lost(name, here, done)
		case here == nothing():
			if text := a.unfinished(o, name, done); text != "" {
				return text
			}
		}
	}
	for _, name := range a.made {
		if here := o.at(name); len(done) > 0 && !a.may(name, here, done) {
			return a.lost(name, here, done)
		}
	}
	return ""
}

// groups lists the names that [Atomic.Judge] looks at, those that it compares with each other in one list. done: there
// are processes whose change must be there.
func (a *Atomic) groups(done bool) [][]string {
	var out [][]string
	for _, name := range a.changed {
		was, group := a.before.at(name), []string{name}
		for _, n := range a.made {
			if strings.HasPrefix(n, name) || strings.HasPrefix(name, n) ||
				slices.ContainsFunc(a.orders, func(k Order) bool { return k.Outcome.at(n) == was }) {
				group = append(group, n)
			}
		}
		out = append(out, group)
	}
	for _, n := range a.made {
		if done {
			out = append(out, []string{n})
		}
	}
	return out
}

// may reports whether something may stand at a name. What serial runs leave as it was may be something else on the way,
// such as the word busy, unless that is only the beginning of what was there.
func (a *Atomic) may(name string, is Thing, done []int) bool {
	if len(done) == 0 && is != nothing() && is != a.before.at(name) && slices.Contains(a.rewritten, name) {
		return !strings.HasPrefix(a.before.at(name).Text, strings.TrimRight(is.Text, "\x00"))
	}
	return len(done) == 0 && is == a.before.at(name) ||
		slices.ContainsFunc(a.orders, func(k Order) bool { return k.has(done) && k.Outcome.at(name) == is })
}

// has reports whether some processes have run in an order.
func (o Order) has(processes []int) bool {
	return !slices.ContainsFunc(processes, func(i int) bool { return !slices.Contains(o.Ran, i) })
}

// kept reports whether what stood at a name stands now at another one at which serial runs leave it.
func (a *Atomic) kept(o Outcome, name string) bool {
	was := a.before.at(name)
	return slices.ContainsFunc(a.made, func(n string) bool {
		return o.at(n) == was && slices.ContainsFunc(a.orders, func(k Order) bool { return k.Outcome.at(n) == was })
	})
}

// unfinished says what is not whole of that for which a name is gone; "" for nothing. That is what has its contents
// after a serial run, or a name of which one begins with the other: f and f.gz.
func (a *Atomic) unfinished(o Outcome, gone string, done []int) string {
	was := a.before.at(gone)
	for _, n := range a.made {
		moved := was != Content("") && slices.ContainsFunc(a.orders, func(k Order) bool {
			return k.Outcome.at(n) == was && k.Outcome.at(gone) == nothing()
		})
		here := o.at(n)
		named := strings.HasPrefix(n, gone) || strings.HasPrefix(gone, n)
		if moved && here == nothing() || (moved || named) && here != nothing() && !a.may(n, here, done) {
			return fmt.Sprintf("%s: gone, and %s", gone, a.lost(n, here, done))
		}
	}
	return ""
}

// lost says of a name that what stands there is none of what it may be: "f: 0 bytes, neither the old 12 nor the new
// 12".
func (a *Atomic) lost(name string, here Thing, done []int) string {
	var after []string
	for _, k := range a.orders {
		if text := k.Outcome.at(name).said(); k.has(done) && !slices.Contains(after, text) {
			after = append(after, text)
		}
	}
	was, is, will := a.before.at(name).said(), here.said(), strings.Join(after, " or ")
	newOnly := len(done) > 0 || slices.Contains(a.made, name)
	if here == a.before.at(name) && here != nothing() && newOnly {
		return fmt.Sprintf("%s: the old %s, not the new %s", name, was, bare(will))
	}
	if is != bare(is) {
		was, will = bare(was), bare(will)
	}
	if content := here.Text; here.File && strings.HasSuffix(content, "\x00") {
		is += fmt.Sprintf(" that end in %d zeros", len(content)-len(strings.TrimRight(content, "\x00")))
	}
	if newOnly {
		return fmt.Sprintf("%s: %s, not the new %s", name, is, will)
	}
	return fmt.Sprintf("%s: %s, neither the old %s nor the new %s", name, is, was, will)
}

// bare is sizes without their unit, which has been said.
func bare(text string) string { return strings.NewReplacer(" bytes", "", " byte", "").Replace(text) }

// said is what stands at a name, in words.
func (t Thing) said() string {
	text := t.Text
	switch {
	case t.File:
		return numbers.Count(len(text), "byte", "bytes")
	case text == Absent:
		return "nothing"
	case strings.HasPrefix(text, "= "):
		return strings.TrimPrefix(text, "= ")
	case strings.HasPrefix(text, "-> "):
		return "link to " + strings.TrimPrefix(text, "-> ")
	}
	return "directory"
}

// Table shows what is lost: a row for each name at which something stands that may not be left there.
func (a *Atomic) Table(o Outcome, done []int) [][]string {
	rows := [][]string{{"", "here", "before"}}
	orders := a.orders[:min(len(a.orders), mostOrders)]
	for _, k := range orders {
		rows[0] = append(rows[0], "after "+k.Name())
	}
	for _, name := range slices.Concat(a.changed, a.made) {
		here := o.at(name)
		if a.may(name, here, done) && here != nothing() {
			continue
		}
		row := []string{here.String(), a.before.at(name).String()}
		for _, k := range orders {
			row = append(row, k.Outcome.at(name).String())
		}
		rows = append(rows, append([]string{name}, fromDifference(row)...))
	}
	return rows
}
