package site

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// mostMoves is how many moves a page carries at most.
const mostMoves = 4_000

// A try is the part of a page in which one chooses who takes the next step: everything that
// can happen in the scenario, as the engine explored it and as live runs show it.
type try struct {
	Property string
	// States and Moves count what is in the data.
	States, Moves int
	// Most is how many moves a page may have; when there are more, there is no data.
	Most int
	// Command replays a schedule of one's own; it has an example in it.
	Command string
	// Example: there is a counterexample to follow.
	Example bool
	Lanes   []tryLane
	Data    template.JS
}

// newTry is nil where there is nothing to try: a real program, a scenario that cannot be run, or
// nothing asked that a schedule answers.
func newTry(w *row, o report.Options) (*try, error) {
	r := subject(w)
	if r == nil || r.Scenario.Expensive() || r.Scenario.Validate() != nil {
		return nil, nil
	}
	before, after, _ := strings.Cut(report.ReplayCommand(told(r, nil), o), "''")
	t := &try{Property: r.Property.ID, Most: mostMoves}
	example := sched.Schedule{{Action: sched.Run}}
	if r.Counterexample != nil {
		example = r.Counterexample.Schedule
	}
	t.Command = before + "'" + example.String() + "'" + after
	places, err := checker.Places(context.Background(), r.Scenario, r.Property, mostMoves)
	if err != nil || places == nil {
		return t, err
	}
	u, err := unfold(r.Scenario, r.Property, places)
	if err != nil || u == nil {
		return t, err
	}
	u.data.Before, u.data.After = before, after
	if r.Counterexample != nil {
		t.Example, u.data.Example = true, example.String()
	}
	text, err := json.Marshal(&u.data)
	t.States, t.Moves, t.Lanes = len(u.data.Nodes), u.moves, u.data.Lanes
	t.Data = template.JS(text) //nolint:gosec // Marshal escapes <, > and &
	return t, err
}

// subject is the result that is tried: the first that a schedule can break, and of those the
// first that is broken.
func subject(w *row) *checker.Result {
	var first *checker.Result
	for _, r := range w.Results {
		if r.Property.OfCycles() {
			continue
		}
		if first == nil || first.Verdict != checker.Broken && r.Verdict == checker.Broken {
			first = r
		}
	}
	return first
}

// told is a result with another schedule.
func told(r *checker.Result, s sched.Schedule) *checker.Result {
	out := *r
	out.Counterexample = &trace.Counterexample{Property: r.Property, Schedule: s}
	return &out
}

// tryData is what the page's script reads. Texts and tables are kept once and named by their
// numbers; number 0 is the empty one.
type tryData struct {
	Property string `json:"property"`
	// Before and After are the command around the schedule, and Example is the schedule of
	// the counterexample, if there is one.
	Before  string `json:"before"`
	After   string `json:"after"`
	Example string `json:"example,omitempty"`
	// Late: only what nothing follows is judged; whoever polls for ever in vain is not noticed.
	Late   bool      `json:"late,omitempty"`
	Dir    string    `json:"dir"`
	Lanes  []tryLane `json:"lanes"`
	Texts  []string  `json:"texts"`
	Tables [][][]int `json:"tables"`
	Nodes  []tryNode `json:"nodes"`
}

type tryLane struct {
	Name string `json:"name"`
	Ink  int    `json:"ink"`
}

// A tryNode is a state as it is shown. Holders, Clock and Wrong are texts; Files (name, inode,
// contents, links, open in, locked; only a name where there is no file), FDs (owner, fd, inode,
// name, mode, offset, lock), Cells (owner, name, value) and Gone (name, how) are tables.
type tryNode struct {
	Holders int  `json:"h"`
	Clash   bool `json:"x,omitempty"`
	Nobody  bool `json:"n,omitempty"`
	Files   int  `json:"f,omitempty"`
	FDs     int  `json:"d,omitempty"`
	Cells   int  `json:"c,omitempty"`
	Gone    int  `json:"g,omitempty"`
	Clock   int  `json:"t,omitempty"`
	// Broken: the property is broken here, and Wrong says what is wrong.
	Broken bool      `json:"b,omitempty"`
	Wrong  int       `json:"w,omitempty"`
	Moves  []tryMove `json:"m,omitempty"`
}

// A tryMove is: what happens (see kinds), who does it (the number of a lane) or the state of the
// disk, the node that it leads to, and the table of the calls (call, answer, and 1 when it
// failed, 2 when it is the answer of an operation).
type tryMove [4]int

// The kinds of moves.
const (
	tryRun = iota
	tryKill
	tryStall
	tryPowerLoss
	trySignal
)

