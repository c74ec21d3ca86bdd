package bruteforce

import (
	"errors"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A slot is a task's place in the space.
type slot struct {
	process, n int
	id         fsfake.Task
	choice     sched.Choice
}

// A state is everything that decides what can happen next. States are values: a step makes
// a new one.
type state struct {
	m       *fsfake.Machine
	tasks   []actor
	history history
	cells   [][]cell // by process
	// shown lists, by process, the files whose inode numbers it was told: number n is at n-1, and
	// 0 stands for a number that is free again. Numbers are handed out from the lowest. They stay
	// while a task of the process may compare them, which is all that depends on them; for
	// starvation they stay for ever, as its lap ends where nothing at all is different.
	shown   [][]fsfake.InodeID
	crashes int // left
	failing int
	signals int
	stalls  int
	rest    time.Duration // of a stall that has begun
	base    int64         // see sleep.go
	dead    []int         // who was killed, in order; never changed in place
}

// An actor is a task in a state.
type actor struct {
	*task
	gone    bool  // its process has exited or was killed
	dormant bool  // nobody has started it
	begun   bool  // it is punctual, and has made a call
	wakes   int64 // and sleeps until then, in nanoseconds; 0: it does not
	blocked *waiting
	held    []holding // by path
	// Where sleeps last: until when it sleeps, the end of its last sleep while nobody knows of it, and
	// for each loop that it is in whether this round has changed something. Never changed in place.
	until, lead int64
	changed     []bool
}

// A waiting is a call that has begun. What the machine keeps of it cannot be looked at, so it
// is remembered here.
type waiting struct {
	file   fsfake.InodeID
	fd     int
	closed bool   // the descriptor was closed meanwhile
	on     string // the locks that were there when it began
}

// A holding is a lock that a task holds: its name, the object acquired last, and how often it was
// acquired and not released.
type holding struct {
	path  string
	file  fsfake.InodeID
	times int
}

// holding adds a lock that was acquired; the slice is not changed in place.
func (a *actor) holding(h holding) {
	out := make([]holding, 0, len(a.held)+1)
	h.times = 1
	for _, k := range a.held {
		if k.path == h.path {
			h.times += k.times
		} else {
			out = append(out, k)
		}
	}
	out = append(out, h)
	slices.SortFunc(out, func(a, b holding) int { return strings.Compare(a.path, b.path) })
	a.held = out
}

// letGo takes a lock away once.
func (a *actor) letGo(path string) {
	var out []holding
	for _, k := range a.held {
		if k.path == path {
			k.times--
		}
		if k.times > 0 {
			out = append(out, k)
		}
	}
	a.held = out
}

type cell struct {
	name  string
	value int
}

// space is what is the same in all states.
type space struct {
	p        *Protocol
	property *scenarios.Property
	slots    []slot
	judge    *judge            // nil for a property that is not judged by history
	start    []fsfake.NameView // what is on the disk at first
	serial   map[string]bool   // what serial runs leave behind; nil where nobody asks
}

// ErrNotModelled is the error of [Solve] for a protocol that makes a call which the machine
// does not model.
var ErrNotModelled = errors.New("a call is not modelled")

// ErrSpins is the error of [Solve] for a protocol in which a task can go round over a cell for
// ever in one turn of its event loop. That is a deadlock, and for another property no answer.
var ErrSpins = errors.New("bruteforce: a task goes round over a cell for ever")

func newSpace(p *Protocol, property *scenarios.Property) (*space, *state, error) {
	x := &space{p: p, property: property, judge: newJudge(property)}
	s := &state{
		m: p.Scenario().NewMachine(), crashes: p.Crashes, stalls: p.Stalls, failing: p.Failing, signals: p.Signals,
		cells: make([][]cell, len(p.Programs)), shown: make([][]fsfake.InodeID, len(p.Programs)),
	}
	x.start = s.m.Tree()
	for i := range p.Programs {
		tasks := p.tasks(i)
		for n := range tasks {
			x.slots = append(x.slots, slot{
				process: i, n: n + 1, id: fsfake.Task{Pid: 101 + i, N: n + 1},
				choice: sched.Choice{Action: sched.Run, Task: sched.Task{Process: i, N: n + 1}},
			})
			t, err := newTask(compile(tasks[n]), processName(i))
			if err != nil {
				return nil, nil, err
			}
			t.trails = property == scenarios.Starvation
			s.tasks = append(s.tasks, actor{task: t, dormant: p.dormant(i, n+1)})
			if !p.dormant(i, n+1) {
				s.turn(len(s.tasks) - 1)
			}
		}
	}
	s.history = make(history, len(x.slots)+len(p.Programs))
	x.lasts(s)
	return x, s, nil
}

func processName(i int) string { return string(rune('A' + i)) }

// clone is a copy that a step may change.
func (s *state) clone() *state {
	c := *s
	c.m = s.m.Clone()
	c.tasks = append([]actor(nil), s.tasks...)
	c.history = append(history(nil), s.history...)
	c.cells = append([][]cell(nil), s.cells...)
	c.shown = append([][]fsfake.InodeID(nil), s.shown...)
	return &c
}
