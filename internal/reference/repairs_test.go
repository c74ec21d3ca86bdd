package reference

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/edits"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// RepairsPage is the name of the page of what mends broken rows.
const RepairsPage = "repairs.md"

var repairsFlag = flag.String("reference.repairs", "", "look for a repair of the broken rows whose ids match REGEXP")

const (
	repairsHead = "<!-- Generated: go test ./internal/reference -run TestRepairs -reference.repairs . -update -->\n\n"
	// repairTime bounds the search for one row.
	repairTime = 4 * time.Minute
)

// What mends each broken row is docs/reference/repairs.md. Rows that the flag does not name keep their line, if they
// have one. Without the flag the page has no row that is gone, and the long form looks for some repairs again.
func TestRepairs(t *testing.T) {
	testmain.Slow(t, "it looks for repairs", "./internal/reference")
	again, file := *repairsFlag, filepath.Join(dir, RepairsPage)
	switch {
	case again == "" && testmain.Long():
		again = "^(ctx|gofrs-flock)/"
	case again == "":
		again = "^ctx/stat-then-write/contend$"
	}
	chosen, err := regexp.Compile(again)
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	list := all.All()
	var lines []string
	t.Run("found", func(t *testing.T) {
		for i := range list {
			sc := &list[i]
			if !isBroken(sc) {
				continue
			}
			at := len(lines)
			lines = append(lines, keptLine(string(text), sc.ID))
			if chosen.MatchString(sc.ID) {
				t.Run(sc.ID, func(t *testing.T) {
					t.Parallel()
					lines[at] = repairLine(t, list, sc)
				})
			}
		}
	})
	golden.CheckFile(t, file, repairsText(lines))
}

func isBroken(sc *scenarios.Scenario) bool {
	return slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Verdict == scenarios.Broken })
}

// keptLine is the line of the page about a row; empty when there is none.
func keptLine(page, id string) string {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| "+id+" |") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// inFile is what changes with the sources of a row, and is left out.
var inFile = regexp.MustCompile(`(, )?[\w-]+\.go:\d+`)

// The systems that the project began with have known fixes, which are found without being told: the same calls, or a
// lock of the kernel for as long as the known one. None is larger than the variant in which the fix is known; that of
// openclaw-release waits for another task, which no change of calls does, and a lock in its place is larger.
func TestKnownFixesAreFound(t *testing.T) {
	testmain.Slow(t, "it looks for repairs", "./internal/reference")
	list := all.Core()
	find := func(id string) *scenarios.Scenario {
		i := slices.IndexFunc(list, func(sc scenarios.Scenario) bool { return sc.ID == id })
		require.GreaterOrEqual(t, i, 0, id)
		return &list[i]
	}
	const held = `^flock \S+ from before the lock is taken until it is given back$`
	for _, c := range []struct {
		row, fix, known string
		long            bool
	}{
		{"ctx/stat-then-write/contend", `^O_EXCL in open \.sync\.lock `, "ctx/excl/contend", false},
		{"ctx/pid-cleanup/dead-owner", held, "ctx/flock/crash", false},
		{"gateguard/rmw/contend", `^flock \S+ from the first call to the end$`, "gateguard/flock-rmw/crash", false},
		{"openclaw-release/option-b-reentrant/tasks", held, "", false},
		{"openclaw-release/original/tasks", held, "", true},
		{"openclaw-takeover/rename/dead-owner", held, "openclaw-takeover/flock/dead-owner", false},
		{"openclaw-takeover/rm-then-create/dead-owner", held, "openclaw-takeover/flock/dead-owner", true},
		{"agentwire/truncating-open/contend", `^without O_TRUNC of open main\.lock `,
			"agentwire/flock-only/crash", false},
		{"agentwire/blind-unlink/contend", `^without unlink main\.lock `, "agentwire/flock-only/crash", true},
	} {
		if c.long && !testmain.Long() {
			continue
		}
		sc := find(c.row)
		fix, err := edits.RepairProtocol(t.Context(), sc, familyOf(list, sc), checker.Options{}, func(edits.Repair) {})
		require.NoError(t, err, c.row)
		require.NotNil(t, fix, c.row)
		require.Regexp(t, c.fix, fix.Text, c.row)
		require.Empty(t, fix.Still, c.row)
		if c.known != "" {
			require.LessOrEqual(t, fix.Calls, edits.Distance(sc, find(c.known)), c.row)
		}
	}
}

// familyOf lists the other rows of a protocol.
func familyOf(list []scenarios.Scenario, sc *scenarios.Scenario) (rows []scenarios.Scenario) {
	for _, o := range list {
		if o.ID != sc.ID && o.System() == sc.System() && o.Variant() == sc.Variant() {
			rows = append(rows, o)
		}
	}
	return rows
}

// repairLine looks for a repair, and compares it with a variant of the system that holds in the same situation.
func repairLine(t *testing.T, list []scenarios.Scenario, sc *scenarios.Scenario) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), repairTime)
	defer stop()
	tried := 0
	began := time.Now()
	fix, err := edits.RepairProtocol(ctx, sc, familyOf(list, sc), checker.Options{}, func(edits.Repair) { tried++ })
	cells := []string{sc.ID, "", "", "none", "", ""}
	var broken []string
	for _, c := range sc.Claims {
		if c.Verdict == scenarios.Broken {
			broken = append(broken, c.Property.ID)
		}
	}
	cells[1] = strings.Join(broken, ", ")
	switch {
	case fix != nil:
		held, _, _ := strings.Cut(fix.Proof, ";")
		cells[2] = cell(strings.ReplaceAll(inFile.ReplaceAllString(fix.Text, ""), " ()", ""))
		cells[3] = fmt.Sprintf("✓ %s: %d", held, fix.Calls)
		if fix.Still != nil {
			cells[3] += "; still broken: " + strings.Join(fix.Still, ", ")
		}
	case err != nil && ctx.Err() == nil:
		require.NoError(t, err)
	case err != nil:
		cells[3] = "not found in time"
	}
	of := beside(list, sc)
	if of != nil {
		n := edits.Distance(sc, of)
		cells[4], cells[5] = of.ID, fmt.Sprintf("✓ %s: %d", claimed(of), n)
		if fix != nil && n > 0 && fix.Calls > n {
			cells[5] += " (smaller)"
		}
	}
	t.Logf("%d tried, %s: %s", tried, time.Since(began).Round(time.Second/10), strings.Join(cells, " | "))
	return "| " + strings.Join(cells, " | ") + " |"
}