// An unfolding makes nodes of states. What is shown of a state may depend on the way to it, as
// files are counted in the order in which they come up; then it is several nodes.
type unfolding struct {
	sc     *scenarios.Scenario
	p      *scenarios.Property
	places []checker.Place
	runner *checker.Runner
	data   tryData
	texts  map[string]int
	tables map[string]int
	nodes  map[string]int
	// at says of each node which state it is, ways how it was reached first, through which
	// nodes, and done which of the state's moves are in it.
	at   []int
	ways []way
	done [][]bool
	open []int // nodes that may have moves that are not done
	// walked are the moves of states that some node has.
	walked map[[2]int]bool
	moves  int // of all nodes, done or not
}

// A way is a schedule and the nodes before each choice.
type way struct {
	schedule sched.Schedule
	nodes    []int
}

// broken stands for the states that moves lead to which break the property.
const broken = -1

// unfold makes the data of places; nil when there are too many moves to show.
func unfold(sc *scenarios.Scenario, p *scenarios.Property, places []checker.Place) (*unfolding, error) {
	runner, err := checker.NewRunner(sc, p)
	if err != nil {
		return nil, err
	}
	u := &unfolding{
		sc: sc, p: p, places: places, runner: runner,
		texts: map[string]int{"": 0}, tables: map[string]int{}, nodes: map[string]int{}, walked: map[[2]int]bool{},
		data: tryData{Property: p.ID, Late: p.Judgement() == scenarios.ByGraph, Texts: []string{""}, Tables: [][][]int{{}}},
	}
	if err := u.run(0, nil); err != nil {
		return nil, err
	}
	for len(u.open) > 0 && u.moves <= mostMoves {
		n := u.open[len(u.open)-1]
		k := u.next(n)
		if k < 0 {
			u.open = u.open[:len(u.open)-1]
			continue
		}
		if err := u.run(n, u.onwards(u.at[n], k)); err != nil {
			return nil, err
		}
	}
	if u.moves > mostMoves {
		return nil, nil
	}
	return u, nil
}

// next is the first move of a node that is not done, or -1.
func (u *unfolding) next(n int) int {
	for k, done := range u.done[n] {
		if !done {
			return k
		}
	}
	return -1
}

// onwards goes on from a state by one of its moves, and then by moves that no run has shown
// yet, as long as there are any: one run shows many.
func (u *unfolding) onwards(state, k int) sched.Schedule {
	var out sched.Schedule
	for {
		m := u.places[state].Moves[k]
		out = append(out, m.Choice)
		u.walked[[2]int{state, k}] = true
		if m.To < 0 {
			return out
		}
		state, k = m.To, 0
		for k < len(u.places[state].Moves) && u.walked[[2]int{state, k}] {
			k++
		}
		if k == len(u.places[state].Moves) {
			return out
		}
	}
}

// run makes nodes and moves of a live run that goes to a node and then on.
func (u *unfolding) run(n int, onwards sched.Schedule) error {
	var w way
	if n < len(u.ways) {
		w = u.ways[n]
	}
	before := len(w.schedule)
	ran, err := u.runner.Run(sched.Replay{Schedule: append(w.schedule[:before:before], onwards...)}, true)
	if err != nil {
		return fmt.Errorf("site: %s: %w", u.sc.ID, err)
	}
	cx := &trace.Counterexample{Property: u.p, Schedule: ran.Schedule, Trace: ran.Trace, Waits: ran.Waits}
	var violation *trace.Counterexample
	if ran.Broken {
		told, err := u.runner.Replay(ran.Schedule)
		if err != nil {
			return fmt.Errorf("site: %s: %w", u.sc.ID, err)
		}
		violation = told.Counterexample
	}
	chart := report.NewChartSoFar(u.sc, cx, violation)
	states := soFar(u.sc, chart)
	if len(u.ways) == 0 {
		u.data.Dir = chart.Dir
		for _, l := range chart.Lanes {
			u.data.Lanes = append(u.data.Lanes, tryLane{l.Name, l.Task.Process % inks})
		}
		u.node(0, way{}, &states[0], "")
	}
	w = way{ran.Schedule, append(w.nodes[:before:before], n)}
	for i := before; i < len(ran.Schedule); i++ {
		if n, err = u.step(n, i, w, ran.Broken, chart, &states[i+1]); err != nil {
			return err
		}
		w.nodes = append(w.nodes, n)
	}
	return nil
}

// step adds a step of a run, the i-th of a way, to the moves of a node, and returns the node
// that it leads to.
func (u *unfolding) step(n, i int, w way, breaks bool, chart *report.Chart, after *state) (int, error) {
	c, last := w.schedule[i], i == len(w.schedule)-1
	k := u.move(u.at[n], c)
	if k < 0 {
		return 0, fmt.Errorf("site: %s: a run goes on with %s after %q, and the graph does not: this is a fault of lockpick",
			u.sc.ID, c, w.schedule[:i])
	}
	to, wrong := u.places[u.at[n]].Moves[k].To, ""
	if (to < 0 || u.places[to].Broken) != (last && breaks) {
		return 0, fmt.Errorf("site: %s: a run and the graph do not agree that %q breaks %s: this is a fault of lockpick",
			u.sc.ID, w.schedule[:i+1], u.p)
	}
	if last {
		wrong = chart.Wrong
	}
	next := u.node(to, way{w.schedule[:i+1], w.nodes[: i+1 : i+1]}, after, wrong)
	if !u.done[n][k] {
		u.done[n][k] = true
		u.data.Nodes[n].Moves = append(u.data.Nodes[n].Moves, u.told(c, chart, &chart.Rows[i], next))
	}
	return next, nil
}

