package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockpick/internal/lists"
	"lockpick/model"
)

// "Nothing broke it" says something only where something could have. What must have been
// seen for that is a part of each property: its Evidence.

// An Answer is an operation that a task was given an answer to.
type Answer struct {
	// Task names the task: "A", "A.2".
	Task          string
	Input, Output any
}

// A Fact is what an answer is evidence of. It is plain text, so that the facts of the parts
// of a search can be put together.
type Fact struct {
	// Did says what was done: "acquired", "refused", "read".
	Did string `json:"did"`
	// By names the task that did it; empty where it does not matter.
	By string `json:"by,omitempty"`
	// About says with what: a lock's path, a key, a value.
	About string `json:"about,omitempty"`
}

// The facts that engines state by themselves, for properties that are not judged by answers.
const (
	// DidHold: a task held a lock that has a name. For properties with OfHolders.
	DidHold = "held"
	// DidAssert: a task asserted something.
	DidAssert = "asserted"
	// DidProbe: a fresh process tried to get through. For properties with a probe.
	DidProbe = "probed"
	// DidEnd: everybody ended, and nobody was killed. For the question [Leaves].
	DidEnd = "ended in order"
	// DidOutlive: somebody without a program lived on where a fresh process did not get through, so that
	// nobody can say whether it ever does. By is its pid. No property holds then that has a probe.
	DidOutlive = "lived on"
)

// Evidence says what must have been seen somewhere in a space before a property can be said
// to hold there. The zero value asks for one answer that the property Decides, or for one
// thing of the kind that it is judged by.
type Evidence struct {
	// Of says what an answer is evidence of; false for nothing. Nil means one fact for every
	// answer that the property Decides.
	Of func(a Answer) (Fact, bool)
	// Lacks says what the facts of a whole space, sorted and each once, leave open: "nobody
	// ever acquired". It returns "" when they are enough. Nil means that one is enough.
	Lacks func(facts []Fact) string
	// ByLock: facts are about locks, and each lock is to be judged for itself.
	ByLock bool
}

// EvidenceOf says what an answer is evidence of, for p; false for nothing.
func (p *Property) EvidenceOf(a Answer) (Fact, bool) {
	switch {
	case p.Spec.Apply != nil && !p.Spec.Accepts(a.Input):
		return Fact{}, false
	case p.Evidence.Of != nil:
		return p.Evidence.Of(a)
	}
	return Fact{Did: "answered"}, p.Counts(a.Input, a.Output)
}

// Lacks says what is missing before p can be said to hold in a space of which these are the
// facts, as [AddFact] keeps them; "" when nothing is.
func (p *Property) Lacks(facts []Fact) string {
	switch {
	case p.Evidence.Lacks != nil && p.Evidence.ByLock:
		return p.Evidence.Lacks(ofNamedLocks(facts))
	case p.Evidence.Lacks != nil:
		return p.Evidence.Lacks(facts)
	case len(facts) > 0 || !p.AsksForEvidence():
		return ""
	case p.NeedsProbe():
		return "nobody ever had to try: in no state had everybody ended, or come to an end of all that can change"
	case p.OfHolders:
		return "no task notes that it holds a lock"
	case p.Assertions:
		return "its tasks assert nothing"
	}
	return nothingRecorded
}

// ofNamedLocks takes what was done with a lock that has no name for done with each that has one: so are histories
// divided, by [model.LockByLock].
func ofNamedLocks(facts []Fact) []Fact {
	out := lists.Filter(facts, func(f Fact) bool { return f.About != "" })
	for _, named := range slices.Clone(out) {
		for _, f := range facts {
			if f.About == "" {
				f.About = named.About
				out = AddFact(out, f)
			}
		}
	}
	if len(out) == 0 {
		return facts
	}
	return out
}

// AsksForEvidence reports whether p can be said to hold only where something was seen.
func (p *Property) AsksForEvidence() bool {
	return p.Evidence.Lacks != nil || p.Judgement() == ByHistory || p.OfHolders || p.OfCycles() || p.Assertions ||
		p.NeedsProbe()
}

