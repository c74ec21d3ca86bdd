package learn

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A real program that polls is told something else in each round while others get on, and each sequence of
// rounds is a path of its own as long as none repeats itself. Most programs forget all of it when
// they sleep. So where the paths are too many, a round is taken to carry nothing over: all places right after
// the same sleep, with the same call to come, are one, the top. That is a guess, and nothing may be concluded
// before it was tried out ([Automaton.TryRounds]). A program may remember more than that shows, so a verdict
// that rests on it says so.

// ErrCarriesOver says that rounds of polling were taken to carry nothing over, and one did.
var ErrCarriesOver = errors.New("a round of polling carries something over")

// A top is what the places have in common that are taken for one.
type top struct {
	sleep, next fsfake.Op
	slept       fsfake.Result
	begins      Effects
	open        any
	family      scenarios.Family
}

// A joining is the tops of a program.
type joining struct {
	at   map[top]uint32
	tops []uint32  // in the order in which they were met
	into []edgeKey // the edges that lead back to one
	// clean: only where the program has changed nothing so far.
	clean bool
}

// JoinRounds has the automaton take rounds of polling to carry nothing over. It is for real programs, and
// to be asked before anything is learned. clean: only the rounds before a program has changed anything: the owner of a
// lock that sleeps, and touches the lock again and again, does not poll.
func (a *Automaton) JoinRounds(clean bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.joined = &joining{at: map[top]uint32{}, clean: clean}
}

// SleepsAsOwner reports whether the program sleeps before it has changed anything, and also afterwards.
func (a *Automaton) SleepsAsOwner() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	polls, owns := false, false
	for at := Start; int(at) < len(a.nodes) && !(polls && owns); at++ {
		if a.nodes[at].Op.Call == fsfake.CallSleep {
			changed := a.changed(uint32(at))
			polls, owns = polls || !changed, owns || changed
		}
	}
	return polls && owns
}

// Joins reports whether a round was taken to carry nothing over.
func (a *Automaton) Joins() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.joined != nil && len(a.joined.into) > 0
}

// join leads an edge to the top that it comes back to. A place that is the first of its kind is about to become
// the last node, and a top.
func (a *Automaton) join(at uint32, result *fsfake.Result, op fsfake.Op, eff Effects) (e Edge, ok bool) {
	from := &a.nodes[at]
	if a.joined == nil || at < Start || from.Op.Call != fsfake.CallSleep || eff.Returned || from.Begins.Invoked {
		return e, false
	}
	if a.joined.clean && a.changed(at) {
		return e, false
	}
	is := top{sleep: from.Op, next: op, slept: *result, begins: eff, open: from.Open, family: from.Family.After(&from.Op, result)}
	to, ok := a.joined.at[is]
	if !ok {
		to = uint32(len(a.nodes))
		a.joined.at[is] = to
		a.joined.tops = append(a.joined.tops, to)
		return e, false
	}
	a.joined.into = append(a.joined.into, edgeKey{at, result})
	return Edge{To: to, Effects: eff, Input: from.Open, Back: true}, true
}

// changed reports whether a program has changed something on the way to a node, but for names that it has made and
// removed again.
func (a *Automaton) changed(at uint32) bool {
	type change struct {
		name  string // empty of one by descriptor
		makes bool
	}
	var all []change
	path := a.path(at)
	for i, n := range path[min(1, len(path)):] {
		op, r := a.nodes[path[i]].Op, a.nodes[n].via
		const excl = fsfake.O_CREAT | fsfake.O_EXCL
		is := change{op.Path, op.Call.Is(fsfake.Creates) || op.Call == fsfake.CallOpen && op.Flags&excl == excl}
		if r.Errno != 0 || !is.makes && !op.Call.Is(fsfake.Changes) {
			continue
		}
		made := slices.Index(all, change{is.name, true})
		if op.Call.Is(fsfake.Removes) && made >= 0 && !slices.ContainsFunc(all[made:], func(c change) bool {
			return c.name != is.name && c.name != ""
		}) {
			all = all[:made]
		} else {
			all = append(all, is)
		}
	}
	return len(all) > 0
}

