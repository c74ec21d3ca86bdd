package site

import (
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/report"
)

// In a real browser, from a file URL: the first page leads to a scenario's, whose
// counterexample is stepped through by keyboard.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := openTab(t)
	dir := t.TempDir()
	require.NoError(t, Write(dir, results(t), report.Options{}))
	for _, c := range []struct {
		name string
		test func(*testing.T, *tab, string)
	}{
		{"follow a link and step by keyboard", stepsByKeyboard},
		{"step by the diagram", diagrams},
		{"at the race", atTheRace},
		{"search", searches},
		{"filter without a script", filters},
		{"every state without a script", withoutScript},
		{"every state on paper", onPaper},
		{"a link to a step", linksToSteps},
		{"readable in light and dark", contrasts},
		{"pictures", pictures},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t, b.problems = t, nil
			b.look(1360, 900, "light")
			c.test(t, b, dir)
			require.Empty(t, b.problems, "the console complains")
		})
	}
}

func stepsByKeyboard(t *testing.T, b *tab, dir string) {
	b.open(fileURL(dir, "index.html"))
	b.eval(`document.querySelector('td[data-property=mutual-exclusion] a').click()`, nil)
	b.await(func(m message) bool { return m.Method == "Page.loadEventFired" }, "the link")
	require.Equal(t, "toy/look/contend", b.text(`document.querySelector('h1').textContent`))

	last := b.number(`document.querySelectorAll('.player .timeline tbody tr').length - 1`)
	state := func() string { return b.text(`document.querySelector('.state.now').innerText`) }
	said := func() string { return b.text(`document.querySelector('[aria-live=polite]').textContent`) }
	current := func() int { return b.number(`Number(document.querySelector('[aria-current=step]').dataset.step)`) }

	require.Equal(t, last, current(), "the page opens at the step that breaks it")
	b.press("Home")
	require.Equal(t, 0, current())
	require.Equal(t, "Before the first step.", said())
	require.Contains(t, state(), "not there")
	b.press("ArrowLeft")
	require.Equal(t, 0, current(), "there is nothing before")

	seen := map[string]bool{state(): true}
	for n := 1; n <= last; n++ {
		b.press("ArrowRight")
		require.Equal(t, n, current())
		require.Contains(t, said(), "Step "+strconv.Itoa(n)+" of ")
		require.False(t, seen[state()], "the state after step %d was shown before", n)
		seen[state()] = true
		require.Equal(t, 1, b.number(`document.querySelectorAll('.player .state.now').length`))
	}
	require.Contains(t, said(), "Broken here")
	require.Contains(t, state(), "A and B both hold the lock")
	require.True(t, strings.HasSuffix(b.text(`location.hash`), "-"+strconv.Itoa(last)))

	b.press("ArrowLeft")
	require.NotContains(t, said(), "Broken here")
	b.press("End")
	require.Contains(t, said(), "Broken here")
	b.eval(`document.querySelector('[data-go=first]').click()`, nil)
	require.Equal(t, 0, current())
	b.eval(`document.querySelector('.player .timeline').focus()`, nil)
	b.press("ArrowDown")
	require.Equal(t, 1, current())
	b.eval(`document.querySelector('.player .timeline tbody tr:nth-child(4)').click()`, nil)
	require.Equal(t, 3, current())
}

// visible counts the elements that are shown.
func visible(selector string) string {
	return `[...document.querySelectorAll('` + selector + `')].filter(e => e.getClientRects().length).length`
}

func filters(t *testing.T, b *tab, dir string) {
	rows := visible(".matrix tbody tr:not(.system)")
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.open(fileURL(dir, "index.html"))
	require.Equal(t, 7, b.number(rows))
	b.eval(`document.querySelector('label[for=ver-holds]').click()`, nil)
	require.Equal(t, 2, b.number(rows))
	b.eval(`document.querySelector('label[for=ver-differs]').click()`, nil)
	require.Equal(t, 1, b.number(rows))
	b.eval(`document.querySelector('label[for=ver-all]').click()`, nil)
	b.eval(`document.querySelector('label[for=sys-0]').click()`, nil)
	require.Equal(t, 7, b.number(rows))
}

func withoutScript(t *testing.T, b *tab, dir string) {
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.open(fileURL(dir, "scenarios/toy.look.contend.html"))
	require.Equal(t, b.number(`document.querySelectorAll('.player .timeline tbody tr').length`), b.number(visible(".player .state")))
	require.Zero(t, b.number(visible(".bar")), "buttons that do nothing")
	require.Zero(t, b.number(visible(".copy")))
}

func onPaper(t *testing.T, b *tab, dir string) {
	b.open(fileURL(dir, "scenarios/toy.look.contend.html"))
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	defer b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	require.Equal(t, b.number(`document.querySelectorAll('.player .timeline tbody tr').length`), b.number(visible(".player .state")))
	require.Zero(t, b.number(visible(".bar")))
	// Paper does not scroll: a long diagram is there to its end, which is where it breaks.
	b.look(720, 900, "light")
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.open(fileURL(dir, "scenarios/toy.lease.stall.html"))
	b.eval(`document.querySelector('.diagram').classList.add('wide', 'long')`, nil) // as of twice as many steps
	require.Zero(t, b.number(`Array.from(document.querySelectorAll('.diagram svg')).filter(s => s.getBoundingClientRect().right > innerWidth).length`))
}

