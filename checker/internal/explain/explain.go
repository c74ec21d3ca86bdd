package explain

import (
	"cmp"
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
	cx.Cause, cx.Named, cx.Mistake, cx.Act, cx.Code = "", nil, "", 0, trace.Unexplained
	cx.Blamed = blamed(cx)
	for _, m := range mistakes {
		if t := (&teller{story: s}); m.tell(t) {
			cx.Cause, cx.Named, cx.Mistake, cx.Act = t.text.String(), t.steps, m.name, t.act
			cx.Code = cmp.Or(t.code, m.code)
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
	case t.cx.Asked && t.cx.Mistake != "":
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
	code string // the kind of cause; see trace.Kinds
	tell func(*teller) bool
}

// mistakes are tried in this order: what says most about a trace comes first.
var mistakes = []mistake{
	{"refusal", "LP1027", (*teller).questioned},
	{"signal", "LP1030", (*teller).killed},
	{"wedge", "LP1020", (*teller).wedge},
	{"left behind", "LP1020", (*teller).leftBehind},
	{"deadlock", "LP1021", (*teller).deadlock},
	{"starvation", "LP1022", (*teller).starvation},
	{"power loss", "LP1023", (*teller).powerLoss},
	{"cut short", "LP1024", (*teller).cutShort},
	{"lost kernel lock", "LP1004", (*teller).unlocked},
	{"refused by nobody", "LP1025", (*teller).refused},
	{"half a change", "LP1014", (*teller).torn},
	{"wrong judgement", "LP1015", (*teller).gaveBack},
	{"stale look", "LP1002", func(t *teller) bool { return t.staleUse(t.counting(t.stale)) }},
	{"half a change", "LP1014", (*teller).midway},
	{"stale memory", "LP1002", (*teller).overwritten},
	{"stale memory", "LP1017", (*teller).remembered},
	{"wrong judgement", "LP1015", (*teller).misjudged},
	{"stale memory", "LP1002", (*teller).notReadAgain},
	{"two drafts", "LP1018", (*teller).readBack},
	{"no look", "LP1002", (*teller).blindly},
	{"unread file", "LP1002", (*teller).unread},
	{"two names", "LP1010", (*teller).twoNames},
	{"stale look", "LP1001", (*teller).overtaken},
	{"stale memory", "LP1002", (*teller).wroteTheSame},
	{"no exclusion", "LP1012", (*teller).unguarded},
	{"no exclusion", "LP1012", (*teller).twice},
	{"ignored refusal", "LP1008", (*teller).ignored},
	{"stale look", "LP1026", (*teller).turnedAway},
	{"signal", "LP1030", (*teller).disturbed},
	{"half a change", "LP1014", (*teller).readAmid},
	{"goes on", "LP1028", (*teller).outlives},
	{"refusal", "LP1027", (*teller).turnedDown},
	{"gave way", "LP1019", (*teller).gaveWay},
	{"stale look", "LP1002", func(t *teller) bool { return t.staleUse(t.stale) }}, // of files, too, that end well
	{"half a change", "LP1014", (*teller).listedAmid},
	{"interrupted", "LP1019", (*teller).interrupted},
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
