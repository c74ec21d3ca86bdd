package outcome

import (
	"strings"

	"lockpick/scenarios"
)

// A Look is how the end of a run is looked at.
type Look struct {
	// Of is what is left in a state.
	Of func(v scenarios.View) Outcome
	// Over reports whether a state is judged, and what is said beside what is wrong there.
	Over func(v scenarios.View) (but string, over bool)
	// Path is the absolute path of a name.
	Path func(name string) string
	// Failing: calls fail, and who ends with status 0 all the same has done what it does.
	Failing bool
}

// Ask is a property like [scenarios.Atomic] or [scenarios.Durable] as an invariant of the ends of runs.
func (a *Atomic) Ask(like *scenarios.Property, l Look) *scenarios.Property {
	p := *like
	durable := like.Question == scenarios.Forgets
	done := func(o Outcome) []int {
		if durable || l.Failing {
			return o.succeeded()
		}
		return nil
	}
	p.Question = scenarios.NoQuestion
	p.Invariant = func(v scenarios.View) string {
		but, over := l.Over(v)
		if !over {
			return ""
		}
		o := l.Of(v)
		done := done(o)
		if durable && len(done) == 0 {
			return ""
		}
		if said := a.Judge(o, done); said != "" {
			return said + but
		}
		return ""
	}
	p.Table = func(v scenarios.View) [][]string {
		o := l.Of(v)
		return a.Table(o, done(o))
	}
	// They are made once: serial runs are added meanwhile, and a disk keeps its number.
	paths := a.groups(durable)
	for _, names := range paths {
		for i, name := range names {
			names[i] = l.Path(strings.TrimSuffix(name, "/"))
		}
	}
	p.Judged = func() [][]string { return paths }
	return &p
}

// succeeded are the processes that have ended with status 0.
func (o Outcome) succeeded() (done []int) {
	for i, e := range o.Exits {
		if e == "exit 0" {
			done = append(done, i)
		}
	}
	return done
}
