package checker

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
)

// Acceptable reports an error unless each code names a kind of cause that one can accept: a cause that is not known is
// none.
func Acceptable(codes []string) error {
	var ids []string
	for _, k := range trace.Kinds() {
		if k.ID != trace.Unexplained {
			ids = append(ids, k.ID)
		}
	}
	for _, code := range codes {
		if !slices.Contains(ids, code) {
			return fmt.Errorf("%q is no kind of cause that can be accepted: choose %s (docs/causes.md)", code,
				strings.Join(ids, ", "))
		}
	}
	return nil
}

// Accept accepts what is broken, against the claim, by a cause of one of some kinds. Counterexamples of other kinds of
// ends must have such causes, too.
func (r *Result) Accept(codes []string) {
	accepted := func(c *trace.Counterexample) bool { return slices.Contains(codes, c.Code) }
	r.Accepted = ""
	if r.Verdict != Broken || r.Counterexample == nil || r.Claimed && r.Claim == Broken ||
		!accepted(r.Counterexample) || r.Question != nil ||
		slices.ContainsFunc(r.Also, func(c *trace.Counterexample) bool { return !accepted(c) }) {
		return
	}
	r.Accepted = r.Counterexample.Code
}

// AcceptedText says what was accepted, and what was not looked for because of it; empty when nothing was.
// Text, JSON, JUnit, Markdown and the pages of report/site tell it.
func (r *Result) AcceptedText() string {
	k, ok := trace.KindOf(r.Accepted)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%s) is accepted. Whether %s is broken by another cause, too, was not looked for",
		k.ID, k.Name, r.Property)
}

// Failed reports whether something is broken that was not accepted.
func (s *Surveyed) Failed() bool {
	return slices.ContainsFunc(s.Broken, func(r Result) bool { return r.Accepted == "" })
}

// Accepts reports whether a property is broken by what was accepted.
func (s *Surveyed) Accepts(property string) bool {
	return slices.ContainsFunc(s.Broken, func(r Result) bool { return r.Accepted != "" && r.Property.ID == property })
}

// known reports whether there is a counterexample already that was accepted for the same.
func (s *Surveyed) known(r *Result) bool {
	return r.Accepted != "" && slices.ContainsFunc(s.Broken, func(b Result) bool {
		return b.Accepted == r.Accepted && b.Property.ID == r.Property.ID
	})
}