// A diagram that does not fit opens at the last step that comes in between.
func atTheRace(t *testing.T, b *tab, dir string) {
	b.look(420, 900, "light")
	var added struct{ Identifier string }
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `new MutationObserver(() =>
		document.querySelectorAll('.diagram').forEach(d => d.classList.add('wide', 'long'))
	).observe(document, {childList: true, subtree: true})`}, &added)
	defer b.call("Page.removeScriptToEvaluateOnNewDocument", map[string]any{"identifier": added.Identifier}, nil)
	b.open(fileURL(dir, "scenarios/toy.lease.stall.html"))
	require.Equal(t, "scrolls, there", b.text(`(() => {
		const room = document.querySelector('.diagram .scroll'), to = room.getBoundingClientRect();
		const n = Array.from(document.querySelectorAll('.timeline tbody tr.preempts')).at(-1).dataset.step;
		const at = document.querySelector('.diagram [data-step="' + n + '"]').getBoundingClientRect();
		return (room.scrollWidth > room.clientWidth ? 'scrolls, ' : 'fits, ') +
			(at.left >= to.left && at.right <= to.right ? 'there' : 'elsewhere');
	})()`))
}

func linksToSteps(t *testing.T, b *tab, dir string) {
	b.open(fileURL(dir, "scenarios/toy.look.contend.html") + "#mutual-exclusion-3")
	require.Contains(t, b.text(`document.querySelector('.say').textContent`), "Step 3 of")
	for _, width := range []int{1280, 390} { // the row of the step is in sight, whatever the browser takes for the place
		b.look(width, 420, "light")
		page := fileURL(dir, "scenarios/toy.lease.stall.html")
		b.open(page)
		late := b.number(`document.querySelectorAll('.player .timeline tbody tr').length - 2`)
		b.open(page + "#mutual-exclusion-" + strconv.Itoa(late))
		b.eval(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))`, nil)
		require.Equal(t, 1, b.number(`(() => { const r = document.querySelector('[aria-current=step]').getBoundingClientRect(); return r.top > 60 && r.bottom < innerHeight ? 1 : 0 })()`), width)
	}
}

// contrasts measures text against what it stands on: 4.5 to 1 is what WCAG 2 AA asks.
func contrasts(t *testing.T, b *tab, dir string) {
	for _, scheme := range []string{"light", "dark"} {
		b.look(1360, 900, scheme)
		b.open(fileURL(dir, "scenarios/toy.look.contend.html"))
		require.Empty(t, b.text(`(() => {
			const s = getComputedStyle(document.documentElement);
			const lum = v => { const h = s.getPropertyValue(v).trim().slice(1);
				const c = [0, 2, 4].map(i => parseInt(h.slice(i, i + 2), 16) / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
				return .2126 * c[0] + .7152 * c[1] + .0722 * c[2]; };
			const bad = [];
			const pair = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); const r = (x + .05) / (y + .05); if (!(r >= 4.5)) bad.push(a + ' on ' + b + ': ' + r.toFixed(2)); };
			for (const ink of ['ink', 'dim', 'red', 'green', 'amber', 'link', 'ink-0', 'ink-1', 'ink-2', 'ink-3', 'ink-4', 'ink-5'])
				for (const on of ['bg', 'panel', 'now']) pair('--' + ink, '--' + on);
			pair('--red', '--red-bg'); pair('--ink', '--red-bg'); pair('--amber', '--amber-bg'); pair('--ink', '--new'); pair('--dim', '--new');
			return bad.join('; ');
		})()`), scheme)
	}
}

// pictures are for people to look at; "go test -artifacts" keeps them. What a test can
// say of them is that something is on them, and that nothing sticks out on a telephone.
func pictures(t *testing.T, b *tab, dir string) {
	out := t.ArtifactDir()
	for _, page := range []struct{ name, file string }{
		{"index", "index.html"}, {"scenario", "scenarios/toy.look.tasks.html"}, {"stall", "scenarios/toy.lease.stall.html"},
	} {
		for _, w := range []struct {
			name  string
			width int
		}{{"desktop", 1360}, {"mobile", 390}} {
			for _, scheme := range []string{"light", "dark"} {
				b.look(w.width, 900, scheme)
				b.open(fileURL(dir, page.file))
				file := filepath.Join(out, page.name+"-"+w.name+"-"+scheme+".png")
				b.shot(file, true)
				require.Greater(t, len(colours(t, file)), 20, file)
				require.LessOrEqual(t, b.number(`document.documentElement.scrollWidth`), w.width, "%s sticks out", file)
			}
		}
		b.print(filepath.Join(out, page.name+".pdf"))
	}
}

// colours counts the pixels of each colour of a picture, one in four.
func colours(t *testing.T, file string) map[[3]uint8]int {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	require.NoError(t, err)
	seen := map[[3]uint8]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
		}
	}
	return seen
}