// AddFact adds a fact to a sorted list, in which each is once.
func AddFact(facts []Fact, f Fact) []Fact {
	at, found := slices.BinarySearchFunc(facts, f, compareFacts)
	if found {
		return facts
	}
	return slices.Insert(facts, at, f)
}

func compareFacts(a, b Fact) int {
	return cmp.Or(strings.Compare(a.Did, b.Did), strings.Compare(a.About, b.About), strings.Compare(a.By, b.By))
}

// What the properties of this package ask for.

// What acquisitions did.
const (
	didTry     = "tried"
	didAcquire = "acquired"
	didRefuse  = "was refused"
	didWrite   = "acquired to write"
)

// acquisition is the fact that somebody tried to acquire a lock, and what came of it.
func acquisition(a Answer) (Fact, bool) {
	if !isAny(isA[model.Acquire], isA[model.RAcquire], isA[model.WAcquire])(a.Input, a.Output) {
		return Fact{}, false
	}
	out, ok := a.Output.(model.Acquired)
	lock, _ := model.LockOf(a.Input)
	f := Fact{Did: didAcquire, By: a.Task, About: lock}
	switch {
	case !ok:
		f.Did = didTry
	case !out.OK:
		f.Did = didRefuse
	case isA[model.WAcquire](a.Input, nil):
		f.Did = didWrite
	}
	return f, true
}

// twoHolders asks for a lock that two different tasks have acquired, each at some time.
func twoHolders(facts []Fact) string {
	holders := holdersOf(facts)
	most, who := 0, ""
	for _, h := range holders {
		if len(h.tasks) > most {
			most, who = len(h.tasks), h.tasks[0]
		}
	}
	switch {
	case len(facts) == 0:
		return nothingRecorded
	case most == 0:
		return nobodyAcquired
	case most == 1 && len(holders) > 1:
		return "no lock was ever acquired by two tasks"
	case most == 1:
		return fmt.Sprintf("nobody but %s ever acquired", who)
	}
	return ""
}

// aWriterAndAnother asks for a lock that two different tasks have acquired, one of them to
// write.
func aWriterAndAnother(facts []Fact) string {
	if lacks := twoHolders(facts); lacks != "" {
		return lacks
	}
	for _, h := range holdersOf(facts) {
		if len(h.tasks) > 1 && h.writes {
			return ""
		}
	}
	return "nobody ever acquired to write"
}

// somebodyAcquired asks for one successful acquisition.
func somebodyAcquired(facts []Fact) string {
	switch {
	case len(facts) == 0:
		return "its tasks record no operation that could starve"
	case len(holdersOf(facts)) == 0:
		return nobodyAcquired
	}
	return ""
}

// anEndInOrder asks for a run in which everybody ended and nobody was killed; and where tasks
// acquire, for one that did.
func anEndInOrder(facts []Fact) string {
	switch {
	case !slices.Contains(facts, Fact{Did: DidEnd}):
		return "in no run did everybody end without a kill"
	case len(facts) > 1 && len(holdersOf(facts)) == 0:
		return nobodyAcquired
	}
	return ""
}

// aRefusal asks for one refused acquisition.
func aRefusal(facts []Fact) string {
	switch {
	case len(facts) == 0:
		return nothingRecorded
	case !slices.ContainsFunc(facts, func(f Fact) bool { return f.Did == didRefuse }):
		return "nobody was ever refused"
	}
	return ""
}

// What is missing, in words that several properties use.
const (
	nothingRecorded = "its tasks record no operation whose answer could violate it"
	nobodyAcquired  = "nobody ever acquired"
)

// A lockHolders is the tasks that have acquired one lock, and whether one did so to write.
type lockHolders struct {
	path   string
	tasks  []string
	writes bool
}

// holdersOf lists the locks that somebody has acquired, by path.
func holdersOf(facts []Fact) []lockHolders {
	var out []lockHolders
	for _, f := range facts {
		if f.Did != didAcquire && f.Did != didWrite {
			continue
		}
		at := slices.IndexFunc(out, func(h lockHolders) bool { return h.path == f.About })
		if at < 0 {
			at = len(out)
			out = append(out, lockHolders{path: f.About})
		}
		if h := &out[at]; !slices.Contains(h.tasks, f.By) {
			h.tasks = append(h.tasks, f.By)
		}
		out[at].writes = out[at].writes || f.Did == didWrite
	}
	return out
}

