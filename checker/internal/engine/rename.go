package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Symmetry of processes that know pids. A program that writes its pid into the lock, and looks whether
// the one that it reads there is alive, is no less interchangeable; but what it has seen names others,
// and so its places in the program are other ones when processes change places. A renaming maps
// machines with what is written in them, calls and results ([fsfake.Renaming]), and
// places: that of a process after some results to that of the process in its place after the same
// results under other names.
//
// Nothing of this is believed. Each edge that is learned is learned for all renamings, and must lead to the place
// to which it is mapped, with the same call there and the same effects; where places are taken for one,
// classes are mapped, which is the same question. And each call that is tried out on a machine is tried out
// under all renamings, and must lead to the machine and the result that it is mapped to: so no
// part of a number that was read, no order of names or of processes goes unnoticed.

// ErrPids says that processes are interchangeable at most with their pids renamed.
var ErrPids = errors.New("checker: the processes are interchangeable only with their pids renamed in what they write")

// maxRenamed is the largest number of processes that are renamed so: every renaming is tried.
const maxRenamed = 4

// renames are all renamings of a space, and what they map.
type renames struct {
	x       *Space
	perms   [][]int
	by      []fsfake.Renaming
	product [][]int      // of two renamings, the first of which is made last
	none    int          // the renaming that leaves everybody in place
	mu      sync.RWMutex // guards nodes, which change under Space.mu only
	nodes   map[image]uint32
	done    map[learnedEdge]bool // under Space.mu
	orbits  orbits
}

// An image is asked for: a renaming of a node of a slot.
type image struct {
	renaming, slot int
	node           uint32
}

type learnedEdge struct {
	slot   int
	from   uint32
	result *fsfake.Result
}

// SymmetricWithPids prepares x for exploration up to symmetry of processes that use pids, or says why
// it cannot be.
func (x *Space) SymmetricWithPids() error {
	bad := func(why string) error { return fmt.Errorf("checker: %s: no symmetry: %s", x.Sc.ID, why) }
	if why := x.asymmetric(); why != "" {
		return bad(why)
	}
	n := x.Sc.Setting.Processes
	switch {
	case n > maxRenamed:
		return bad(fmt.Sprintf("the processes use pids, and that needs at most %d processes", maxRenamed))
	case x.Property.Judgement() != scenarios.ByHistory && x.Property.Question != scenarios.Stuck:
		return bad(fmt.Sprintf("the processes use pids, and the property %s may see them", x.Property))
	}
	for i := range n {
		if x.Sc.Setting.PidInContainer(i) != 0 {
			return bad("the processes use pids, and are in containers")
		}
	}
	r := &renames{x: x, nodes: map[image]uint32{}, done: map[learnedEdge]bool{}}
	index := map[string]int{}
	permute(identity(n), 0, func(p []int) {
		index[permKey(p)] = len(r.perms)
		r.perms = append(r.perms, slices.Clone(p))
	})
	for _, p := range r.perms {
		by, ok := fsfake.NewRenaming(x.procIDs(), p)
		if !ok {
			return bad("pids differ in length")
		}
		r.by = append(r.by, by)
		row := make([]int, len(r.perms))
		for k, q := range r.perms {
			pq := make([]int, n)
			for i := range pq {
				pq[i] = p[q[i]]
			}
			row[k] = index[permKey(pq)]
		}
		r.product = append(r.product, row)
	}
	first := x.machines.first
	want := first.AppendKey(nil)
	for k := range r.perms {
		m := first.Clone()
		if !r.by[k].Machine(m) || !slices.Equal(m.AppendKey(nil), want) {
			return bad("the machine at the start tells the processes apart")
		}
	}
	r.none = slices.IndexFunc(r.perms, slices.IsSorted)
	x.renames, x.alike, x.Reduce = r, true, true
	for slot, a := range r.x.automata {
		all := make([]learn.Edge, len(r.perms))
		for k, p := range r.perms {
			all[k] = learn.Edge{To: r.x.automata[p[slot]].First()}
		}
		if err := r.maps(slot, a.First(), all); err != nil {
			return err
		}
	}
	return nil
}

// unlike is the error of processes that do not the same.
func (r *renames) unlike(format string, args ...any) error {
	return fmt.Errorf("checker: %s: the processes are not interchangeable with their pids renamed: "+format, append([]any{r.x.Sc.ID}, args...)...)
}

// maps has all renamings of a node be where the edges lead, and verifies that these places do the same.
func (r *renames) maps(slot int, to uint32, all []learn.Edge) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	to &^= learn.Begun
	nd := r.x.automata[slot].Node(to)
	for k, p := range r.perms {
		is := all[k].To &^ learn.Begun
		other := r.x.automata[p[slot]].Node(is)
		op, ok := r.by[k].Op(nd.Op)
		if !nd.Ended && !ok {
			return r.unlike("%q shows a pid to others than by what it writes or names", nd.Op)
		}
		if nd.Ended != other.Ended || !nd.Ended && op != other.Op || r.effects(k, nd.Begins) != other.Begins {
			return r.unlike("where process %s calls %q, process %s calls %q", r.x.Slots[slot].Task, nd.Op, r.x.Slots[p[slot]].Task, other.Op)
		}
		for q := range r.perms { // of what is renamed by k, the renaming by q
			of := image{q, p[slot], is}
			then := all[r.product[q][k]].To &^ learn.Begun
			if known, ok := r.nodes[of]; ok && known != then {
				return r.unlike("%q follows on results that are the same but for the names, and on others it does not", nd.Op)
			}
			r.nodes[of] = then
		}
	}
	return nil
}

