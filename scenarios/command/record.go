package command

import (
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/model"
	"lockpick/scenarios"
)

// A record is what the commands of a scenario have done in executions so far: for each process
// a tree, whose edges are answers. Each claim is decided by learning the commands anew, and all
// learn the same; what has been executed is taken from the record then. The package documentation says
// what a verdict may rest on (Executions). Who only learns what a command does is served what was seen
// once: all that is learned is asked once more before a verdict. Every execution compares what it does
// with what was recorded, so that a command that is no function of its answers is an error.
type record struct {
	inTime *record // of one that is shared: where looks at clocks are calls
	orders int     // that were followed, of commands that run alone, beside the first of each
	// changes are what commands change that run alone.
	changes fsfake.Footprint
	threads bool // of one process have made calls, in a command that ran alone
	acts    bool // some command has made a call on which others may hang, when it ran alone
	// fewerOrders: some execution had children or threads, and orders of their calls were left out (reduce.go).
	fewerOrders bool
	mu          sync.Mutex
	calls       int  // of the execution that has made most, to the system
	random      bool // some execution has drawn numbers, see [tracer.Run.Draws]
	roots       map[start]*place
	twins       map[twin]*runs
	whole       map[twin]*bool
	bytes       int
	full        bool // some place was not taken
	// lineages counts the executions that were started.
	lineages int
	// outside are the files outside of the virtual directory that executions have changed or locked,
	// unlike the calls that were refused although every kernel makes them, refused all that were.
	outside, unlike, refused map[string]bool
	// madeOfTime: names and contents differed when time had passed, and nothing else.
	madeOfTime  bool
	programsRun map[string]bool // files of the programs that were executed
	programs    *programs       // what /proc tells of each command
	// compared counts the executions from the start that went to their ends where only clones had been, see trusts.
	compared int
	late     map[start]*lateness // where each looked at the clock; see clocks.go
	lateTries
	drawn   map[seeded]bool   // tried with other random numbers, which do not matter
	ordered map[twin]bool     // ends of paths that were repeated with file times in another order
	undated map[dating]string // long texts without their dates
	// firsts: the beginning or the end of a process went before other calls of its command. looks: somebody could tell,
	// for he looked at processes that commands had started, or compares what these print.
	firsts, looks bool
	// rootFirsts: the first process of a command was it whose call went first. signals: a command has sent another's
	// first process a signal, to which it matters what that has done.
	rootFirsts, signals bool
	oneOrder            string // where only one order was followed, of several places the first in the order of texts
	// sought are more children, by number, that are to be [Spec.sought].
	sought map[int]bool
}

// maxRecorded bounds a record, in bytes, about.
const maxRecorded = 128 << 20

// A place is where a command is after some answers: what it notes there, and its next call.
type place struct {
	notes []any
	op    fsfake.Op
	ended bool
	exit  tracer.Exit // then
	// children is how many run. Without one a kill of the first process ends the command. apart and looked are what a
	// kill hangs on where there are some, chooser who chooses; see bereft.go.
	children      int
	apart, looked bool
	chooser       fsfake.Task
	next          map[fsfake.Result]*place
	runs          int // of this process, that have come here
	// before is the place before, via the answer that led here from it, depth how many did; first is the next
	// place that was learned first.
	before, first *place
	via           fsfake.Result
	depth         int
	twin          twin // of this place
	// memory is what the command remembered here when somebody asked, see [tracer.Run.Memory].
	memory string
	// state is the same of all that the command hangs on, see [tracer.Run.State].
	state string
	// together are the runs that have come here of all processes with the same command, which
	// did the same up to here.
	together *runs
	calls    twin // of what was asked up to here, without the answers
	// whole says that an execution from the start, never cloned, has asked the same up to here.
	whole *bool
}

// A runs is who has come to a place. All clones of one execution are of its lineage.
type runs struct {
	lineage int  // of the first
	more    bool // some were of another lineage
}

func (r *runs) add(d *driver) {
	if r.lineage == 0 {
		r.lineage = d.lineage
	}
	r.more = r.more || r.lineage != d.lineage
}

// A twin names a place among those of processes that run the same command: it sums up the
// command, and all that was asked and answered on the way.
type twin [sha256.Size]byte

// A start is a process and what it runs: another scenario may run something else as that process.
type start struct {
	process int
	command string
}

func (s *Spec) start(process int) start {
	return start{process, s.Commands[process].String() + "\x00" + s.Commands[process].Stdin}
}

func newRecord() *record {
	return &record{programs: newPrograms(),
		roots: map[start]*place{}, twins: map[twin]*runs{}, whole: map[twin]*bool{},
		outside: map[string]bool{}, unlike: map[string]bool{}, refused: map[string]bool{},
		programsRun: map[string]bool{}, late: map[start]*lateness{}, sought: map[int]bool{},
		lateTries: lateTries{map[twin]bool{}, map[twin]bool{}, map[twin]bool{}}, drawn: map[seeded]bool{},
		ordered: map[twin]bool{}}
}

