package all

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rows that lockpick promises to answer: id, contenders, property, verdict. Ids
// are for ever: people link to them and commit schedules under them.
//
//go:embed testdata/rows.txt
var rows string

func TestRows(t *testing.T) {
	var got []string
	seen := map[string]bool{}
	for _, sc := range Core() {
		require.False(t, seen[sc.ID], "%s is there twice", sc.ID)
		seen[sc.ID] = true
		require.NoError(t, sc.Validate())
		for _, c := range sc.Claims {
			got = append(got, fmt.Sprintf("%s %d %s %s", sc.ID, sc.Setting.Contenders(), c.Property, c.Verdict))
		}
	}
	require.Equal(t, strings.Split(strings.TrimSpace(rows), "\n"), got)
}

// Every package of scenarios is in the list, and no id is there twice.
func TestNothingIsLeftOut(t *testing.T) {
	text, err := os.ReadFile("all.go")
	require.NoError(t, err)
	dirs, err := os.ReadDir("..")
	require.NoError(t, err)
	for _, d := range dirs {
		if d.IsDir() && !slices.Contains(noProtocols(), d.Name()) {
			require.Contains(t, string(text), fmt.Sprintf("%q", "lockpick/scenarios/"+d.Name()),
				"scenarios/%s is not in the list: name it in scenarios/all/all.go", d.Name())
		}
	}
	seen := map[string]bool{}
	for _, sc := range All() {
		require.False(t, seen[sc.ID], "%s is there twice", sc.ID)
		seen[sc.ID] = true
	}
}

// What a report shows of a scenario is there.
func TestScenariosExplainThemselves(t *testing.T) {
	for _, sc := range All() {
		require.NotEmpty(t, sc.Summary, sc.ID)
		require.True(t, strings.HasPrefix(sc.Report, "https://github.com/"), sc.ID)
		require.NotEmpty(t, sc.Source, sc.ID)
		require.NotEmpty(t, sc.Watch, sc.ID)
	}
}

// noProtocols are the directories that have none.
func noProtocols() []string { return []string{"all", "command", "internal", "kit", "testdata"} }

// linesPerVariant is how many lines of Go a variant of a protocol has at most, on average: its calls, its
// rows and its report, without comments and empty lines.
const linesPerVariant = 40

func TestProtocolsAreShort(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	lines, variants := 0, map[string]bool{}
	for _, f := range files {
		dir := filepath.Base(filepath.Dir(f))
		if strings.HasSuffix(f, "_test.go") || slices.Contains(noProtocols(), dir) {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	for _, sc := range All() {
		variants[sc.System()+"/"+sc.Variant()] = true
	}
	t.Logf("%d lines, %d variants: %.1f a variant", lines, len(variants), float64(lines)/float64(len(variants)))
	require.LessOrEqual(t, lines, linesPerVariant*len(variants), "move what several protocols have in common to scenarios/kit")
}