// effects renames the owners in what a task did.
func (r *renames) effects(k int, e learn.Effects) learn.Effects {
	e.Output, e.Input = r.value(k, e.Output), r.value(k, e.Input)
	return e
}

func (r *renames) value(k int, v any) any {
	return model.Renamed(v, func(name string) string {
		for i, to := range r.perms[k] {
			if name == scenarios.ProcessName(i) {
				return scenarios.ProcessName(to)
			}
		}
		return name
	})
}

// learn learns an edge under all renamings, and verifies that all lead to the same under other names. One at a time learns.
func (r *renames) learn(slot int, n uint32, result *fsfake.Result) error {
	if r.done[learnedEdge{slot, n, result}] {
		return nil
	}
	type drop struct {
		keep  learn.Numbers
		fewer bool
	}
	all, drops := make([]learn.Edge, len(r.perms)), make([]drop, len(r.perms))
	edges := make([]learnedEdge, len(r.perms))
	call := r.x.automata[slot].Node(n).Op.Call
	for k, p := range r.perms {
		from, ok := r.nodes[image{k, slot, n}]
		if !ok {
			return r.unlike("a node is not known under other names")
		}
		told := r.x.machines.intern(r.by[k].Result(call, *result))
		a := r.x.automata[p[slot]]
		e, err := a.Learn(from, told)
		if err != nil {
			return err
		}
		all[k], edges[k] = e, learnedEdge{p[slot], from, told}
		drops[k].keep, drops[k].fewer = a.Forgets(from, told, &e)
	}
	for k := range r.perms {
		if r.effects(k, all[r.none].Effects) != all[k].Effects || r.value(k, all[r.none].Input) != all[k].Input ||
			all[k].To&learn.Begun != all[r.none].To&learn.Begun || drops[k] != drops[r.none] {
			return r.unlike("after %s process %s does not go on as %s does", r.x.automata[slot].Node(n).Op, r.x.Slots[r.perms[k][slot]].Task, r.x.Slots[slot].Task)
		}
	}
	if err := r.maps(slot, all[r.none].To, all); err != nil {
		return err
	}
	for _, e := range edges {
		r.done[e] = true
	}
	return nil
}

// op is a renamed operation on a machine.
func (r *renames) op(k int, op uint32) (uint32, error) {
	v := r.x.machines.opOf(op)
	ok := true
	switch is := v.(type) {
	case fsfake.Op:
		v, ok = r.by[k].Op(is)
	case opFail:
		is.op, ok = r.by[k].Op(is.op)
		ok = ok && is.by == (fsfake.Task{})
		v = is
	case opBy, opLose, opTops:
		ok = false
	}
	if !ok {
		return 0, r.unlike("%v shows a pid to others than by what it writes or names", v)
	}
	return r.x.machines.op(v), nil
}

// renamedCalls is what one worker tries calls with under all renamings. There is a workspace for each, for what is
// asked next is mostly asked of the same machine; the one of the renaming that leaves everybody in place is for orbits.
type renamedCalls struct {
	*renames
	workspaces []workspace
	ops        [][]uint32 // by renaming and number: the renamed operations, from 1
}

func newRenamedCalls(r *renames) *renamedCalls {
	return &renamedCalls{renames: r, workspaces: make([]workspace, len(r.perms)), ops: make([][]uint32, len(r.perms))}
}

// renamed is a renamed operation.
func (w *renamedCalls) renamed(k int, op uint32) (uint32, error) {
	if known := w.ops[k]; int(op) < len(known) && known[op] != 0 {
		return known[op] - 1, nil
	}
	to, err := w.op(k, op)
	if err != nil {
		return 0, err
	}
	for int(op) >= len(w.ops[k]) {
		w.ops[k] = append(w.ops[k], 0)
	}
	w.ops[k][op] = to + 1
	return to, nil
}

// sameForAll verifies that what an operation of a slot came to it comes to under all renamings.
func (w *renamedCalls) sameForAll(machine uint32, slot int, op uint32, is transition) error {
	r, t := w.renames, w.renames.x.machines
	none := &w.workspaces[r.none]
	v := none.op(t, op)
	call, _ := v.(fsfake.Op) // an operation of another kind answers no more than an errno
	from, fromBy, err := r.orbit(machine, none)
	if err != nil {
		return err
	}
	to, toBy, err := r.orbit(is.machine, none)
	if err != nil {
		return err
	}
	result := t.result(is.result)
	for k, p := range r.perms {
		if k == r.none {
			continue
		}
		renamed, err := w.renamed(k, op)
		if err != nil {
			return err
		}
		b := &w.workspaces[k]
		got, err := t.apply(from[r.product[k][fromBy]], renamed, r.x.Slots[p[slot]].id, b)
		if err != nil {
			return err
		}
		want := is
		want.machine, want.result = to[r.product[k][toBy]], got.result
		if got != want || b.r != r.by[k].Result(call.Call, *result) {
			return r.unlike("%v of process %s tells pids apart on the machine", v, r.x.Slots[slot].Task)
		}
	}
	return nil
}
