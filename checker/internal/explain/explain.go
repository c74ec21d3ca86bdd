package explain

import (
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// Explain computes the cause of a counterexample from its trace and writes it there, with
// the steps that it names, the kind of the mistake, and the step whose answer no order of
// the operations explains. What it had been given before goes.
func Explain(sc *scenarios.Scenario, cx *trace.Counterexample) {
	s := newStory(sc, cx)
	cx.Cause, cx.Named, cx.Mistake, cx.Act = "", nil, "", 0
	cx.Blamed = blamed(cx)
	for _, m := range mistakes {
		if t := (&teller{story: s}); m.tell(t) {
			cx.Cause, cx.Named, cx.Mistake, cx.Act = t.text.String(), t.steps, m.name, t.act
			break
		}
	}
	t := &teller{story: s}
	switch t.said(); {
	case t.text.Len() == 0 && cx.Mistake != "":
	case t.text.Len() == 0:
		t.unexplained()
		cx.Cause, cx.Named, cx.Mistake = t.text.String(), t.steps, Unexplained
	default:
		if cx.Mistake == "" {
			cx.Mistake = cx.Property.ID
		}
		cx.Cause, cx.Named = strings.TrimSpace(t.text.String()+" "+cx.Cause), append(t.steps, cx.Named...)
	}
	if f := (&teller{story: s}); cx.Cost.Failing > 0 {
		f.madeToFail()
		cx.Cause, cx.Named = cx.Cause+f.text.String(), append(cx.Named, f.steps...)
	}
}

// madeToFail tells of the calls that failed because the schedule says so.
func (t *teller) madeToFail() {
	for i := range t.walk.Steps {
		if st := &t.walk.Steps[i]; st.Choice.Fails != "" && len(st.Calls) > 0 {
			t.say(" %s's %s was made to fail with %s %s.", st.Choice.Task, t.walk.Names.Call(st.Calls[0].Op), st.Choice.Fails, t.at(st.N))
		}
	}
}

// said tells what an assertion or an invariant says; of an invariant about holders nothing,
// when something better is known.
func (t *teller) said() {
	last, said := t.last(), t.walk.Names.Shorten(t.cx.Said)
	switch {
	case t.cx.Property.Assertions && last != nil:
		t.say("%s asserts %q %s, and it is not so.", last.Choice.Task, said, t.at(last.N))
	case said != "" && (t.cx.Mistake == "" || !t.cx.Property.OfHolders):
		if name, _, _ := strings.Cut(said, " "); !strings.HasSuffix(name, ":") {
			said = upper(said) // it begins with no file's name
		}
		t.say("%s.", said)
	}
}

// A mistake is a shape of what goes wrong: tell tells it, when it is there.
type mistake struct {
	name string
	tell func(*teller) bool
}

// mistakes are tried in this order: what says most about a trace comes first.
var mistakes = []mistake{
	{"wedge", (*teller).wedge},
	{"left behind", (*teller).leftBehind},
	{"deadlock", (*teller).deadlock},
	{"starvation", (*teller).starvation},
	{"power loss", (*teller).powerLoss},
	{"cut short", (*teller).cutShort},
	{"lost kernel lock", (*teller).unlocked},
	{"refused by nobody", (*teller).refused},
	{"half a change", (*teller).torn},
	{"wrong judgement", (*teller).gaveBack},
	{"stale look", (*teller).staleLook},
	{"half a change", (*teller).midway},
	{"stale memory", (*teller).overwritten},
	{"stale memory", (*teller).remembered},
	{"wrong judgement", (*teller).misjudged},
	{"stale memory", (*teller).notReadAgain},
	{"no look", (*teller).blindly},
	{"unread file", (*teller).unread},
	{"two names", (*teller).twoNames},
	{"stale look", (*teller).overtaken},
	{"stale memory", (*teller).wroteTheSame},
	{"no exclusion", (*teller).unguarded},
	{"no exclusion", (*teller).twice},
	{"ignored refusal", (*teller).ignored},
	{"stale look", (*teller).turnedAway},
	{"half a change", (*teller).readAmid},
	{"gave way", (*teller).gaveWay},
	{"interrupted", (*teller).interrupted},
}

// Unexplained is the mistake that a counterexample is given when nothing better is known.
const Unexplained = "unexplained"

// unexplained is what there is to say when nothing better is known.
func (t *teller) unexplained() {
	switch n := len(t.walk.Steps); {
	case n > 0 && t.alone():
		t.say("%s does it alone, %s: nobody else has made a step.", t.last().Choice.Task, t.at(max(t.cx.Blamed, n)))
	case t.cx.Blamed > 0:
		t.say("No order of the operations explains what %s answered %s.", t.blamedStep().Choice.Task, t.at(t.cx.Blamed))
	case n == 0:
		t.say("It is so from the start.")
	default:
		t.say("It is so from step %d on.", n)
	}
}

// alone reports whether one task made every step.
func (s *story) alone() bool {
	first := s.walk.Steps[0].Choice
	return !slices.ContainsFunc(s.walk.Steps, func(st trace.Walked) bool { return st.Choice != first })
}