// TryRounds tries out that rounds of polling carry nothing over: after each way into a top the program is to do what it
// did after the way on which the top was met first. A round is followed by [ExternalRounds] more of itself; and each way
// by all rounds that can follow it, one after the other, a round by itself after each of them. after says whether the
// task, once it has been at one node, may come to another later.
//
// Not all of these rounds can follow each other: the owner of the lock is found dead once. What the program does
// otherwise then is no matter, unless it does so too when what cannot have come before is left out. Such a round
// is tried by itself after each other round, and one of them after each other way.
//
// mine says which ways are tried out, by what [Automaton.Ways] calls them: others are left to somebody who runs the same.
//
// The error is [ErrCarriesOver], that of ctx, or one of the program.
func (a *Automaton) TryRounds(ctx context.Context, mine func(way string) bool, after func(was, is uint32) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.joined == nil {
		return nil
	}
	for _, at := range a.joined.tops {
		t := a.trialOf(at)
		t.after = after
		for i := range t.ways {
			if !mine(t.called(i)) {
				continue
			}
			if err := t.try(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ways lists, sorted, what the ways into tops are called: the same for programs that do the same but for pids.
func (a *Automaton) Ways() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.joined == nil {
		return nil
	}
	for _, at := range a.joined.tops {
		t := a.trialOf(at)
		for i := range t.ways {
			all = append(all, t.called(i))
		}
	}
	slices.Sort(all)
	return all
}

// A trial is what is tried out of a top.
type trial struct {
	a *Automaton
	// ways lead to the top; those from the number rounds on are rounds of the loop. outs lead to the program's end.
	ways   []part
	rounds int
	outs   []part
	// on lead to other tops, of programs that sleep longer in each round, say.
	on []part
	// first is what comes before a round.
	first part
	after func(was, is uint32) bool
	once  []int           // the rounds that are tried by themselves
	kinds map[string]bool // of the ways that have been tried
}

// A part of a plan is edges that the program is to take, to a top or to its end. round is the number of its way if it is a
// round, else -1.
type part struct {
	edges []edgeKey
	round int
	to    uint32
}

// end is the node that a part leaves last.
func (p part) end() uint32 { return p.edges[len(p.edges)-1].from }

// trialOf lists the ways to a top, and those from it to the next one or to the program's end.
func (a *Automaton) trialOf(at uint32) *trial {
	t := &trial{a: a, first: part{a.edgesTo(at), -1, at}, kinds: map[string]bool{}}
	t.ways = append(t.ways, t.first)
	var rounds []part
	for _, p := range a.partsFrom(at) {
		switch p.to {
		case at:
			rounds = append(rounds, p)
		case Ended:
			t.outs = append(t.outs, p)
		default:
			t.on = append(t.on, p)
		}
	}
	for _, k := range a.joined.into {
		if a.edges[k].To == at && !slices.ContainsFunc(rounds, func(p part) bool { return p.edges[len(p.edges)-1] == k }) {
			t.ways = append(t.ways, part{append(a.edgesTo(k.from), k), -1, at})
		}
	}
	t.rounds = len(t.ways)
	for _, p := range rounds {
		p.round = len(t.ways)
		t.ways = append(t.ways, p)
	}
	return t
}

// partsFrom lists the ways from a top to the next one, or to the program's end.
func (a *Automaton) partsFrom(at uint32) (parts []part) {
	for _, k := range a.order {
		e := a.edges[k]
		if e.To != Ended && !e.Back && !slices.Contains(a.joined.tops, e.To) {
			continue
		}
		path := a.path(k.from)
		i := len(path) - 1
		for i > 0 && !slices.Contains(a.joined.tops, path[i]) {
			i--
		}
		if path[i] == at {
			parts = append(parts, part{append(a.edgesTo(k.from), k)[i:], -1, e.To})
		}
	}
	return parts
}

// called sums up a way without what may have a pid in it.
func (t *trial) called(i int) string {
	h := sha256.New()
	for _, k := range t.ways[i].edges {
		op, r := &t.a.nodes[k.from].Op, k.result
		fmt.Fprintf(h, "%d %d %d %d %d %t %d %d %d\n", op.Call, op.Flags, op.FD, len(op.Data), r.Errno, r.Blocked, len(r.Data), r.Stat.Size, r.Stat.Ino)
	}
	return string(h.Sum(nil))
}

// kind names a way by its calls and answers, without the time of day and the times of files. Ways of one kind differ
// in these times alone, and only the first of them is repeated, and followed by all rounds. So a program that
// remembers one particular pair of times is not noticed; one that counts rounds is.
func (t *trial) kind(i int) string {
	h := sha256.New()
	fmt.Fprintln(h, i >= t.rounds) // the first round has its calls, too
	for _, k := range t.ways[i].edges {
		op, r := t.a.nodes[k.from].Op, *k.result
		if op.Call == fsfake.CallNow {
			r.N = 0
		}
		r.Stat.Atime, r.Stat.Mtime, r.Stat.Ctime, r.Stat.Btime = 0, 0, 0, 0
		fmt.Fprintf(h, "%#v %#v\n", op, r)
	}
	return string(h.Sum(nil))
}

// edgesTo lists the edges from the start to a node.
func (a *Automaton) edgesTo(at uint32) []edgeKey {
	path := a.path(at)
	edges := make([]edgeKey, 0, len(path)+1)
	for i := 1; i < len(path); i++ {
		edges = append(edges, edgeKey{path[i-1], a.nodes[path[i]].via})
	}
	return edges
}

// begin is the plan that goes one way.
func (t *trial) begin(i int) []part {
	if i < t.rounds {
		return []part{t.ways[i]}
	}
	return []part{t.first, t.ways[i]}
}

// try tries out one way.
func (t *trial) try(ctx context.Context, i int) error {
	plan, again := t.begin(i), -1
	isNew := true
	if t.a.joined.clean { // where clocks move there is a round for each time
		kind := t.kind(i)
		isNew, t.kinds[kind] = !t.kinds[kind], true
	}
	if isNew && i >= t.rounds {
		wrong, err := t.follow(ctx, append(t.begin(i), slices.Repeat(t.ways[i:i+1], ExternalRounds)...))
		if err != nil {
			return err
		}
		if wrong < 0 {
			again = i
		}
	}
	if n := len(t.outs); n > 0 {
		plan = append(plan, t.outs[i%n])
	}
	if _, err := t.follow(ctx, plan); err != nil {
		return err
	}
	for isNew {
		wrong, err := t.follow(ctx, t.mixed(i, again))
		if err != nil {
			return err
		}
		if wrong < 0 {
			break
		}
		t.once = append(t.once, wrong)
	}
	for n, p := range t.on {
		if !t.after(t.ways[i].end(), p.end()) {
			continue
		}
		if _, err := t.follow(ctx, t.toTheEnd(append(t.begin(i), p), i+n)); err != nil {
			return err
		}
	}
	for n, late := range t.once {
		if i < t.rounds && n != i%len(t.once) || !t.follows(i, late) {
			continue
		}
		if _, err := t.follow(ctx, append(t.begin(i), t.ways[late])); err != nil {
			return err
		}
	}
	return nil
}

// toTheEnd goes on with a plan from top to top as long as it can; n chooses among the ways.
func (t *trial) toTheEnd(plan []part, n int) []part {
	for len(plan) < 2*len(t.a.joined.tops)+2 {
		last := plan[len(plan)-1].to
		if last == Ended {
			break
		}
		all := slices.DeleteFunc(t.a.partsFrom(last), func(p part) bool {
			return p.to == last || slices.ContainsFunc(plan, func(q part) bool { return !t.after(q.end(), p.end()) })
		})
		if len(all) == 0 {
			break
		}
		plan = append(plan, all[n%len(all)])
	}
	return plan
}

// follows reports whether a round can come after a way, sooner or later.
func (t *trial) follows(way, round int) bool { return t.after(t.ways[way].end(), t.ways[round].end()) }

// mixed is one way followed by the rounds that can follow it, those first after which most others can; and again by
// itself after each of them, if that is a round.
func (t *trial) mixed(i, again int) []part {
	var rounds []int
	left := map[int]int{} // how many rounds can follow
	for j := t.rounds; j < len(t.ways); j++ {
		if !t.follows(i, j) || slices.Contains(t.once, j) {
			continue
		}
		rounds = append(rounds, j)
		for k := t.rounds; k < len(t.ways); k++ {
			if t.follows(j, k) {
				left[j]++
			}
		}
	}
	slices.SortStableFunc(rounds, func(x, y int) int { return left[y] - left[x] })
	plan := t.begin(i)
	for _, j := range rounds {
		if plan = append(plan, t.ways[j]); again >= 0 && t.follows(j, again) {
			plan = append(plan, t.ways[again])
		}
	}
	return plan
}

// follow runs the program along a plan. wrong is the number of a round in which it does something else, but not when what
// cannot have come before is left out; otherwise -1.
func (t *trial) follow(ctx context.Context, plan []part) (wrong int, err error) {
	var edges []edgeKey
	for _, p := range plan {
		edges = append(edges, p.edges...)
	}
	calls, err := t.a.along(func(_ uint32, calls int, _ bool) (edgeKey, *fsfake.Result, error) {
		if calls == len(edges) || calls%100 == 0 && ctx.Err() != nil {
			return edgeKey{}, nil, ctx.Err()
		}
		return edges[calls], edges[calls].result, nil
	})
	if err == nil || ctx.Err() != nil {
		return -1, err
	}
	is := edges[max(calls-1, 0)]
	at := is.from
	if e := t.a.edges[is]; e.To > Ended && t.a.nodes[e.To&^Begun].parent == is.from && t.a.nodes[e.To&^Begun].via == is.result {
		at = e.To &^ Begun
	}
	var possible []part
	n := 0
	for ; n < len(plan) && calls > len(plan[n].edges); n++ {
		if calls -= len(plan[n].edges); n == 0 || t.after(plan[n].end(), at) {
			possible = append(possible, plan[n])
		}
	}
	if len(possible) == n {
		return -1, fmt.Errorf("%w: %w", ErrCarriesOver, err)
	}
	if _, err := t.follow(ctx, append(possible, plan[n])); err != nil {
		return -1, err
	}
	return plan[n].round, nil
}
