package cli

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/scenarios"
)

// A facet is something that scenarios can be chosen by: the flag, what it says, and the
// values that a scenario has.
type facet struct {
	flag, usage string
	values      func(sc *scenarios.Scenario) []string
}

// facets lists what scenarios can be chosen by, besides their ids.
func facets() []facet {
	return []facet{
		{"shape", "only protocols of shape `S`: what families there are is in docs/reference", func(sc *scenarios.Scenario) []string { return []string{sc.Entry.Shape} }},
		{"hazard", "only scenarios about hazard `H`: contention, crash, stall, …", func(sc *scenarios.Scenario) []string { return []string{sc.Hazard()} }},
		{"project", "only locks that project `NAME` has, or uses: filelock, tox-dev/filelock, PyTorch", projectNames},
	}
}

// projectNames are the names by which a scenario's projects are asked for: in full, and
// without the owner; and its system's.
func projectNames(sc *scenarios.Scenario) []string {
	out := []string{sc.System()}
	for _, p := range sc.Entry.Projects {
		out = append(out, p, path.Base(p))
	}
	return out
}

// filters are the flags by which scenarios are chosen.
type filters struct {
	facets   []facet
	asked    []string // of each facet, as it was given
	verdict  string
	property string // of list; check has a flag of its own
}

// addFilters adds the flags. claims: also a property that must be claimed.
func (a *app) addFilters(c *cobra.Command, claims bool) *filters {
	f := &filters{facets: facets()}
	f.asked = make([]string, len(f.facets))
	fs := c.Flags()
	for i, x := range f.facets {
		fs.StringVar(&f.asked[i], x.flag, "", x.usage)
		a.completeFlag(c, x.flag, func() []string { return known(a.scenarios, x) })
	}
	fs.StringVar(&f.verdict, "verdict", "", "only what is claimed to be `V`: holds or broken")
	a.completeValues(c, "verdict", scenarios.Holds.String(), scenarios.Broken.String())
	if claims {
		fs.StringVar(&f.property, "property", "", "only what is claimed of property `P`")
		a.completeProperties(c)
	}
	return f
}

// given reports whether any flag is.
func (f *filters) given() bool {
	return f.verdict != "" || f.property != "" || slices.ContainsFunc(f.asked, func(s string) bool { return s != "" })
}

// apply returns the scenarios that every flag selects, with the claims that it selects.
func (f *filters) apply(a *app, list []scenarios.Scenario) ([]scenarios.Scenario, error) {
	if f.verdict != "" && f.verdict != scenarios.Holds.String() && f.verdict != scenarios.Broken.String() {
		return nil, fmt.Errorf("--verdict %q: choose holds or broken", f.verdict)
	}
	if _, err := a.property(f.property, list...); err != nil {
		return nil, err
	}
	for i, x := range f.facets {
		if err := f.validate(a, x, f.asked[i]); err != nil {
			return nil, err
		}
	}
	if !f.given() {
		return list, nil
	}
	var out []scenarios.Scenario
	for _, sc := range list {
		sc.Claims = slices.DeleteFunc(slices.Clone(sc.Claims), func(c scenarios.Claim) bool {
			return f.verdict != "" && c.Verdict.String() != f.verdict || f.property != "" && c.Property.ID != f.property
		})
		if len(sc.Claims) > 0 && f.selects(&sc) {
			out = append(out, sc)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario fits all of these filters: leave one out")
	}
	return out, nil
}

// validate reports a value that no scenario has.
func (f *filters) validate(a *app, x facet, asked string) error {
	values := known(a.scenarios, x)
	if asked == "" || slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, asked) }) {
		return nil
	}
	if text := meant(asked, values); text != "" {
		return fmt.Errorf("no scenario has the %s %q%s", x.flag, asked, text)
	}
	switch {
	case len(values) == 0:
		return fmt.Errorf("no scenario has the %s %q, or any: scenarios.Entry says what it is", x.flag, asked)
	case len(values) > 20:
		return fmt.Errorf("no scenario has the %s %q: docs/reference lists them", x.flag, asked)
	}
	return fmt.Errorf("no scenario has the %s %q: choose one of %s", x.flag, asked, strings.Join(values, ", "))
}

// selects reports whether a scenario has what each flag asks.
func (f *filters) selects(sc *scenarios.Scenario) bool {
	for i, x := range f.facets {
		if f.asked[i] != "" && !slices.ContainsFunc(x.values(sc), func(v string) bool { return strings.EqualFold(v, f.asked[i]) }) {
			return false
		}
	}
	return true
}

// known lists the values of a facet that some scenario has.
func known(list []scenarios.Scenario, x facet) []string {
	var out []string
	for i := range list {
		out = append(out, x.values(&list[i])...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return v == "" })
}

// Environment variables that number the jobs of Bazel and of GitLab.
const (
	bazelIndex  = "TEST_SHARD_INDEX"
	bazelTotal  = "TEST_TOTAL_SHARDS"
	gitlabIndex = "CI_NODE_INDEX" // from 1
	gitlabTotal = "CI_NODE_TOTAL"
)

func addShardFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "shard", "", "decide only part `I/N` of the questions (I from 0), or env: one of the "+
		"jobs of Bazel or GitLab")
}

// part returns the questions that are a shard's: every Nth. Each is decided by one shard, which has
// its verdict, so there is nothing to merge.
func part(questions []question, shard string, env func(string) string) ([]question, error) {
	if shard == "" {
		return questions, nil
	}
	i, n, err := parseShard(shard, env)
	if err != nil {
		return nil, err
	}
	var mine []question
	for k, q := range questions {
		if k%n == i {
			mine = append(mine, q)
		}
	}
	if len(mine) == 0 {
		return nil, fmt.Errorf("--shard %s: there are %d questions, and none is left for this part: choose fewer parts",
			shard, len(questions))
	}
	return mine, nil
}

// parseShard reads the flag's value: which part, from 0, of how many.
func parseShard(text string, env func(string) string) (i, n int, err error) {
	index, total, _ := strings.Cut(text, "/")
	from := 0
	if text == "env" {
		switch {
		case env(bazelIndex) != "" && env(bazelTotal) != "":
			index, total = env(bazelIndex), env(bazelTotal)
		case env(gitlabIndex) != "" && env(gitlabTotal) != "":
			index, total, from = env(gitlabIndex), env(gitlabTotal), 1
		default:
			return 0, 0, fmt.Errorf("--shard env: neither %s and %s nor %s and %s are set: say I/N", bazelIndex, bazelTotal,
				gitlabIndex, gitlabTotal)
		}
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(total)
	if i -= from; err1 != nil || err2 != nil || i < 0 || n < 1 || i >= n {
		return 0, 0, fmt.Errorf("--shard %s: want I/N with I from 0 to N-1, not %s/%s", text, index, total)
	}
	return i, n, nil
}
