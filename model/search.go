package model

import (
	"slices"
	"strings"
)

// A search finds the configurations after a return, from those before it.
type search struct {
	spec      *Spec
	pending   []call // the returning operation included
	returning call
	output    any // Pending: it ends without an answer
	seen      map[string]bool
	found     []config
}

// visit explores one configuration before the return: any pending operations may
// take effect, in any order, until the returning one has.
func (s *search) visit(c config) {
	if s.seen[c.key] {
		return
	}
	s.seen[c.key] = true
	if at, ok := c.guessed(s.returning.client); ok {
		guessed := c.taken[at].output
		if s.explains(Outcome{Output: guessed}) {
			s.found = append(s.found, newConfig(c.state, slices.Delete(slices.Clone(c.taken), at, at+1)))
		}
		return
	}
	if s.output == (Pending{}) {
		s.found = append(s.found, c) // it never takes effect
	}
	for _, o := range s.spec.Apply(c.state, s.returning.input) {
		if s.explains(o) {
			s.found = append(s.found, newConfig(o.State, c.taken))
		}
	}
	for _, p := range s.pending {
		if _, taken := c.guessed(p.client); taken || p.client == s.returning.client {
			continue
		}
		for _, o := range s.spec.Apply(c.state, p.input) {
			s.visit(c.take(p.client, o))
		}
	}
}

// explains reports whether an outcome of the returning operation fits its output.
func (s *search) explains(o Outcome) bool {
	return s.output == Pending{} || o.matches(s.output)
}

// minimal returns, in the order of their keys, the configurations that no other
// one reaches by letting pending operations take effect. The rest add nothing:
// whatever they will explain, those they are reached from will explain too.
func minimal(spec *Spec, pending []call, configs []config) []config {
	slices.SortFunc(configs, func(a, b config) int { return strings.Compare(a.key, b.key) })
	configs = slices.CompactFunc(configs, func(a, b config) bool { return a.key == b.key })
	kept := make([]config, 0, len(configs))
	for _, c := range configs {
		reached := slices.ContainsFunc(configs, func(from config) bool {
			return len(from.taken) < len(c.taken) && reaches(spec, pending, from, c)
		})
		if !reached {
			kept = append(kept, c)
		}
	}
	return kept
}

// reaches reports whether from becomes to when the operations that have taken
// effect only in to do so, in some order, as guessed there.
func reaches(spec *Spec, pending []call, from, to config) bool {
	for _, g := range from.taken {
		if at, ok := to.guessed(g.client); !ok || to.taken[at].output != g.output {
			return false
		}
	}
	if len(from.taken) == len(to.taken) {
		return from.state == to.state
	}
	for _, p := range pending {
		at, ok := to.guessed(p.client)
		if _, done := from.guessed(p.client); done || !ok {
			continue
		}
		for _, o := range spec.Apply(from.state, p.input) {
			if o.Output == to.taken[at].output && reaches(spec, pending, from.take(p.client, o), to) {
				return true
			}
		}
	}
	return false
}