// soFar are the states of a run of which more may follow.
func soFar(sc *scenarios.Scenario, chart *report.Chart) []state {
	v := &viewer{walk: chart.Walk, moves: sc.Setting.Stalls > 0, soFar: true}
	return v.states(chart)
}

// move is the number of a choice among a state's moves, or -1.
func (u *unfolding) move(state int, c sched.Choice) int {
	if state == broken {
		return -1
	}
	for k, m := range u.places[state].Moves {
		if m.Choice == c {
			return k
		}
	}
	return -1
}

// told is a move as the page shows it.
func (u *unfolding) told(c sched.Choice, chart *report.Chart, r *report.Row, to int) tryMove {
	m := tryMove{tryRun, max(r.Lane, 0), to, 0}
	switch c.Action {
	case sched.Kill:
		m[0] = tryKill
	case sched.Stall:
		m[0] = tryStall
	case sched.PowerLoss:
		m[0], m[1] = tryPowerLoss, c.State
	case sched.Signal:
		m[0] = trySignal
	}
	var calls [][]int
	for _, call := range r.Calls {
		kind := 0
		if call.Failed {
			kind = 1
		}
		if call.Operation {
			kind = 2
		}
		calls = append(calls, []int{u.text(call.Call), u.text(call.Answer), kind})
	}
	m[3] = u.table(calls)
	return m
}

// node is the number of the node that shows a state, which is made when it is new.
func (u *unfolding) node(state int, w way, s *state, wrong string) int {
	n := u.shown(s)
	n.Broken = state == broken || u.places[state].Broken
	n.Wrong = u.text(wrong)
	k, _ := json.Marshal(&n)
	key := fmt.Sprintf("%d %d %s", state, s.known, k)
	if i, ok := u.nodes[key]; ok {
		return i
	}
	i := len(u.data.Nodes)
	u.nodes[key] = i
	u.data.Nodes = append(u.data.Nodes, n)
	u.at, u.ways = append(u.at, state), append(u.ways, w)
	var done []bool
	if state != broken {
		done = make([]bool, len(u.places[state].Moves))
		u.moves += len(done)
		u.open = append(u.open, i)
	}
	u.done = append(u.done, done)
	return i
}

// shown is a state without its moves.
func (u *unfolding) shown(s *state) tryNode {
	n := tryNode{Holders: u.text(s.HoldersText()), Clash: s.Clash, Nobody: len(s.Holders) == 0, Clock: u.text(s.Clock)}
	var files, fds, cells, gone [][]int
	for i := range s.Files {
		f := &s.Files[i]
		if !f.Exists {
			files = append(files, u.row(f.Name))
			continue
		}
		files = append(files, u.row(f.Name, f.Inode.Text, f.Content.Text, f.Links.Text, f.Openers.Text, f.Locked.Text))
	}
	for i := range s.FDs {
		f := &s.FDs[i]
		fds = append(fds, u.row(f.Owner, fmt.Sprint(f.FD), f.Inode, f.Name, f.Mode, f.Offset, f.Lock))
	}
	for i := range s.Cells {
		cells = append(cells, u.row(s.Cells[i].Owner, s.Cells[i].Cell, s.Cells[i].Value.Text))
	}
	for _, g := range s.Gone {
		gone = append(gone, u.row(g.Name, g.How))
	}
	n.Files, n.FDs, n.Cells, n.Gone = u.table(files), u.table(fds), u.table(cells), u.table(gone)
	return n
}

func (u *unfolding) row(texts ...string) []int {
	out := make([]int, len(texts))
	for i, t := range texts {
		out[i] = u.text(t)
	}
	return out
}

// text is the number of a text, such as can be shown.
func (u *unfolding) text(s string) int {
	s = report.Visible(s)
	return numbered(u.texts, s, &u.data.Texts, s)
}

// table is the number of a table.
func (u *unfolding) table(rows [][]int) int {
	if len(rows) == 0 {
		return 0
	}
	return numbered(u.tables, fmt.Sprint(rows), &u.data.Tables, rows)
}

// numbered is the number of what has a key, in a list that has each once.
func numbered[T any](known map[string]int, key string, list *[]T, one T) int {
	n, ok := known[key]
	if !ok {
		n = len(*list)
		known[key], *list = n, append(*list, one)
	}
	return n
}
