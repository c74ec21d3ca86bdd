package site

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/report"
)

// A page of what is broken leads to the variant of its system that holds; a page of what holds leads nowhere.
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
