package report

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// exhibits are the counterexamples that every format is shown with.
func exhibits() []struct {
	name, id string
	property *scenarios.Property
} {
	return []struct {
		name, id string
		property *scenarios.Property
	}{
		{"stat-then-write", "ctx/stat-then-write/contend", scenarios.MutualExclusion},
		{"option-a", "openclaw-release/option-a/tasks+peer", scenarios.MutualExclusion},
		{"gated-unlink", "agentwire/gated-unlink/contend", scenarios.MutualExclusion},
		{"wedge", "ctx/excl/crash", scenarios.Wedge},
	}
}

// exhibit checks one property of a scenario of the catalogue.
func exhibit(t *testing.T, id string, p *scenarios.Property) checker.Result {
	t.Helper()
	for _, sc := range all.Core() {
		if sc.ID == id {
			r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1})
			require.NoError(t, err)
			return r
		}
	}
	require.FailNow(t, "no such scenario", id)
	return checker.Result{}
}

func TestExhibits(t *testing.T) {
	for _, x := range exhibits() {
		t.Run(x.name, func(t *testing.T) {
			r := exhibit(t, x.id, x.property)
			require.Equal(t, checker.Broken, r.Verdict)
			golden.Check(t, "exhibits/"+x.name+".md", text(t, issueOf(r)))
			golden.Check(t, "exhibits/"+x.name+".svg", text(t, func(b *bytes.Buffer) error { return SVG(b, &r, Options{}) }))
		})
	}
}

// What an issue says before anybody unfolds anything fits [issueLines] lines, and has what one needs to act.
func TestIssuesAreShort(t *testing.T) {
	shown := func(text string) (lines []string) {
		above, _, _ := strings.Cut(text, "<details>")
		for _, l := range strings.Split(above, "\n") {
			if l != "" {
				lines = append(lines, l)
			}
		}
		return lines
	}
	for _, x := range exhibits() {
		r := exhibit(t, x.id, x.property)
		sc := *r.Scenario
		sc.External = true // with a fix
		r.Scenario, r.Native, r.Counterexample.Kernel = &sc, "confirmed", "agrees"
		r.Survives = "survives a stall of 3s"
		table := [][]string{{"", "here", "A then B"}}
		for range 9 {
			table = append(table, []string{"n", "1", "2"})
		}
		p := *r.Counterexample.Property
		p.Table = func(scenarios.View) [][]string { return table }
		r.Counterexample.Property = &p
		got := text(t, issueOf(r))
		lines := shown(got)
		require.LessOrEqual(t, len(lines), issueLines, got)
		for _, want := range []string{"**Cause:** ", "**Kernel:** ", "**Native:** ", "**Stalls:** ", "| … 7 more | | |",
			"To see it again: `"} {
			require.Contains(t, strings.Join(lines, "\n"), want)
		}
		require.Equal(t, 11, strings.Count(got, "| n | 1 | 2 |"), "the whole table is folded")
	}
}

// Fences are closed, and nothing in a text can close one.
func TestMarkdownFences(t *testing.T) {
	for _, r := range results(t) {
		var open string
		for _, l := range strings.Split(text(t, issueOf(r)), "\n") {
			switch {
			case open == "" && strings.HasPrefix(l, "```"):
				open = strings.TrimRight(l, "abcdefghijklmnopqrstuvwxyz")
			case l == open:
				open = ""
			}
		}
		require.Empty(t, open)
	}
	var b bytes.Buffer
	m := &markdown{w: bufio.NewWriter(&b)}
	m.fence("text", "a ``` b")
	require.NoError(t, m.w.Flush())
	require.Equal(t, "````text\na ``` b\n````\n", b.String())
}

func TestMarkdownText(t *testing.T) {
	require.Equal(t, `a\_b\*c &lt;b&gt; \| \#1 \[x\] &#64;me`, markdownText("a_b*c <b> | #1 [x] @me"))
}

func TestMarkdown(t *testing.T) {
	rs := results(t)
	rs = append(rs, checker.Result{
		Scenario: rs[0].Scenario, Property: scenarios.Wedge, Why: "the budget of 5 states ended first", Odds: -1,
	})
	golden.Check(t, "all.md", text(t, func(b *bytes.Buffer) error { return Markdown(b, rs, Options{}) }))
}

// A long report leaves the counterexamples of what is as claimed out, and nothing else.
func TestMarkdownFitsGitHub(t *testing.T) {
	r := exhibit(t, "agentwire/gated-unlink/contend", scenarios.MutualExclusion)
	for _, c := range []struct{ n, timelines int }{{5, 5}, {12, 12}, {40, 1}} {
		many := slices.Repeat([]checker.Result{r}, c.n)
		many[3].Claim = checker.Holds
		got := text(t, func(b *bytes.Buffer) error { return Markdown(b, many, Options{}) })
		require.LessOrEqual(t, columns(got), markdownLimit)
		require.Equal(t, c.timelines, strings.Count(got, "```text\n"), c.n)
	}
}

func issueOf(r checker.Result) func(b *bytes.Buffer) error {
	return func(b *bytes.Buffer) error { return Markdown(b, []checker.Result{r}, Options{}) }
}
