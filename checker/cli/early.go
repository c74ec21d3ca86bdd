package cli

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
)

// early is what is known before a verdict is final. On a terminal a counterexample is shown a second after it was
// found, unless the verdict comes first: what follows, smaller schedules and native runs, may take minutes.
type early struct {
	mu      sync.Mutex // the terminal asks from elsewhere, and so does who gives up
	text    string
	since   time.Time
	differs bool // a broken verdict has been shown
	// shown: a counterexample without a final verdict was. within is what holds so far, "" for nothing.
	shown  bool
	within string
	held   string // verdicts that hold, and that are shown last
	doing  string // what is under way
}

// earlyAfter is how long a final verdict is waited for.
const earlyAfter = 800 * time.Millisecond

// found keeps a counterexample until it is due.
func (e *early) found(r *checker.Result, o report.Options) {
	r.Claimed = false
	var b strings.Builder
	b.WriteString("First counterexample, as it was found. lockpick now looks for a smaller one, " +
		"and then tries it natively.\n\n")
	if report.Timeline(&b, r, o) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text, e.since = b.String(), time.Now()
}

// takeBack forgets a counterexample that was none, and says so of one that was shown.
func (e *early) takeBack() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text = ""; e.shown {
		e.text = "The schedule above breaks nothing: the commands can end like that one after the other, too, " +
			"in another order of their own calls. lockpick goes on.\n"
		e.since = time.Time{}
	}
}

// due is what is to be shown now; "" for nothing.
func (e *early) due() (text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "" && time.Since(e.since) >= earlyAfter {
		text, e.text, e.shown = e.text, "", true
	}
	return text
}

// bound notes what holds so far.
func (e *early) bound(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.within = text
}

// at notes what is under way.
func (e *early) at(doing string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doing = doing
}

// rest is what is known and was not shown, for a program that gives up, and what there is to say then.
func (e *early) rest() (text, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, e.text = e.text, ""
	defer func() { text, e.held = e.held+text, "" }()
	switch {
	case text != "" || e.shown:
		why = "stopped: whether the counterexample above stands where clocks move and on this kernel was not known yet"
	case e.within != "":
		why = "stopped, and known so far: " + e.within
	default:
		why = "stopped at: " + cmp.Or(e.doing, "the beginning") + ". What is not shown above has no verdict"
	}
	return text, why
}

// keep adds a verdict that holds to those that are shown last, or with "" forgets them.
func (e *early) keep(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if line == "" {
		e.held = ""
	}
	e.held += line
}

// holding lists the verdicts that hold, and that are shown last.
func (e *early) holding() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.FieldsFunc(e.held, func(r rune) bool { return r == '\n' })
}

// over forgets what has a final verdict now.
func (e *early) over() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text, e.shown, e.within = "", false, ""
}

// broken notes that a broken verdict was shown.
func (e *early) broken(yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.differs = e.differs || yes
}

// exit is the exit code where the program gives up.
func (e *early) exit() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.differs {
		return ExitDiffers
	}
	return ExitUnknown
}

// An effort is how much work verdicts have taken, in counts that are the same on every machine.
type effort struct {
	executions, calls, states int
	was                       checker.Progress // what was told last
}

// An inquiry is what is known of commands from one property to the next: what was tried out, whether a property is
// broken, and the effort until one was. Each property after that may take moreTimes that effort, or least if that is
// more.
type inquiry struct {
	tried       *checker.Tried
	broken      bool
	took, least effort
}

const moreTimes = 8

// newInquiry begins one. The least effort takes most commands a few seconds.
func newInquiry() *inquiry {
	return &inquiry{tried: &checker.Tried{}, least: effort{executions: 200, calls: 6000, states: 200_000}}
}

// follow adds what a search has taken since it told last. Where it counts from the beginning, it is another search.
func (e *effort) follow(g checker.Progress) {
	e.executions += since(g.Executions, e.was.Executions)
	e.calls += since(g.Learned, e.was.Learned)
	e.states += since(g.States, e.was.States)
	e.was = g
}

func since(is, was int) int {
	if is < was {
		return is
	}
	return is - was
}

// beyond says in what an effort for a further property is too much; "" for nothing.
func (q *inquiry) beyond(e *effort) string {
	switch {
	case e.executions > max(q.least.executions, moreTimes*q.took.executions):
		return numbers.Count(e.executions, "run", "runs") + " of the programs"
	case e.calls > max(q.least.calls, moreTimes*q.took.calls):
		return numbers.Count(e.calls, "learned call", "learned calls")
	case e.states > max(q.least.states, moreTimes*q.took.states):
		return numbers.Count(e.states, "state", "states")
	}
	return ""
}

// endedAfter is why a property has no verdict where another is broken.
func endedAfter(what, property string) string {
	const text = "another property is broken, so this one was left after %s; ask it alone with --property %s"
	return fmt.Sprintf(text, what, property)
}
