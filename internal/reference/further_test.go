package reference

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

var (
	furtherFlag = flag.Bool("reference.further", false, "try every claim that holds one process, one crash and one stall further (CPU minutes)")
	// furtherStates bounds each attempt.
	furtherStates = 1_000_000
)

// Every claim that holds is tried one step further; what is found is docs/reference/one-step-further.md.
func TestOneStepFurther(t *testing.T) {
	if !*furtherFlag {
		t.Skip("SKIPPED: nothing was tried one step further than its row, which takes CPU minutes; go test ./internal/reference -run TestOneStepFurther -reference.further does it")
	}
	var rows []*Further
	list := all.All()
	t.Run("tried", func(t *testing.T) {
		for i := range list {
			for _, c := range list[i].Claims {
				if c.Verdict != scenarios.Holds {
					continue
				}
				row := &Further{Scenario: &list[i], Property: c.Property}
				rows = append(rows, row)
				t.Run(list[i].ID+" "+c.Property.ID, func(t *testing.T) {
					t.Parallel()
					for _, s := range Widenings() {
						r, why := tryWider(t, s, row)
						row.Found, row.Why = append(row.Found, r), append(row.Why, why)
					}
					var err error
					row.Any, err = AnyCell(t.Context(), row.Scenario, row.Property, furtherSign(row.Found[0]))
					require.NoError(t, err)
				})
			}
		}
	})
	var done []Further
	for _, r := range rows {
		done = append(done, *r)
	}
	golden.CheckFile(t, filepath.Join(dir, FurtherPage), FurtherText(done, furtherStates))
}

// Why a cell has no result.
const (
	noMore         = "the setting allows for no more"
	nothingToJudge = "nothing to judge"
)

// tryWider decides a row one step further, or says why that is not asked.
func tryWider(t *testing.T, s Widening, row *Further) (*checker.Result, string) {
	sc, err := s.Of(row.Scenario)
	if err != nil {
		return nil, noMore
	}
	r, err := checker.Check(t.Context(), &sc, row.Property, checker.Options{Workers: 1, SkipOdds: true, States: furtherStates})
	if err != nil {
		return nil, nothingToJudge
	}
	if r.Verdict == checker.Broken {
		ran, err := checker.Replay(r.Scenario, r.Property, r.Counterexample.Schedule)
		require.NoError(t, err)
		require.True(t, ran.Broken, "%s %s", sc.ID, r.Counterexample.Schedule)
	}
	return &r, ""
}

// Widenings are made from the row's setting, which stays as it is.
func TestWidenings(t *testing.T) {
	sc := all.Core()[0]
	was := sc.Setting
	for i, want := range []string{"3 processes", "2 processes, up to 1 crash", "2 processes, up to 1 stall"} {
		in, err := Widenings()[i].Of(&sc)
		require.NoError(t, err)
		require.Equal(t, want, in.Setting.String())
	}
	require.Equal(t, was, sc.Setting)
}

// A row with one role has as many processes as one likes, all with that role.
func TestOneRole(t *testing.T) {
	for _, sc := range all.All() {
		if sc.ID == "write-file-atomic/fsync-file/start-after-loss" {
			in, err := Widenings()[0].Of(&sc)
			require.NoError(t, err)
			require.NotNil(t, in.Program(1, 1))
			return
		}
	}
	t.Fatal("the row is gone: take another one with one role")
}

// The page of what was tried further has the rows and settings of today, and each schedule on it still breaks
// its row. What holds there is decided again of the smallest family, of the others only by -reference.further.
func TestFurtherPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(dir, FurtherPage))
	require.NoError(t, err)
	table, _, ok := strings.Cut(string(text), "\n## What breaks\n")
	require.True(t, ok)
	var there [][]string // of the table's rows: id, property, a cell for each widening
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == 3+len(Widenings()) && strings.Contains(cells[0], "/") {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			there = append(there, cells)
		}
	}
	list := all.All()
	for i := range list {
		for _, c := range list[i].Claims {
			if c.Verdict != scenarios.Holds {
				continue
			}
			require.NotEmpty(t, there, "%s %s is not on the page: -reference.further -update writes it", list[i].ID, c.Property)
			row := there[0]
			there = there[1:]
			require.Equal(t, []string{list[i].ID, c.Property.ID}, row[:2], "-reference.further -update writes the page anew")
			for k, w := range Widenings() {
				current(t, w, &list[i], c.Property, row[2+k])
			}
		}
	}
	require.Empty(t, there, "the page has rows that are gone: -reference.further -update writes it anew")
}