// beside is the variant of the system nearest to a broken row that holds in its situation; nil for none.
func beside(list []scenarios.Scenario, sc *scenarios.Scenario) (nearest *scenarios.Scenario) {
	situation := func(s *scenarios.Scenario) string { return s.ID[strings.LastIndex(s.ID, "/")+1:] }
	for i := range list {
		of := &list[i]
		if of.System() != sc.System() || situation(of) != situation(sc) || isBroken(of) {
			continue
		}
		if nearest == nil || edits.Distance(sc, of) < edits.Distance(sc, nearest) {
			nearest = of
		}
	}
	return nearest
}

func claimed(sc *scenarios.Scenario) string {
	var ids []string
	for _, c := range sc.Claims {
		ids = append(ids, c.Property.ID)
	}
	return strings.Join(ids, ", ") + " with " + sc.Setting.String()
}

// repairsText is the page.
func repairsText(lines []string) string {
	broken := len(lines)
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	count := func(text string) (n int) {
		for _, l := range lines {
			if strings.Contains(l, text) {
				n++
			}
		}
		return n
	}
	found := len(lines) - count("| none |") - count("| not found in time |")
	about := fmt.Sprintf("Of %d broken rows of the list %d were searched for a repair so far, and %d have one: "+
		"the smallest change to its calls that `lockpick repair` finds. Beside it stands the variant of the same "+
		"system that holds in the same situation and is nearest to the broken one, as its project or this list "+
		"has it. Both are decided. The number behind each is its size: how many calls of one process that runs alone "+
		"are added, left out or changed; 0 where only a branch changes that such a process does not come to. "+
		"%d of the variants are smaller than the repair.\n\n", broken, len(lines), found, count(" (smaller) |"))
	return repairsHead + "# What mends what is broken\n\n" + about +
		"| row | broken | the change | decided, and its size | the variant | decided, and its size |\n" +
		"|---|---|---|---|---|---|\n" +
		strings.Join(lines, "\n") + "\n\n[All shapes](README.md)\n"
}