// begin returns where a process begins, as far as that may be served; else nil. Who learns is served
// what has been seen once.
func (r *record) begin(at start, learns bool) *place {
	r.mu.Lock()
	defer r.mu.Unlock()
	return served(r.roots[at], learns)
}

// after returns where an answer leads, as far as that may be served; else nil.
func (r *record) after(at *place, answer fsfake.Result, learns bool) *place {
	r.mu.Lock()
	defer r.mu.Unlock()
	return served(at.next[answer], learns)
}

func served(p *place, learns bool) *place {
	if p == nil || p.runs == 0 || !learns && !(p.together.more && *p.whole) {
		return nil
	}
	return p
}

// mayClone reports whether a second execution of what is known of a command, beyond a place and the
// last answer there, may be a clone, of another start than the first: executions from the start, never
// cloned, have made all the calls that it can come to, or so many of them that clones are trusted.
func (r *record) mayClone(d *driver, last *place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.roots[d.spec.start(d.process)]
	if last != nil {
		at = last.next[d.told[len(d.told)-1]]
	}
	return r.trusts() || at != nil && !r.full && at.wholeBelow()
}

func (p *place) wholeBelow() bool {
	for _, next := range p.next { // order does not matter: all of them
		if !next.wholeBelow() {
			return false
		}
	}
	return *p.whole
}

// started is how many executions were.
func (r *record) started() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lineages
}

// begins counts an execution that is started.
func (r *record) begins() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lineages++
	return r.lineages
}

// come notes that an execution of a command has come to a place, after an answer at the place
// before. It returns nil when there is no room for it. The error is that the command did
// something else after the same answers.
func (r *record) come(d *driver, is *place) (*place, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	several := is.op.Call == fsfake.CallForkAs || is.op.Call == fsfake.CallChoose ||
		slices.ContainsFunc(is.notes, func(v any) bool { _, by := v.(scenarios.By); return by })
	r.fewerOrders = r.fewerOrders || several && d.reduces()
	var was *place
	if d.calls == 0 {
		was = r.roots[d.spec.start(d.process)]
	} else if d.at != nil {
		was = d.at.next[d.answer]
	}
	if was != nil {
		if !d.same(was, is) {
			return nil, d.differs(was, is)
		}
		if is.ended && !d.cloned && !*was.whole {
			r.compared++
		}
		was.add(d, r.trusts())
		return was, nil
	}
	if d.t.Learning != nil && d.t.Learning.Tries {
		return nil, nil
	}
	size := placeBytes + len(is.op.Data) + len(d.answer.Data)
	if d.calls > 0 && d.at == nil || r.bytes+size > maxRecorded {
		r.full = true
		return nil, nil
	}
	r.bytes += size
	is.next = map[fsfake.Result]*place{}
	is.twin, is.calls = d.twins(is)
	if r.twins[is.twin] == nil {
		r.twins[is.twin] = &runs{}
	}
	if r.whole[is.calls] == nil {
		r.whole[is.calls] = new(bool)
	}
	is.together, is.whole = r.twins[is.twin], r.whole[is.calls]
	is.add(d, false)
	if d.calls == 0 {
		r.roots[d.spec.start(d.process)] = is
	} else {
		d.at.next[d.answer] = is
		is.before, is.via, is.depth = d.at, d.answer, d.at.depth+1
		if d.at.first == nil {
			d.at.first = is
		}
	}
	r.lateness(d.spec.start(d.process)).add(is)
	return is, nil
}

// memory says what the command remembers at its next call, or nothing. It is asked once at each place.
func (d *driver) memory() string {
	at := d.serves
	if at == nil {
		at = d.at
	}
	if at == nil || d.spec.record.full {
		return ""
	}
	if at.memory == "" && d.serves == nil {
		at.memory = d.run.Memory()
	}
	return at.memory
}

// state is memory of all that the command hangs on.
func (d *driver) state() string {
	at := d.serves
	if at == nil {
		at = d.at
	}
	if at == nil || d.spec.record.full {
		return ""
	}
	if at.state == "" && d.serves == nil {
		if at.state = d.run.State(); at.state != "" {
			at.state += fmt.Sprint(d.children, d.killed, d.inside, d.markDir, d.acquires, d.changed, d.stands, d.resting,
				d.records, d.wentOff)
		}
	}
	return at.state
}

// add notes that an execution has come to the place.
func (p *place) add(d *driver, trusts bool) {
	p.runs++
	p.together.add(d)
	*p.whole = *p.whole || !d.cloned || trusts
}

