package engine

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Symmetry: processes that run one program are interchangeable, and states that differ
// only in who is who lead to the same future under other names. The exploration then
// keeps one of them. A verdict is not affected: the specifications treat owners alike,
// and the invariant and the probe look at no name. What is remembered of the past, histories or
// monitors, is renamed, too; see history.Table.Rename. Nodes that are taken for one
// ([learn.Automaton.JoinRounds]) are the same for every process, since all learn the same in the same order.
//
// Pids are data, so this is only sound where no program can get hold of one. The promise is verified, not believed:
// what one process's code is learned to do, every other's must be learned to do as well, and a program that asks for
// a pid, names one in a call, or takes a POSIX record lock (which shows its owner's pid) ends the exploration with an
// error. Processes with several tasks, or not all mortal, are not treated so.
type Symmetry struct {
	x     *Space
	ids   []fsfake.ProcID
	perms [][]int
	index map[string]int
	// Renamed machines and histories, by number and permutation.
	machines, histories map[uint64]uint32
	order               []int
	best                []uint32
	trial               []uint32
}

// maxSymmetric is the largest number of processes treated as interchangeable: with
// more, trying the permutations costs more than it saves.
const maxSymmetric = 6

// asymmetric says why the setting or the property keeps processes from being interchangeable; empty if
// neither does.
func (x *Space) asymmetric() string {
	st := &x.Sc.Setting
	switch {
	case !st.Interchangeable:
		return "the setting does not declare its processes interchangeable"
	case st.PowerLosses > 0:
		return "the power may be lost"
	case st.Assume.Sleeps == scenarios.SleepsLast:
		return "sleeps take as long as they say"
	case len(st.Punctual) > 0:
		return "some processes are punctual"
	case st.Skew != nil:
		return "clocks are apart"
	case st.Tasks != nil || st.Handlers != nil || st.Mortal != nil || st.Processes > maxSymmetric:
		return fmt.Sprintf("it needs one task in each of at most %d processes, all of them mortal or none", maxSymmetric)
	case !x.Property.Symmetric:
		return fmt.Sprintf("the property %s may tell processes apart: it is not declared symmetric", x.Property)
	}
	return ""
}

// Symmetric prepares x for exploration up to symmetry, or says why it cannot be.
func (x *Space) Symmetric() error {
	bad := func(why string) error {
		return fmt.Errorf("checker: %s: no symmetry: %s", x.Sc.ID, why)
	}
	if why := x.asymmetric(); why != "" {
		return bad(why)
	}
	for slot := 1; slot < len(x.Slots); slot++ {
		if err := x.sameNode(slot, x.automata[0].First(), x.automata[slot].First()); err != nil {
			return err
		}
	}
	first := x.machines.get(x.Initial[wordMachine])
	want := first.AppendKey(nil)
	ids := x.procIDs()
	for i := 1; i < len(ids); i++ {
		perm := identity(len(ids))
		perm[0], perm[i] = i, 0
		m := first.Clone()
		m.Permute(ids, perm)
		if !slices.Equal(m.AppendKey(nil), want) {
			return bad("the machine at the start tells the processes apart")
		}
	}
	x.alike, x.Reduce = true, true
	return nil
}

func (x *Space) procIDs() []fsfake.ProcID {
	ids := make([]fsfake.ProcID, x.Sc.Setting.Processes)
	for i := range ids {
		ids[i] = scenarios.ProcID(i)
	}
	return ids
}

// learnAlike learns an edge for every process at once, and verifies that all go the
// same way.
func (x *Space) learnAlike(n uint32, r *fsfake.Result) error {
	a := x.automata[0]
	if a.Knows(n, r) {
		return nil
	}
	// All learn it before any two are compared: when these differ, other workers still go on for a moment, and the nodes of all
	// processes must have the same numbers for them.
	edges := make([]learn.Edge, len(x.automata))
	for i, each := range x.automata {
		var err error
		if edges[i], err = each.Learn(n, r); err != nil {
			return err
		}
	}
	e := edges[0]
	for slot := 1; slot < len(x.Slots); slot++ {
		f := edges[slot]
		if !x.sameEffects(slot, e.Effects, f.Effects) {
			return fmt.Errorf("checker: %s: the processes are not interchangeable: after %s "+
				"process %s does not go on as process A does",
				x.Sc.ID, a.Node(n).Op, x.Slots[slot].Task)
		}
		if err := x.sameNode(slot, e.To, f.To); err != nil {
			return err
		}
	}
	if e.Effects.Seen.Has(fsfake.PidSeen) {
		return fmt.Errorf("checker: %s: the processes are not interchangeable: the program asks for its own pid",
			x.Sc.ID)
	}
	return nil
}

// sameEffects reports whether a process does what process A does, under its own name.
func (x *Space) sameEffects(slot int, a, b learn.Effects) bool {
	a.Output, a.Input = renamed(a.Output, 0, slot), renamed(a.Input, 0, slot)
	return a == b
}

