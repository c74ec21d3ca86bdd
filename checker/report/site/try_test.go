package site

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// dataOf reads the data of a page; nil when it has none.
func dataOf(t *testing.T, page string) *tryData {
	t.Helper()
	_, text, found := strings.Cut(page, `<script type="application/json" id="try-data">`)
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "</script>")
	var d tryData
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	return &d
}

// choice is a move as the engines know it.
func (d *tryData) choice(sc *scenarios.Scenario, m tryMove) sched.Choice {
	switch m[0] {
	case tryStall:
		return sched.Choice{Action: sched.Stall}
	case tryPowerLoss:
		return sched.Choice{Action: sched.PowerLoss, State: m[1]}
	}
	c := sched.Choice{Action: sched.Run, Task: trace.Tasks(&sc.Setting)[m[1]]}
	switch m[0] {
	case tryKill:
		c = sched.Choice{Action: sched.Kill, Task: sched.Task{Process: c.Task.Process, N: 1}}
	case trySignal:
		c = sched.Choice{Action: sched.Signal, Task: sched.Task{Process: c.Task.Process, N: 1}}
	}
	return c
}

// shows compares a node with what the site shows of a state elsewhere.
func (d *tryData) shows(t *testing.T, n *tryNode, s *state, way sched.Schedule) {
	t.Helper()
	texts := func(table int) [][]string {
		var out [][]string
		for _, r := range d.Tables[table] {
			var line []string
			for _, x := range r {
				line = append(line, d.Texts[x])
			}
			out = append(out, line)
		}
		return out
	}
	require.Equal(t, s.HoldersText(), d.Texts[n.Holders], way)
	require.Equal(t, s.Clash, n.Clash, way)
	require.Equal(t, s.Clock, d.Texts[n.Clock], way)
	var files, fds, cells, gone [][]string
	for _, f := range s.Files {
		line := []string{f.Name}
		if f.Exists {
			line = append(line, f.Inode.Text, f.Content.Text, f.Links.Text, f.Openers.Text, f.Locked.Text)
		}
		files = append(files, line)
	}
	for _, f := range s.FDs {
		fds = append(fds, []string{f.Owner, grouped(f.FD), f.Inode, f.Name, f.Mode, f.Offset, f.Lock})
	}
	for _, c := range s.Cells {
		cells = append(cells, []string{c.Owner, c.Cell, c.Value.Text})
	}
	for _, g := range s.Gone {
		gone = append(gone, []string{g.Name, g.How})
	}
	require.Equal(t, [][][]string{files, fds, cells, gone},
		[][][]string{texts(n.Files), texts(n.FDs), texts(n.Cells), texts(n.Gone)},
		way)
}

// walk draws a way through the data, and replays it with the engine and the program's own
// code: each step does and answers what the page says, each state is what it shows, and it is
// broken where the page says so and nowhere else.
func walk(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, d *tryData, rng *rand.Rand) {
	t.Helper()
	var way sched.Schedule
	var moves []tryMove
	n := &d.Nodes[0]
	for len(n.Moves) > 0 && len(way) < 60 {
		m := n.Moves[rng.IntN(len(n.Moves))]
		way, moves, n = append(way, d.choice(sc, m)), append(moves, m), &d.Nodes[m[2]]
	}
	ran, err := checker.Replay(sc, p, way)
	require.NoError(t, err, way)
	require.Equal(t, way.String(), ran.Counterexample.Schedule.String(), "no step too many")
	if d.Late && len(n.Moves) > 0 { // polling for ever in vain: the page says that it does not notice
		ran.Broken = false
	}
	if len(way) < 60 {
		require.Equal(t, n.Broken, ran.Broken, way)
		require.Equal(t, !n.Broken, ran.Finished && !ran.Broken, way)
	}
	var violation *trace.Counterexample
	if ran.Broken {
		violation = ran.Counterexample
	}
	chart := report.NewChartSoFar(sc, ran.Counterexample, violation)
	if ran.Broken {
		require.Equal(t, chart.Wrong, d.Texts[n.Wrong], way)
	}
	states := soFar(sc, chart)
	d.shows(t, &d.Nodes[0], &states[0], nil)
	for i, m := range moves {
		var want, got [][3]string
		for _, c := range chart.Rows[i].Calls {
			want = append(want, [3]string{c.Call, c.Answer, map[bool]string{true: "failed"}[c.Failed && !c.Operation]})
		}
		for _, c := range d.Tables[m[3]] {
			got = append(got, [3]string{d.Texts[c[0]], d.Texts[c[1]], map[bool]string{true: "failed"}[c[2] == 1]})
		}
		require.Equal(t, want, got, "step %d of %s", i+1, way)
		d.shows(t, &d.Nodes[m[2]], &states[i+1], way[:i+1])
		require.Equal(t, i == len(moves)-1 && ran.Broken, d.Nodes[m[2]].Broken, way)
	}
}

// follow draws ways through the data of each page that has some, and returns how many have.
func follow(t *testing.T, site map[string]string, list []scenarios.Scenario) int {
	t.Helper()
	pages := 0
	for i := range list {
		sc := &list[i]
		d := dataOf(t, site["scenarios/"+fileOf(sc.ID)])
		if d == nil {
			continue
		}
		pages++
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for _, c := range sc.Claims {
			for k := 0; k < 5 && c.Property.ID == d.Property; k++ {
				walk(t, sc, c.Property, d, rng)
			}
		}
	}
	return pages
}

