package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// sameOutcomes reports whether orders all end alike.
func sameOutcomes(orders []Order) bool {
	first := orders[0].Outcome.Key(nil)
	return !slices.ContainsFunc(orders, func(k Order) bool { return k.Outcome.Key(nil) != first })
}

// mostOrders is how many serial orders a table shows.
const mostOrders = 6

// Table shows what an outcome has otherwise than serial orders: a row for each thing that
// differs, a column for the outcome and for each order, those that come closest first.
func (s *Serial) Table(o Outcome) [][]string {
	orders := lists.Filter(s.Orders, func(k Order) bool { return s.explains(k, o) })
	slices.SortStableFunc(orders, func(a, b Order) int {
		return len(o.Differs(a.Outcome)) - len(o.Differs(b.Outcome))
	})
	orders = orders[:min(len(orders), mostOrders)]
	slices.SortStableFunc(orders, func(a, b Order) int { return strings.Compare(a.Name(), b.Name()) })
	if len(orders) > 2 && sameOutcomes(orders) {
		orders = orders[:1]
		orders[0].called = "in any order"
	}
	heading := []string{"", "here"}
	heading = append(heading, lists.Map(orders, Order.Name)...)
	rows := [][]string{heading}
	add := func(name string, of func(o Outcome, ran bool) string, process int) {
		row := []string{name, of(o, true)}
		differs := false
		for _, k := range orders {
			text := of(k.Outcome, slices.Contains(k.Ran, process))
			row = append(row, text)
			differs = differs || row[1] != text
		}
		if differs {
			rows = append(rows, append(row[:1], fromDifference(row[1:])...))
		}
	}
	for i := range o.Exits {
		add(scenarios.ProcessName(i), func(o Outcome, ran bool) string {
			if !ran {
				return Absent // it has not run
			}
			return o.Exits[i]
		}, i)
		prints := func(o Outcome, _ bool) string { return strconv.Quote(o.Printed[i]) }
		add(scenarios.ProcessName(i)+" prints", prints, i)
	}
	for _, name := range namesOf(o, orders) {
		if !slices.ContainsFunc(orders, func(k Order) bool { return k.Outcome.entry(name) != o.entry(name) }) {
			continue
		}
		add(name, func(o Outcome, _ bool) string { return o.at(name).String() }, -1)
		if o.at(name) != nothing() {
			add(name+" mode", func(o Outcome, _ bool) string { return o.tells(name, Entry.mode) }, -1)
			add(name+" owner", func(o Outcome, _ bool) string { return o.tells(name, Entry.owner) }, -1)
			add(name+" time", func(o Outcome, _ bool) string { return o.tells(name, Entry.time) }, -1)
		}
	}
	add("the clock", func(o Outcome, _ bool) string { return o.Clock }, -1)
	return rows
}

// namesOf lists the names of all trees in order.
func namesOf(o Outcome, orders []Order) []string {
	var names []string
	add := func(o Outcome) {
		for _, e := range o.Tree {
			names = append(names, e.Name)
		}
	}
	add(o)
	for _, k := range orders {
		add(k.Outcome)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// at is what stands at a name of the tree.
func (o Outcome) at(name string) Thing {
	return o.entry(name).Thing
}

// entry is that of a name; one of nothing where it has none.
func (o Outcome) entry(name string) Entry {
	if i := slices.IndexFunc(o.Tree, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return o.Tree[i].found()
	}
	return Entry{Thing: nothing()}
}

func (o Outcome) tells(name string, tell func(Entry) string) string {
	if e := o.entry(name); e.Name != "" {
		return tell(e)
	}
	return Absent
}

func (e Entry) mode() string  { return e.Mode.String() }
func (e Entry) owner() string { return e.Owner }
func (e Entry) time() string  { return cmp.Or(e.Time, "its own") }

// Absent is what stands at a name of which there is nothing.
const Absent = "—"

func nothing() Thing { return Thing{Text: Absent} }

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
	out := slices.Clone(texts)
	for i, t := range texts {
		if at > lead {
			out[i] = "…" + t[at:]
		} else {
			out[i] = differsAt(t, texts[0])
		}
	}
	return out
}

// differsAt shortens the quoted contents of a file that begin to differ late from those that it stands beside: without
// that the two would look alike.
func differsAt(text, beside string) string {
	const alike, lead = 24, 8
	if text == beside || text[0] != '"' || beside[0] != '"' {
		return text
	}
	at, head, n := 1, 1, 0
	for at < min(len(text), len(beside))-1 {
		r, multibyte, rest, err := strconv.UnquoteChar(text[at:], '"')
		next := len(text) - len(rest)
		if err != nil || !strings.HasPrefix(beside[at:], text[at:next]) {
			break
		}
		if at = next; at <= lead {
			head = at
		}
		if n++; multibyte {
			n += utf8.RuneLen(r) - 1
		}
	}
	if at < alike {
		return text
	}
	return fmt.Sprintf("%s…, from byte %d on %s", text[:head], n, text[at:])
}
