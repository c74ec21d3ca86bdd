package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker/report"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// matches reports whether a pattern selects an id. Patterns match segment by segment,
// as path.Match does, and a pattern that is shorter than the id selects everything
// below it: "ctx", "ctx/*" and "ctx/excl*" all select ctx/excl/contend.
func matches(pattern, id string) (bool, error) {
	ps, segments := strings.Split(strings.TrimSuffix(pattern, "/"), "/"), strings.Split(id, "/")
	if len(ps) > len(segments) {
		_, err := path.Match(pattern, "")
		return false, err
	}
	for i, p := range ps {
		if ok, err := path.Match(p, segments[i]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// choose returns the scenarios that any pattern and every filter selects, in the list's
// order. No pattern and no filter selects all but the corpus, and a note says so.
func (a *app) choose(patterns []string, f *filters) ([]scenarios.Scenario, error) {
	list, err := a.chosen(patterns, f)
	if err != nil {
		return nil, err
	}
	return f.apply(a, list)
}

func (a *app) chosen(patterns []string, f *filters) ([]scenarios.Scenario, error) {
	switch {
	case len(patterns) == 0 && f.given():
		return a.scenarios, nil
	case len(patterns) == 0:
		list := slices.DeleteFunc(slices.Clone(a.scenarios), func(sc scenarios.Scenario) bool { return sc.Corpus })
		if n := len(a.scenarios); len(list) < n {
			a.note("%d of %d scenarios; the pattern '*' selects all, the name of a system all of its own, and "+
				"--shape, --hazard, --project what they say", len(list), n)
		}
		return list, nil
	}
	chosen := make([]bool, len(a.scenarios))
	var made []scenarios.Scenario
	for _, p := range patterns {
		if sc, ok := scenarios.FindSurveyed(a.scenarios, p); ok {
			made = append(made, sc)
			continue
		}
		found := false
		for i := range a.scenarios {
			ok, err := matches(p, a.scenarios[i].ID)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", p, err)
			}
			chosen[i] = chosen[i] || ok
			found = found || ok
		}
		if !found {
			return nil, a.unknown("no scenario matches", p, a.patterns())
		}
	}
	var out []scenarios.Scenario
	for i := range a.scenarios {
		if chosen[i] {
			out = append(out, a.scenarios[i])
		}
	}
	return append(out, made...), nil
}

// one returns the scenario with an id.
func (a *app) one(id string) (scenarios.Scenario, error) {
	for i := range a.scenarios {
		if a.scenarios[i].ID == id {
			return a.scenarios[i], nil
		}
	}
	if sc, ok := scenarios.FindSurveyed(a.scenarios, id); ok {
		return sc, nil
	}
	return scenarios.Scenario{}, a.unknown("no scenario is called", id, a.ids())
}

// unknown is the error for a word that names no scenario.
func (a *app) unknown(what, word string, known []string) error {
	if text := meant(word, known); text != "" {
		return fmt.Errorf("%s %q%s", what, word, text)
	}
	return fmt.Errorf("%s %q: \"%s list '*'\" shows them all", what, word, a.name)
}

// properties returns what is asked of a scenario: one property, claimed or not, or else
// all that it claims something of.
func properties(sc *scenarios.Scenario, p *scenarios.Property) []*scenarios.Property {
	if p != nil {
		return []*scenarios.Property{p}
	}
	return lists.Map(sc.Claims, func(c scenarios.Claim) *scenarios.Property { return c.Property })
}

// property finds the property with an id: ours, or one that a chosen scenario claims
// something of, or else any scenario. It is nil when none is asked for.
func (a *app) property(id string, chosen ...scenarios.Scenario) (*scenarios.Property, error) {
	if id == "" {
		return nil, nil
	}
	list := slices.Concat(chosen, a.scenarios)
	p, err := scenarios.FindProperty(id, list...)
	if err != nil {
		known := lists.Map(scenarios.PropertiesOf(list...), func(p *scenarios.Property) string { return p.ID })
		if text := meant(id, known); text != "" {
			err = fmt.Errorf("unknown property %q%s", id, text)
		}
	}
	return p, err
}

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	var f *filters
	c := &cobra.Command{
		Use:   "list [PATTERN...]",
		Short: "List the scenarios and what they claim",
		Long:  "List the scenarios and what they claim; more than 60 without their summaries.\n\n" + patternHelp,
		RunE: func(_ *cobra.Command, patterns []string) error {
			list, err := a.choose(patterns, f)
			if err != nil {
				return err
			}
			if asJSON {
				return report.ListJSON(a.stdout, list)
			}
			return report.List(a.stdout, list, a.style(a.stdout, 0))
		},
	}
	c.ValidArgsFunction = a.completePattern
	f = a.addFilters(c, true)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

const patternHelp = `Patterns select ids segment by segment, with * and ? and [...] as in path.Match; a
pattern that is shorter than an id selects everything below it, so "ctx", "ctx/*" and
"ctx/excl*" all select ctx/excl/contend, and '*' selects everything. The flags
--shape, --hazard, --project and --verdict choose among these. No pattern and no such
flag selects everything but the corpus of lock protocols in use.`