// What the page carries is what the engine says, along drawn ways. TestCatalogue asks the same
// of every row of the core.
func TestThePageAnswersAsTheEngine(t *testing.T) {
	pages := written(t, results(t), report.Options{})
	require.Equal(t, 6, follow(t, pages, toys.All()), "pages; the toy that starves has none")
}

// A space that is too large is not carried: the page says so, and names the command.
func TestTooManyMovesForAPage(t *testing.T) {
	sc := fixtures.Row(t, "ctx/excl/contend", 4)
	r := checker.NewResult(sc, scenarios.MutualExclusion, nil)
	r.Verdict = checker.Holds
	page := written(t, []checker.Result{r}, report.Options{Program: "./mine"})["scenarios/ctx.excl.contend.html"]
	require.Nil(t, dataOf(t, page))
	_, page, _ = strings.Cut(page, `id="try"`)
	require.Contains(t, page, "more than 4000 moves, too many for a page")
	require.Contains(t, page, "./mine replay ctx/excl/contend &#39;A1&#39; --property mutual-exclusion --procs 4")
}

// In a real browser: choose, see, undo, follow, share.
func TestTryYourOwn(t *testing.T) {
	t.Parallel()
	b := openTab(t)
	dir := t.TempDir()
	require.NoError(t, Write(dir, results(t), report.Options{}))
	b.look(1280, 900, "light")
	page := fileURL(dir, "scenarios/toy.look.contend.html")
	b.open(page)
	steps := func() int { return b.number(`document.querySelectorAll('.own .timeline tbody tr').length - 1`) }
	said := func() string { return b.text(`document.querySelector('.own .say').textContent`) }
	state := func() string { return b.text(`document.querySelector('.own .state').innerText`) }
	press := func(what string) { b.eval(`document.querySelector('`+what+`').click()`, nil) }
	require.Equal(t, "Who takes the first step?", said())
	require.Zero(t, steps())
	require.Equal(t, 2, b.number(`document.querySelectorAll('.own .moves button').length`))

	// A looks; B looks, creates and has the lock; A goes on, and has it too.
	for _, who := range []string{"A", "B", "B", "B", "B"} {
		press(`.own [data-word="` + who + `"]`)
	}
	require.Equal(t, 5, steps())
	require.Contains(t, said(), "So far nothing breaks")
	for b.number(`document.querySelector('.own .say.broken') ? 1 : 0`) == 0 && steps() < 20 {
		press(`.own [data-word="A"]`)
	}
	require.Contains(t, said(), "Broken: A and B both hold the lock")
	require.Contains(t, state(), "A and B both hold the lock")
	require.Zero(t, b.number(`document.querySelectorAll('.own .moves button').length`))
	broken := b.text(`document.querySelector('.own .replay code').textContent`)
	hash := b.text(`location.hash`)
	schedule, err := sched.ParseSchedule(strings.ReplaceAll(strings.TrimPrefix(hash, "#try="), ",", " "))
	require.NoError(t, err)
	require.Contains(t, broken, "'"+schedule.String()+"'")
	r := resultOf(t, "toy/look/contend", scenarios.MutualExclusion)
	ran, err := checker.Replay(r.Scenario, r.Property, schedule)
	require.NoError(t, err)
	require.True(t, ran.Broken, "the engine says so too")
	if out := t.ArtifactDir(); out != "" {
		for name, look := range map[string]struct {
			width  int
			scheme string
		}{"desktop": {1280, "light"}, "dark": {1280, "dark"}, "phone": {390, "light"}} {
			b.look(look.width, 900, look.scheme)
			b.eval(`document.querySelector('.own').scrollIntoView()`, nil)
			b.shot(filepath.Join(out, "try-"+name+".png"), false)
			require.LessOrEqual(t, b.number(`document.documentElement.scrollWidth`), look.width, name)
		}
		b.look(1280, 900, "light")
	}

	// Undo, redo, begin again.
	n := steps()
	press(`[data-try=undo]`)
	require.Equal(t, n-1, steps())
	require.NotContains(t, said(), "Broken")
	press(`[data-try=redo]`)
	require.Contains(t, said(), "Broken")
	press(`[data-try=again]`)
	require.Zero(t, steps())
	press(`[data-try=undo]`) // there is nothing to undo
	require.Zero(t, steps())

	// The counterexample of the page, and another to its end.
	press(`[data-try=example]`)
	require.Equal(t, len(r.Counterexample.Schedule), steps())
	require.Contains(t, said(), "Broken")
	press(`[data-try=again]`)
	for b.number(`document.querySelectorAll('.own .moves button').length`) > 0 {
		press(`.own .moves button`)
	}
	require.Contains(t, said(), "nothing on this way breaks mutual-exclusion")

	// A link opens at its schedule; one that asks for the impossible says how far it goes.
	b.open(page + hash)
	require.Equal(t, n, steps())
	require.Contains(t, said(), "Broken")
	b.open(page + "#try=A2,C4")
	require.Equal(t, 2, steps())
	require.Contains(t, said(), "2 of 6 steps are possible: C is not, here")
	b.open(page + "#try=%3Cb%3E")
	require.Contains(t, said(), "not the text of a schedule")

	// Kills and leaps of the clock.
	b.open(fileURL(dir, "scenarios/toy.excl.crash.html"))
	press(`.own [data-word="A"]`)
	press(`.own [data-word="A!"]`)
	require.Contains(t, state(), "A killed")
	b.open(fileURL(dir, "scenarios/toy.lease.stall.html"))
	press(`.own [data-word="A"]`)
	press(`.own [data-word="~"]`)
	require.Contains(t, state(), "clock +")
	require.Empty(t, b.problems, "the console complains")
}