// The last column of the page is what is proved today. With -update it is written anew, and nothing else of the page.
func TestAnyNumberColumn(t *testing.T) {
	testmain.OnlyLong(t, "TestNoBrokenRowIsProved asks rows for any number, too", "./internal/reference")
	if testing.Short() {
		t.Skip("SKIPPED with -short: it proves rows for any number of processes; go test ./internal/reference runs it")
	}
	file := filepath.Join(dir, FurtherPage)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines, proved, asked := strings.Split(string(text), "\n"), 0, 0
	every, broken, alike := 0, 0, 0
	list := all.All()
	for i, line := range lines {
		cells := strings.Split(line, " | ")
		at := slices.IndexFunc(list, func(sc scenarios.Scenario) bool { return "| "+sc.ID == cells[0] })
		if at < 0 {
			continue
		}
		p, err := list[at].Property(cells[1])
		require.NoError(t, err)
		is, err := AnyCell(t.Context(), &list[at], p, cells[2])
		require.NoError(t, err)
		lines[i] = strings.Join(append(cells[:2+len(Widenings())], is+" |"), " | ")
		if strings.HasPrefix(is, "✗") {
			broken++
		}
		if list[at].Setting.Alike() && parameterized.Asks(p) {
			if alike++; strings.HasPrefix(is, "✓") {
				every++
			}
		}
		if list[at].Setting.Interchangeable && parameterized.Asks(p) {
			if asked++; strings.HasPrefix(is, "✓") {
				proved++
			}
		}
	}
	golden.CheckFile(t, file, strings.Join(lines, "\n"))
	require.GreaterOrEqual(t, 10*proved, 7*asked, "%d of %d rows are proved", proved, asked)
	require.GreaterOrEqual(t, 10*(every+broken), 7*alike,
		"of %d rows of like processes %d are proved and %d broken with one more", alike, every, broken)
	t.Logf("of %d rows of like processes %d are proved and %d broken with one more", alike, every, broken)
}

// current compares a cell of the page with the row as it is today.
func current(t *testing.T, w Widening, of *scenarios.Scenario, p *scenarios.Property, cell string) {
	what := of.ID + " " + p.ID + ", " + w.Name + ": " + cell
	sc, err := w.Of(of)
	require.Equal(t, err != nil, cell == "· "+noMore, what)
	mark, schedule, broken := strings.Cut(cell, "`")
	if !broken {
		require.Contains(t, []string{"✓", "?", "· " + noMore, "· " + nothingToJudge}, cell, what)
		if cell == "✓" && of.System() == "ctx" {
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err, what)
			require.Equal(t, checker.Holds, r.Verdict, what)
		}
		return
	}
	require.Equal(t, "✗ ", mark, what)
	plan, err := sched.ParseSchedule(strings.Trim(schedule, "`"))
	require.NoError(t, err, what)
	for _, assumed := range narrower(sc.Setting.Assume) { // a schedule is of one case of what file systems do
		st := sc.Setting
		st.Assume = assumed
		in, err := sc.In(st)
		require.NoError(t, err, what)
		if ran, err := checker.Replay(&in, p, plan); err == nil && ran.Broken {
			return
		}
	}
	t.Errorf("%s: the schedule breaks it no more", what)
}

// narrower lists the assumptions that fix whatever these fix, in the same way, themselves first.
func narrower(a scenarios.Assumptions) []scenarios.Assumptions {
	out := []scenarios.Assumptions{}
	for _, i := range fixing(a.Inodes, scenarios.InodesReused) {
		for _, t := range fixing(a.Times, scenarios.TimesDiffer) {
			for _, s := range fixing(a.Sleeps, scenarios.SleepsLast) {
				out = append(out, scenarios.Assumptions{Inodes: i, Times: t, Sleeps: s, Disk: a.Disk})
			}
		}
	}
	return out
}

// fixing lists what an assumption may become: what it is, or, while it is open, any up to the last.
func fixing[A ~uint8](a, last A) []A {
	out := []A{a}
	for n := a + 1; a == 0 && n <= last; n++ {
		out = append(out, n)
	}
	return out
}
