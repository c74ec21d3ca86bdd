package site

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// A page of what is broken leads to the variant of its system that holds, and shows what is
// different; a page of what holds leads nowhere.
func TestFix(t *testing.T) {
	pages := written(t, results(t), report.Options{})
	require.Contains(t, pages["scenarios/toy.look.contend.html"],
		`mutual-exclusion holds in <a href="toy.excl.contend.html">excl/contend</a>`)
	require.NotContains(t, pages["scenarios/toy.excl.contend.html"], `<section class="fix"`)
	for _, sys := range bySystem(results(t)) {
		for _, w := range sys.Rows {
			f := newFix(sys, w)
			switch w.Scenario.ID {
			case "toy/look/contend":
				require.NotNil(t, f)
				require.Equal(t, "mutual-exclusion", f.Property)
				require.Equal(t, "excl/contend", f.Name)
				require.Equal(t, "toy.excl.contend.html", f.Link)
			case "toy/excl/contend":
				require.Nil(t, f)
			}
		}
	}
}

// Nothing of either source is lost, and what is not marked is the same on both sides.
func TestSideBySide(t *testing.T) {
	for _, c := range []struct{ a, b, left, right string }{
		{"a b c", "a x c", "a B c", "a X c"},
		{"a b", "a b", "a b", "a b"},
		{"a", "b c", "A", "B C"},
		{"a b a", "b a b a", "a b a", "B a b a"},
	} {
		left, right := sideBySide(strings.Fields(c.a), strings.Fields(c.b))
		shown := func(side []sideLine) string {
			var words []string
			for _, l := range side {
				if l.Changed {
					l.Text = strings.ToUpper(l.Text)
				}
				words = append(words, l.Text)
			}
			return strings.Join(words, " ")
		}
		require.Equal(t, strings.ToLower(c.a), strings.ToLower(shown(left)))
		require.Equal(t, strings.ToLower(c.b), strings.ToLower(shown(right)))
		require.Equal(t, strings.Count(shown(left), "A")+len(left), strings.Count(c.left, "A")+len(left), c)
		require.Equal(t, unmarked(left), unmarked(right))
	}
}

// What both have is left out far from a difference, and counted; the rest stays.
func TestFolded(t *testing.T) {
	a := strings.Fields("1 2 3 4 5 6 7 8 9 x 1 2 3 4 5 6 7 8 9 y 1 2 3 4 5")
	b := strings.Fields("1 2 3 4 5 6 7 8 9 X 1 2 3 4 5 6 7 8 9 Y 1 2 3 4 5")
	shown := func(side []sideLine) string {
		var words []string
		for _, l := range side {
			if l.Left > 0 {
				l.Text = "+" + strconv.Itoa(l.Left)
			}
			words = append(words, l.Text)
		}
		return strings.Join(words, " ")
	}
	left, right := folded(sideBySide(a, b))
	require.Equal(t, "+6 7 8 9 x 1 2 3 +3 7 8 9 y 1 2 3 +2", shown(left))
	require.Equal(t, "+6 7 8 9 X 1 2 3 +3 7 8 9 Y 1 2 3 +2", shown(right))
	require.Equal(t, []string{"const x = 1", "", "func f() {}"}, lines("package p\n\nimport \"a\"\n\nimport (\n\t\"b\"\n)\n\nconst x = 1\n\n\nfunc f() {}\n"))
}

// Where variants share a file, each is shown by the functions that make its calls.
func TestSourcesOfOneFile(t *testing.T) {
	row := func(id string) *scenarios.Scenario {
		list := all.All()
		i := slices.IndexFunc(list, func(sc scenarios.Scenario) bool { return sc.ID == id })
		require.GreaterOrEqual(t, i, 0, id)
		return &list[i]
	}
	broken, holds := row("gofrs-flock/unlink-after-unlock/contend"), row("gofrs-flock/keep-file/contend")
	require.Equal(t, broken.Source, holds.Source)
	left, right := sources(broken, holds, scenarios.MutualExclusion)
	changed := func(side []sideLine) string {
		var text []string
		for _, l := range side {
			if l.Changed {
				text = append(text, l.Text)
			}
		}
		return strings.Join(text, "\n")
	}
	require.Contains(t, changed(left), "Unlink(")
	require.NotContains(t, changed(right), "Unlink(")
	left, right = sources(holds, holds, scenarios.MutualExclusion)
	require.Empty(t, left)
	require.Empty(t, right)
}

func unmarked(side []sideLine) (out []string) {
	for _, l := range side {
		if !l.Changed {
			out = append(out, l.Text)
		}
	}
	return out
}

// searches finds rows by words, in a browser.
func searches(t *testing.T, b *tab, dir string) {
	b.open(fileURL(dir, "index.html"))
	rows := visible(".matrix tbody tr:not(.system)")
	find := func(words string) int {
		b.eval(`{ const f = document.querySelector('.search input'); f.value = `+strconv.Quote(words)+`; f.dispatchEvent(new Event('input')) }`, nil)
		return b.number(rows)
	}
	all := b.number(rows)
	require.Equal(t, 1, find("toy/look/contend"))
	require.Equal(t, "1 of "+strconv.Itoa(all), b.text(`document.querySelector('.search output').textContent`))
	require.Positive(t, find("stale look"), "by the mistake")
	require.Zero(t, find("no such thing"))
	require.Zero(t, b.number(visible(".matrix tbody")), "a system without rows is not shown")
	require.Equal(t, all, find(""))
	require.Empty(t, b.text(`document.querySelector('.search output').textContent`))
	b.press("Tab")
}
