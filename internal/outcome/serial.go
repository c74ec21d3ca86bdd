package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// A Serial is what an outcome is compared with.
type Serial struct {
	// What the processes are called: "commands".
	What string
	// Orders are those in which they can run one after the other, with the outcomes that they have then.
	Orders []Order
	// Strangers are the pids of processes that were there before and have no part in this: nobody waits for their end.
	Strangers []int
	// Refuses reports whether a process may have ended by a refusal, so that it need not have done anything;
	// nil means that none refuses.
	Refuses func(o Outcome, process int) bool
}

func (s *Serial) refuses(o Outcome, process int) bool {
	return s.Refuses != nil && s.Refuses(o, process)
}

// Invariant is what a property asks of a machine: "" while somebody runs who has a part in it, and in the end what Judge says of
// the outcome.
func (s *Serial) Invariant(of func(v scenarios.View) Outcome) func(v scenarios.View) string {
	return func(v scenarios.View) string {
		if v.RunningBut(s.Strangers) > 0 {
			return ""
		}
		return s.Judge(of(v))
	}
}

// An Order is the outcome of running some processes one after the other, each to its end or until
// it is killed. Those that are left out have not run.
type Order struct {
	Ran     []int
	Killed  []int // of those
	Outcome Outcome
	// Found, when not nil, is the tree that is judged in place of that of the outcome: what a reader finds.
	Found  []Entry
	called string // a name of its own, or empty
}

// AsFound is the order with what a reader finds in place of its files.
func (o Order) AsFound() Order {
	if o.Found != nil {
		o.Outcome.Tree = o.Found
	}
	return o
}