// keyed states facts about keys or values: those that were put there, and those asked for.
func keyed(a Answer) (Fact, bool) {
	switch in := a.Input.(type) {
	case model.Add:
		return Fact{Did: "added", About: in.Key}, a.Output == model.Added{}
	case model.Contains:
		_, answered := a.Output.(model.Found)
		return Fact{Did: "asked", About: in.Key}, answered
	case model.Write:
		return Fact{Did: "added", About: in.Value}, true // a read may see one that never ends
	case model.Read:
		out, answered := a.Output.(model.ReadValue)
		return Fact{Did: "asked", About: out.Value}, answered
	}
	return Fact{}, false
}

// askedOf asks for an answer about something that was put there.
func askedOf(what string) func(facts []Fact) string {
	return func(facts []Fact) string {
		for _, f := range facts {
			if f.Did == "added" && slices.Contains(facts, Fact{Did: "asked", About: f.About}) {
				return ""
			}
		}
		if !slices.ContainsFunc(facts, func(f Fact) bool { return f.Did == "asked" }) {
			return nothingRecorded
		}
		return what
	}
}

// counted states who has counted, and who has looked at the count.
func counted(a Answer) (Fact, bool) {
	_, answered := a.Output.(model.Value)
	switch a.Input.(type) {
	case model.Inc:
		return Fact{Did: "counted", By: a.Task}, answered
	case model.Get:
		return Fact{Did: "looked", By: a.Task}, answered
	}
	return Fact{}, false
}

// twoCounts asks for an increment and for one more look at the counter.
func twoCounts(facts []Fact) string {
	switch {
	case len(facts) == 0:
		return nothingRecorded
	case !slices.ContainsFunc(facts, func(f Fact) bool { return f.Did == "counted" }):
		return "nobody ever incremented"
	case len(facts) == 1:
		return "nobody ever saw another's increment: only " + facts[0].By + " counted"
	}
	return ""
}

// owned states who has acquired, and that somebody asked who holds.
func owned(a Answer) (Fact, bool) {
	if isA[model.WhoHolds](a.Input, nil) {
		_, answered := a.Output.(model.Holder)
		lock, _ := model.LockOf(a.Input)
		return Fact{Did: "asked", About: lock}, answered
	}
	return acquisition(a)
}

// askedWhileHeld asks for a successful acquisition, and for a look at who is recorded.
func askedWhileHeld(facts []Fact) string {
	switch {
	case !slices.ContainsFunc(facts, func(f Fact) bool { return f.Did == "asked" }):
		return nothingRecorded
	case len(holdersOf(facts)) == 0:
		return nobodyAcquired
	}
	for _, h := range holdersOf(facts) {
		for _, f := range facts {
			if f.Did == "asked" && f.About == h.path {
				return ""
			}
		}
	}
	return "nobody ever asked who holds a lock that anybody acquired"
}

// leased states who was granted a lease, and who used a token.
func leased(a Answer) (Fact, bool) {
	lock, _ := model.LockOf(a.Input)
	switch out := a.Output.(type) {
	case model.Granted:
		return Fact{Did: "granted", By: a.Task, About: lock}, !out.Refused
	case model.Used:
		return Fact{Did: "used", By: a.Task, About: lock}, true
	}
	return Fact{}, false
}

// aGrantAndMore asks for a grant, and for another of the same lease, or a use.
func aGrantAndMore(facts []Fact) string {
	switch {
	case !slices.ContainsFunc(facts, func(f Fact) bool { return f.Did == "granted" }):
		return "no lease was ever granted"
	case len(facts) == 1:
		return "nobody but " + facts[0].By + " was ever granted a lease, and no token was used"
	}
	for i, f := range facts {
		for k, g := range facts {
			if i != k && f.Did == "granted" && f.About == g.About {
				return ""
			}
		}
	}
	return "of no lease was anything done after one task was granted it"
}