// manyCompared is how many ends of clones executions from the start have come to, as clones did, before what clones do
// is believed of the others.
const manyCompared = 100

// trusts reports whether a clone may stand for an execution from the start. A program that counts its attempts has
// hundreds of paths on which it makes other calls.
func (r *record) trusts() bool { return r.compared >= manyCompared }

// placeBytes is about what a place takes beside texts.
const placeBytes = 1300

// told names what comes at a place.
func (p *place) told() string {
	if p.ended {
		return "the end of the program"
	}
	return p.op.String()
}

// differs says that two executions have come to two places by the same answers.
func (d *driver) differs(was, is *place) error {
	how := fmt.Sprintf("its next call was first %q, then %q; does it draw random names, look at the time or at what "+
		"differs elsewhere, or do its threads race? Does it look at the name of a child of another command below "+
		"/proc?", was.told(), is.told())
	if was.told() == is.told() {
		how = fmt.Sprintf("its next call was %q, but another thread made it, or other calls or timers stood beside it "+
			"than before: its threads race, and lockpick cannot follow them", is.told())
	}
	return notModelled{fmt.Errorf("%s (%s) is not a function of what its calls answer: after the same %d answers %s",
		d.t.Process, d.spec.Commands[d.process], d.calls, how)}
}

// same reports whether two executions do the same at a place. What they write to their standard
// error is not compared.
func (d *driver) same(x, y *place) bool {
	return x.op == y.op && x.ended == y.ended && slices.Equal(compared(x.notes), compared(y.notes))
}

func compared(notes []any) []any {
	return slices.DeleteFunc(slices.Clone(notes), func(v any) bool {
		_, is := v.(said)
		return is
	})
}

// twins sum up how the command has come to a place: with the answers, and without.
func (d *driver) twins(p *place) (all, calls twin) {
	h, c := sha256.New(), sha256.New()
	both := io.MultiWriter(h, c)
	if d.calls == 0 {
		l := d.spec.Commands[d.process]
		fmt.Fprintf(both, "%q %q\n", l.argv(), l.Stdin)
	} else {
		answer := d.answer
		if d.at.op.Call == fsfake.CallForkAs {
			answer.N = int64(d.anonymous(int(answer.N)))
		}
		answer.Data = d.anonymousText(answer.Data)
		numbers := d.anonymousText(fmt.Sprint(answer.Stat.Ino, answer.Value)) // which have pids in them
		answer.Stat.Ino, answer.Value = 0, nil
		h.Write(d.at.twin[:])
		c.Write(d.at.calls[:])
		fmt.Fprintf(h, "%#v %s\n", answer, numbers)
	}
	for _, v := range compared(p.notes) {
		fmt.Fprintf(both, "%#v\n", d.anonymousNote(v))
	}
	op := p.op
	op.Pid = d.anonymous(op.Pid)
	op.Path, op.Path2, op.Data = d.anonymousText(op.Path), d.anonymousText(op.Path2), d.anonymousText(op.Data)
	fmt.Fprintf(both, "%t %#v\n", p.ended, op)
	return twin(h.Sum(nil)), twin(c.Sum(nil))
}

// anonymousNote is what a command notes, without saying which process it is.
func (d *driver) anonymousNote(v any) any {
	switch n := v.(type) {
	case scenarios.By:
		n.Task.Pid = d.anonymous(n.Task.Pid)
		return n
	case scenarios.Invoked:
		switch input := n.Input.(type) {
		case model.Acquire:
			input.Owner = ""
			n.Input = input
		case model.Release:
			input.Owner = ""
			n.Input = input
		}
		return n
	}
	return v
}

// anonymous is a pid of the command without saying of which process: a number that is no pid.
func (d *driver) anonymous(pid int) int {
	switch {
	case pid == d.root:
		return -1 << 40
	case pid/scenarios.ChildPids == d.root:
		return -1<<40 - pid%scenarios.ChildPids
	}
	return pid
}

// anonymousText is a text in which every number that is a pid of the command is replaced. So two
// processes did the same that have written their own pids, or made files with them in the names. The pid
// of a child has so many digits that more may follow: dotlockfile appends the time.
func (d *driver) anonymousText(text string) string {
	children := len(strconv.Itoa(d.root * scenarios.ChildPids))
	return decimals.ReplaceAllStringFunc(text, func(digits string) string {
		rest := ""
		if len(digits) > children {
			digits, rest = digits[:children], digits[children:]
		}
		n, err := strconv.Atoi(digits)
		if is := d.anonymous(n); err == nil && is != n {
			digits = fmt.Sprintf("\x00%d\x00", is)
		}
		return digits + rest
	})
}

// decimals are the numbers in a text.
var decimals = regexp.MustCompile("[0-9]+")