// Name is the order as people say it: "A then B".
func (o Order) Name() string {
	if o.called != "" {
		return o.called
	}
	var names []string
	for _, i := range o.Ran {
		name := scenarios.ProcessName(i)
		if slices.Contains(o.Killed, i) {
			name += " killed"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "none runs"
	}
	if len(names) == 1 && len(o.Outcome.Exits) > 1 {
		return names[0] + " alone"
	}
	return strings.Join(names, " then ")
}

// Add adds an order to a list, unless it is there with the same outcome.
func Add(list []Order, o Order) []Order {
	if slices.ContainsFunc(list, func(k Order) bool {
		return slices.Equal(k.Ran, o.Ran) && slices.Equal(k.Killed, o.Killed) && k.Outcome.equal(o.Outcome)
	}) {
		return list
	}
	return append(list, o)
}

// explains reports whether an order can be that of an outcome: whoever has not run in it has
// refused.
func (s *Serial) explains(k Order, o Outcome) bool {
	for i := range o.Exits {
		if !slices.Contains(k.Ran, i) && !s.refuses(o, i) {
			return false
		}
	}
	return true
}

// OnlyRefusals says that all do nothing but refuse, in whatever order they run, and gives one for an example; "" where
// one does something. What they leave behind beside each other is what was there before then, which says nothing.
func (s *Serial) OnlyRefusals() string {
	example := ""
	for _, k := range s.Orders {
		for _, i := range k.Ran {
			switch {
			case slices.Contains(k.Killed, i):
				continue
			case !s.refuses(k.Outcome, i):
				return ""
			}
			example = cmp.Or(example, scenarios.ProcessName(i)+": "+k.Outcome.Exits[i])
		}
	}
	if example == "" {
		return ""
	}
	return fmt.Sprintf("in whatever order they run, the %s do nothing but refuse (%s)", s.What, example)
}

// Kind grades an outcome that is none of a serial order. Start is the tree at the start, and parts are the orders of
// some of the processes and of all.
func (s *Serial) Kind(o Outcome, start []Entry, parts []Order) scenarios.Kind {
	failed := s.failed(o)
	if len(failed) == 0 {
		return scenarios.Lost
	}
	others := func(i int) bool { return !slices.Contains(failed, i) }
	if len(failed) == len(o.Exits) && slices.Equal(o.Tree, start) {
		return scenarios.Refused
	}
	without := [][]Entry{} // what the others leave
	if len(failed) == len(o.Exits) {
		without = append(without, start)
	}
	for _, k := range parts {
		ranFailed := slices.ContainsFunc(k.Ran, func(i int) bool { return !others(i) })
		if ranFailed || len(k.Ran) != len(o.Exits)-len(failed) {
			continue
		}
		if o.Key(others) == k.Outcome.Key(others) {
			return scenarios.Refused
		}
		without = append(without, k.Outcome.Tree)
	}
	known := map[Entry]bool{}
	texts := map[string]bool{}
	for _, tree := range append([][]Entry{start}, trees(parts)...) {
		for _, e := range tree {
			known[e.shape()], texts[e.Name] = true, true
		}
	}
	if slices.ContainsFunc(o.Tree, func(e Entry) bool {
		return texts[e.Name] && !known[e.shape()]
	}) {
		return scenarios.Mixed
	}
	for i := range o.Exits {
		if others(i) && undone(o, i, start, parts) {
			return scenarios.Undone
		}
	}
	if len(without) == 0 || slices.ContainsFunc(without, func(tree []Entry) bool { return holdsAll(o.Tree, tree) }) {
		return scenarios.Failed
	}
	return scenarios.Altered
}

// undone reports whether nothing is left of a process that ended as it does in a serial run, although each such run
// leaves something that no run without it does.
func undone(o Outcome, process int, start []Entry, parts []Order) bool {
	did := func(k Order) bool {
		return slices.Contains(k.Ran, process) && k.Outcome.Exits[process] == o.Exits[process]
	}
	without := map[Entry]bool{}
	add := func(tree []Entry) {
		for _, e := range tree {
			without[e.found()] = true
		}
	}
	add(start)
	for _, k := range parts {
		if !did(k) {
			add(k.Outcome.Tree)
		}
	}
	own := func(e Entry) bool { return !without[e.found()] }
	shown := false
	for _, k := range parts {
		if did(k) {
			if shown = slices.ContainsFunc(k.Outcome.Tree, own); !shown {
				return false
			}
		}
	}
	return shown && !slices.ContainsFunc(o.Tree, own)
}

// holdsAll reports whether every entry of one tree is in another, as it is there.
func holdsAll(tree, part []Entry) bool {
	has := map[Entry]bool{}
	for _, e := range tree {
		has[e.found()] = true
	}
	return !slices.ContainsFunc(part, func(e Entry) bool { return !has[e.found()] })
}

func trees(orders []Order) [][]Entry {
	return lists.Map(orders, func(k Order) []Entry { return k.Outcome.Tree })
}

// failed are the processes that have failed, unlike in any serial order in which the others end as they do here.
func (s *Serial) failed(o Outcome) (out []int) {
	var whole []Order
	for _, k := range s.Orders {
		if slices.Equal(k.Outcome.Exits, o.Exits) {
			return nil
		}
		if len(k.Ran) == len(o.Exits) {
			whole = append(whole, k)
		}
	}
	for i, exit := range o.Exits {
		always := len(whole) > 0 && !slices.ContainsFunc(whole, func(k Order) bool { return k.Outcome.Exits[i] != exit })
		if exit != "exit 0" && exit != ExitText(fsfake.Exit{}, false) && !always {
			out = append(out, i)
		}
	}
	return out
}

// Judge compares an outcome with those of the serial orders. It returns "" when it is one
// of them, and otherwise what is wrong. That all refuse is wrong unless they do in some order: whoever comes first
// would have got through.
func (s *Serial) Judge(o Outcome) string {
	for _, k := range s.Orders {
		ran := func(i int) bool { return slices.Contains(k.Ran, i) }
		if s.explains(k, o) && o.Key(ran) == k.Outcome.Key(ran) {
			return ""
		}
	}
	wrong := "no order of the " + s.What + " ends like this"
	for i := range o.Exits {
		if !s.refuses(o, i) {
			return wrong
		}
	}
	return "all refuse, and " + wrong
}