// sameNode verifies that a node of a process's automaton is that of process A.
func (x *Space) sameNode(slot int, n, m uint32) error {
	a, b := x.automata[0].Node(n&^learn.Begun), x.automata[slot].Node(m&^learn.Begun)
	if a.Begins.Seen.Has(fsfake.PidSeen) || b.Begins.Seen.Has(fsfake.PidSeen) {
		return fmt.Errorf("checker: %s: the processes are not interchangeable: the program asks for its own pid",
			x.Sc.ID)
	}
	if n != m || a.Op != b.Op || a.Ended != b.Ended || !x.sameEffects(slot, a.Begins, b.Begins) {
		return fmt.Errorf("checker: %s: the processes are not interchangeable: "+
			"where process A calls %q, process %s calls %q",
			x.Sc.ID, a.Op, x.Slots[slot].Task, b.Op)
	}
	if c := a.Op.Call; c == fsfake.CallKill || c.ShowsPid() {
		return fmt.Errorf("checker: %s: the processes are not interchangeable: %q shows a pid",
			x.Sc.ID, a.Op)
	}
	return nil
}

// renamed replaces the owner's name in an input or output of the history.
func renamed(v any, from, to int) any {
	a, b := scenarios.ProcessName(from), scenarios.ProcessName(to)
	swap := func(owner string) string {
		switch owner {
		case a:
			return b
		case b:
			return a
		}
		return owner
	}
	return model.Renamed(v, swap)
}

// NewSymmetry returns what one worker needs to explore a space up to symmetry; nil where it is explored as it is.
func NewSymmetry(x *Space) *Symmetry {
	if !x.Reduce {
		return nil
	}
	s := &Symmetry{
		x: x, ids: x.procIDs(), index: map[string]int{}, machines: map[uint64]uint32{}, histories: map[uint64]uint32{},
		best: make([]uint32, x.Width()), trial: make([]uint32, x.Width()),
	}
	permute(identity(len(s.ids)), 0, func(p []int) {
		s.index[permKey(p)] = len(s.perms)
		s.perms = append(s.perms, slices.Clone(p))
	})
	return s
}

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func permKey(p []int) string {
	b := make([]byte, len(p))
	for i, v := range p {
		b[i] = byte(v)
	}
	return string(b)
}

// permute visits every permutation of p[at:].
func permute(p []int, at int, visit func([]int)) {
	if at == len(p) {
		visit(p)
		return
	}
	for i := at; i < len(p); i++ {
		p[at], p[i] = p[i], p[at]
		permute(p, at+1, visit)
		p[at], p[i] = p[i], p[at]
	}
}

// Canonical replaces a state by the one that stands for all its renamings: processes in
// the order of their nodes, and among equals the renaming with the lowest numbers. Without symmetry it stays.
func (s *Symmetry) Canonical(row []uint32) {
	if s == nil {
		return
	}
	n := len(s.ids)
	nodes := row[wordNodes : wordNodes+n]
	s.order = s.order[:0]
	for i := range n {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return int(nodes[a]) - int(nodes[b]) })
	found := false
	s.ties(nodes, 0, func() {
		perm := make([]int, n)
		for to, from := range s.order {
			perm[from] = to
		}
		s.apply(row, perm)
		if !found || slices.Compare(s.trial, s.best) < 0 {
			found = true
			copy(s.best, s.trial)
		}
	})
	copy(row, s.best)
}

// ties visits every order of the processes that keeps their nodes sorted.
func (s *Symmetry) ties(nodes []uint32, at int, visit func()) {
	if at == len(s.order) {
		visit()
		return
	}
	for i := at; i < len(s.order) && nodes[s.order[i]] == nodes[s.order[at]]; i++ {
		s.order[at], s.order[i] = s.order[i], s.order[at]
		s.ties(nodes, at+1, visit)
		s.order[at], s.order[i] = s.order[i], s.order[at]
	}
}

// apply writes row under a renaming to s.trial.
func (s *Symmetry) apply(row []uint32, perm []int) {
	copy(s.trial, row)
	p := s.index[permKey(perm)]
	for from, to := range perm {
		s.trial[wordNodes+to] = row[wordNodes+from]
	}
	s.trial[wordMachine] = s.machine(row[wordMachine], p)
	if s.x.Histories != nil {
		s.trial[WordHistory] = s.history(row[WordHistory], p)
	}
}

func (s *Symmetry) machine(id uint32, perm int) uint32 {
	key := uint64(id)<<32 | uint64(perm)
	to, ok := s.machines[key]
	if !ok {
		to = s.x.machines.permuted(id, opPermute{s, perm})
		s.machines[key] = to
	}
	return to
}

func (s *Symmetry) history(id uint32, perm int) uint32 {
	key := uint64(id)<<32 | uint64(perm)
	to, ok := s.histories[key]
	if !ok {
		to = s.x.Histories.Rename(id, s.perms[perm])
		s.histories[key] = to
	}
	return to
}
