package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
)

// anyStep is where the step numbers of a cause stand: they differ with the versions of interpreters.
var anyStep = regexp.MustCompile(`step \d+`)

// What is said of programs that are broken is what an expert wrote first, on the first line of each file of
// testdata/causes. causes.txt has both beside each other, with the kind of the cause. LOCKPICK_LONG looks at all.
func TestCausesOfPrograms(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	for _, p := range []string{"flock", "perl", "node"} {
		testmain.Needs(t, p, "./checker/cli")
	}
	t.Setenv("PATH", filepath.Dir(testmain.Python(t, "./checker/cli"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	files, err := filepath.Glob("testdata/causes/*.txtar")
	require.NoError(t, err)
	const some = 2
	var text strings.Builder
	for i, file := range files {
		if testmain.Long() || golden.Updating() || i%(len(files)/some) == 0 {
			text.WriteString(causeOf(t, file))
		}
	}
	if testmain.Long() || golden.Updating() {
		golden.Check(t, "causes.txt", text.String())
		return
	}
	known, err := os.ReadFile(filepath.Join("testdata", "causes.txt"))
	require.NoError(t, err)
	for part := range strings.SplitSeq(strings.TrimSpace(text.String()), "\n\n") {
		require.Contains(t, string(known), part)
	}
}

// causeOf is what is said of the programs in a file, under what an expert says.
func causeOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	expert, rest, _ := strings.Cut(string(text), "\n")
	property := "serializable"
	if line, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(line, "property ") {
		property = strings.TrimPrefix(line, "property ")
	}
	got := run(t, "run", "--json", "--native", "off", "--property", property, file)
	var out struct {
		Results []struct {
			Verdict        string
			Counterexample struct{ Code, Cause string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out), "%s: %s", file, got.stderr)
	r := out.Results[0]
	name := strings.TrimSuffix(filepath.Base(file), ".txtar")
	if r.Verdict == "holds" {
		return fmt.Sprintf("%s: holds\n  expert  %s\n\n", name, expert)
	}
	kind, ok := trace.KindOf(r.Counterexample.Code)
	require.True(t, ok, "%s: %q", file, r.Counterexample.Code)
	cause := strings.TrimPrefix(r.Counterexample.Cause, "No order of the commands ends like this. ")
	cause = anyStep.ReplaceAllString(cause, "step …")
	return fmt.Sprintf("%s: %s %s\n  expert  %s\n  cause   %s\n\n", name, kind.ID, kind.Name, expert, cause)
}
