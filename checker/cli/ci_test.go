package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// Every file format may be asked for at once, and the matrix is still printed.
func TestFileFormats(t *testing.T) {
	dir := t.TempDir()
	md, xml, sarif := filepath.Join(dir, "r.md"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "r.sarif")
	plain := run(t, "check", "toy/wrong")
	got := run(t, "check", "toy/wrong", "--markdown", md, "--junit", xml, "--sarif", sarif)
	require.Equal(t, plain, got)
	require.Equal(t, ExitDiffers, got.exit)
	for file, want := range map[string]string{md: "```text", xml: "<failure ", sarif: `"level": "error"`} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
	bad := run(t, "check", "toy/wrong", "--junit", filepath.Join(dir, "no", "such"))
	require.Equal(t, ExitUsage, bad.exit)
	require.Contains(t, bad.stderr, "--junit: no file can be made there: ")
	require.Empty(t, bad.stdout, "nothing is decided first")
	text, err := os.ReadFile(xml)
	require.NoError(t, err)
	require.Regexp(t, `<testcase classname="toy.wrong.contend" name="mutual-exclusion" time="\d+\.\d+">`, string(text))
}

// Every format hands out what holds, what is broken and what is unknown, and lets no text
// of a scenario play with a terminal.
func TestFormatsOfTheList(t *testing.T) {
	fixtures.OnlyAnswers(t)
	hostile := toys.All()[0]
	hostile.Summary = "\x1b[2J</script><b>\"&'\u202e"
	hostile.Source = "package x // " + hostile.Summary
	list := []scenarios.Scenario{hostile, toys.All()[1]}
	for _, f := range formats() {
		for _, bounds := range [][]string{nil, {"--max-states", "5"}} {
			t.Run(f.flag, func(t *testing.T) {
				args := append([]string{"check", "--" + f.flag}, bounds...)
				out := filepath.Join(t.TempDir(), "out")
				if f.arg != "" {
					args[1] += "=" + out
				}
				var stdout, stderr bytes.Buffer
				exit := Run(t.Context(), list, args, &stdout, &stderr, func(string) string { return "" })
				require.Contains(t, []int{ExitAsClaimed, ExitUnknown}, exit, stderr.String())
				require.NotEmpty(t, stdout.String())
				require.False(t, strings.Contains(stdout.String(), "\x1b"))
				if f.arg == "" {
					return
				}
				size := 0
				require.NoError(t, filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
					require.NoError(t, err)
					if d.IsDir() {
						return nil
					}
					text, err := os.ReadFile(name)
					require.False(t, strings.Contains(string(text), "\x1b"), name)
					size += len(text)
					return err
				}))
				require.NotZero(t, size)
			})
		}
	}
}

// One output that fails keeps nobody from having the others: a full disk shows only when a
// file is written.
func TestOutputsBesideOneThatFails(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("SKIPPED: there is no /dev/full here; where there is one, as under Linux, go test ./checker/cli runs it")
	}
	dir := t.TempDir()
	sarif := filepath.Join(dir, "r.sarif")
	plain := run(t, "check", "toy/wrong")
	got := run(t, "check", "toy/wrong", "--markdown", "/dev/full", "--sarif", sarif)
	require.Equal(t, ExitUsage, got.exit)
	require.Equal(t, plain.stdout, got.stdout)
	require.Equal(t, "lockpick: --markdown: write /dev/full: no space left on device\n", got.stderr)
	text, err := os.ReadFile(sarif)
	require.NoError(t, err)
	require.Contains(t, string(text), `"level": "error"`)
}

// Outputs that cannot be meant are refused before anything is decided.
func TestOutputsThatClash(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	part := filepath.Join(dir, "part.json")
	require.NoError(t, os.WriteFile(part, nil, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog"), nil, 0o777))
	require.NoError(t, os.Symlink(part, filepath.Join(dir, "same.json")))
	for args, want := range map[string]string{
		"check --junit r --sarif r":                 "--junit and --sarif both write to r: choose two files",
		"check --junit r --markdown ./r":            "both write to",
		"check --junit r --html r":                  "both write to r",
		"check --junit .":                           "--junit: . is a directory: choose a file",
		"check --html part.json":                    "--html: part.json is not a directory",
		"check --junit no/such/folder":              "--junit: no file can be made there",
		"check --markdown prog":                     "--markdown: prog is a program: choose another file",
		"check --json --markdown -":                 "--json, --markdown all print to standard output",
		"explain toy/look/contend --svg r --save r": "--svg and --save both write to r",
	} {
		got := run(t, strings.Fields(args)...)
		require.Equal(t, ExitUsage, got.exit, args)
		require.Contains(t, got.stderr, want)
		require.Empty(t, got.stdout)
	}
	require.NoFileExists(t, "r")
	got := run(t, "run", "--markdown", "sh a.sh", "sh a.sh")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, `"sh a.sh" looks like a command: name a file first`)
}

// On GitHub a run is annotated unasked, on standard error, so that JSON stays JSON.
func TestGitHubAnnotations(t *testing.T) {
	const command = "title=toy/wrong/contend%3A mutual-exclusion is broken%2C and the claim is%3A holds::"
	actions := map[string]string{"GITHUB_ACTIONS": "true"}
	got := runIn(context.Background(), actions, "check", "toy/wrong", "--json")
	// The file is named as the repository has it, wherever in it the command is called.
	require.Regexp(t, `^::error file=checker/internal/toys/toys.go,line=\d+,`+command, got.stderr)
	require.Equal(t, 1, strings.Count(got.stderr, "\n"))
	require.True(t, strings.HasPrefix(got.stdout, "{"), got.stdout)
	require.Contains(t, run(t, "check", "toy/wrong", "--github").stderr, command)
	require.Empty(t, runIn(context.Background(), actions, "check", "toy/wrong", "--github=false").stderr)
	require.Empty(t, runIn(context.Background(), actions, "check", "toy/excl/contend").stderr)
}

func TestExplainPictures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.svg")
	got := run(t, "explain", "toy/look/contend", "--svg", file, "--markdown", "-")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "```text\n")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg ")
	for flag, want := range map[string]string{
		"--json": `"counterexample": {`, "--sarif=-": `"version": "2.1.0"`, "--junit=-": "<testsuites ",
	} {
		got := run(t, "explain", "toy/look/contend", flag)
		require.Contains(t, got.stdout, want)
		require.False(t, strings.HasPrefix(got.stdout, "toy/"))
	}
	none := run(t, "explain", "toy/excl/contend", "--svg", file)
	require.Equal(t, ExitUsage, none.exit)
	require.Contains(t, none.stderr, "there is no counterexample")
}
