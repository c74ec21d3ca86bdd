package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"lockpick/checker/report"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// Where a command stands: at its line of the archive, or in the script that it runs.
func TestCommandPlaces(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.sh": "read x < n\n", "bin": "\x7fELF\x00", "race.txtar": counting} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	spec := command.Spec{Commands: []command.Line{
		{Shell: "sh -e a.sh x"}, {Argv: []string{"./a.sh"}}, {Argv: []string{"./bin"}}, {Shell: "cat a.sh"}, {Shell: "sh -c 'echo'"},
	}}
	a := scenarios.Source{File: filepath.Join(dir, "a.sh")}
	require.Equal(t, []scenarios.Source{a, a, {}, {}, {}}, commandPlaces(&spec, "", dir))
	spec, err := command.Parse([]byte(counting))
	require.NoError(t, err)
	file := filepath.Join(dir, "race.txtar")
	require.Equal(t, []scenarios.Source{{File: file, Line: 3}, {File: file, Line: 4}}, commandPlaces(&spec, file, dir))
}

// A compiled program that is broken is shown at the line of its source whose call went wrong, in
// every format; what shows it again writes no files again.
func TestRunTellsTheLine(t *testing.T) {
	testmain.Slow(t, "it compiles programs", "./checker/cli")
	raceFile(t) // skips where nothing can be traced
	testmain.Needs(t, "gcc", "./checker/cli")
	dir := t.TempDir()
	t.Chdir(dir)
	source, err := filepath.Abs("bump.c")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("bump.c", []byte(`#include <fcntl.h>
#include <unistd.h>
int main(void) {
	char c;
	int f = open("n", O_RDWR);
	read(f, &c, 1);
	c++;
	pwrite(f, &c, 1, 0);
	return 0;
}
`), 0o600))
	out, err := exec.Command("gcc", "-g", "-O1", "-w", "-o", "bump", source).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Mkdir("data", 0o700))
	require.NoError(t, os.WriteFile("data/n", []byte("0"), 0o600))
	bump, err := filepath.Abs("bump")
	require.NoError(t, err)
	got := run(t, "run", "--dir", filepath.Join(dir, "data"), "--property", "serializable", "--sarif", "r.sarif", "--junit", "r.xml", "--github", "--save", "r.lockpick", "-n", "2", "--", bump)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, "bump.c:8: step")
	require.Contains(t, got.stderr, "::error file=bump.c,line=8,")
	var log struct {
		Runs []struct {
			Results []struct{ Locations []json.RawMessage }
		}
	}
	text, err := os.ReadFile("r.sarif")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &log))
	require.Contains(t, strings.Join(strings.Fields(string(log.Runs[0].Results[0].Locations[0])), ""), `{"uri":"bump.c"},"region":{"startLine":8}`)
	junit, err := os.ReadFile("r.xml")
	require.NoError(t, err)
	require.Contains(t, string(junit), `failures="1"`)

	got = run(t, "replay", "r.lockpick", "--source", "--json", "--svg", "r.svg")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, `"line": 8`)
	require.FileExists(t, "r.svg")
	require.Contains(t, run(t, "replay", "r.lockpick").stdout, "replay  lockpick replay r.lockpick --real")
}

// A counterexample of scripts names their lines.
func TestRunNamesLinesOfScripts(t *testing.T) {
	testmain.Needs(t, "perl", "./checker/cli")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o644))
	require.NoError(t, os.WriteFile("bump.pl", []byte(`open(my $in, '<', 'n') or die;
my $n = <$in>;
open(my $out, '>', 'n') or die;
print $out $n + 1;
close $out;
`), 0o644))
	got := run(t, "run", "--property", "serializable", "--native", "off", "perl bump.pl")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, "bump.pl:2: step ")
	require.Contains(t, got.stdout, "bump.pl:5: step ")
}

// The command that shows a run again is the one that was typed, without what was written.
func TestReplayRunWritesNothingAgain(t *testing.T) {
	c := (&app{}).runCommand()
	f := &runFlags{draw: addDrawFlags(&cobra.Command{Use: c.Use})}
	require.Equal(t, strings.Fields("run --crashes 1 a -- --sarif x"),
		f.withoutOutputs(strings.Fields("run --sarif a.sarif --crashes 1 --junit=x.xml --json --html site --github=false a -- --sarif x")))
}

// The counts of a run fit the columns.
func TestCountsFit(t *testing.T) {
	const text = "2.1 billion interleavings, covered by 16 runs of the programs · 698 states · 0.4 s"
	require.Equal(t, []string{text}, report.JoinWrapped(strings.Split(text, " · "), 98))
	require.Equal(t, []string{
		"2.1 billion interleavings, covered by 16 runs of the programs", "698 states · 0.4 s",
	}, report.JoinWrapped(strings.Split(text, " · "), 64))
}
