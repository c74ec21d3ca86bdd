package site

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

func diagramOf(t *testing.T, r *checker.Result) *diagram {
	t.Helper()
	chart := report.NewChart(r.Scenario, r.Counterexample)
	return newDiagram(r.Counterexample, chart)
}

// The diagram has a mark for each step and an arrow where a call meets what another did; what
// both hold at once is red, from the step that breaks it on.
func TestDiagram(t *testing.T) {
	r := resultOf(t, "toy/look/contend", scenarios.MutualExclusion)
	d := diagramOf(t, r)
	cx := r.Counterexample
	require.Len(t, d.Steps, len(cx.Schedule))
	require.Len(t, d.Lanes, 2)
	require.True(t, d.Clashes)
	clashes := 0
	for _, b := range d.Holds {
		require.LessOrEqual(t, b.X+b.Wide, d.Width)
		if b.Clash {
			clashes++
			require.Equal(t, d.x(len(cx.Schedule)), b.X)
		}
	}
	require.Equal(t, 2, clashes)
	wrong := 0
	for _, a := range d.Arrows {
		require.Less(t, a.X1, a.X2, "time goes one way")
		require.NotEqual(t, a.Y1, a.Y2)
		if a.Wrong {
			wrong++
			require.Equal(t, cx.Act, a.Step)
			require.Contains(t, a.Title, "meets at step "+strconv.Itoa(cx.Act))
		}
	}
	require.Equal(t, 1, wrong)
	require.Len(t, d.Files[0].Bars, 1, "the file is one for all")
	require.Equal(t, "#1", d.Files[0].Bars[0].Text)
}

// Who dies has an end, and what happens to everybody is on no line.
func TestDiagramOfFaults(t *testing.T) {
	d := diagramOf(t, resultOf(t, "toy/excl/crash", scenarios.Wedge))
	killed := 0
	for _, l := range d.Lanes {
		if l.Killed {
			killed++
			require.Less(t, l.To, d.Width-diagramColumn)
		}
	}
	require.Equal(t, 1, killed)
	d = diagramOf(t, resultOf(t, "toy/lease/stall", scenarios.MutualExclusion))
	stalls := 0
	for _, s := range d.Steps {
		if s.Everybody {
			stalls++
			require.Equal(t, "clock", s.Label)
		}
	}
	require.Equal(t, 1, stalls)
}

// A cause's steps are links, what it quotes is not.
func TestLinkedCause(t *testing.T) {
	require.Equal(t, `A &lt;b&gt; at <a href="#p-4">step 4</a> and <a href="#p-5">steps 5</a> to 7, not step 99.`,
		string(linked("p", "A <b> at step 4 and steps 5 to 7, not step 99.", 12)))
}

// diagrams steps by the diagram, in a browser, and follows a link of the cause.
func diagrams(t *testing.T, b *tab, dir string) {
	b.open(fileURL(dir, "scenarios/toy.look.contend.html"))
	current := func() int { return b.number(`Number(document.querySelector('[aria-current=step]').dataset.step)`) }
	click := func(selector string) {
		b.eval(`document.querySelector('`+selector+`').dispatchEvent(new MouseEvent('click', {bubbles: true}))`, nil)
	}
	require.Equal(t, b.number(`document.querySelectorAll('.player .timeline tbody tr').length`)-1, b.number(`document.querySelectorAll('.diagram .mark').length`))
	click(".diagram .mark[data-step=\"3\"]")
	require.Equal(t, 3, current())
	require.Equal(t, "3", b.text(`document.querySelector('.diagram .strip.now').dataset.step`))
	click(".diagram .strip[data-step=\"5\"]")
	require.Equal(t, 5, current())
	require.Contains(t, b.text(`document.querySelector('.say').textContent`), "Step 5 of")
	b.eval(`document.querySelector('.cause a').click(), new Promise(r => setTimeout(r, 100))`, nil)
	require.Equal(t, b.text(`document.querySelector('.cause a').textContent`), "step "+strconv.Itoa(current()))
	// Nothing is cut at 1280 pixels.
	b.look(1280, 900, "light")
	for _, page := range []string{"scenarios/toy.look.tasks.html", "scenarios/toy.lease.stall.html"} {
		b.open(fileURL(dir, page))
		require.Empty(t, b.text(`[...document.querySelectorAll('.timeline th, .timeline td, .verdicts th, .verdicts td')].filter(
			e => e.scrollWidth > e.clientWidth + 1 && e.getClientRects().length).map(e => e.textContent.trim()).join('; ')`), page)
		b.shot(filepath.Join(t.ArtifactDir(), strings.ReplaceAll(filepath.Base(page), ".html", "")+"-1280.png"), true)
	}
}
