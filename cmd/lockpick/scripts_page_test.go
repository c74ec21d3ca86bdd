package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
	"lockpick/scenarios/command"
)

// The pages about real programs are followed from an empty directory: blocks marked "file" are
// written, and what follows a mark "run" is what the command prints. Run with -update to write
// the output anew.
func TestPagesOfPrograms(t *testing.T) {
	needDash(t)
	passShims(t)
	for _, name := range []string{"docs/scripts.md", "docs/power.md", "README.md"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "README.md" {
				t.Skip("SKIPPED with -short: scripts that poll take long; go test ./cmd/lockpick runs it")
			}
			file, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name)))
			require.NoError(t, err)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := followPage(t, string(text))
			golden.CheckFile(t, file, got)
		})
	}
}

// passShims takes shims out of PATH: what a verdict assumes of them names directories of this machine.
func passShims(t *testing.T) {
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(d string) bool {
		return filepath.Base(d) == "shims"
	})
	t.Setenv("PATH", strings.Join(dirs, string(filepath.ListSeparator)))
}

// needDash skips the test where programs cannot be traced, or where sh makes other calls than
// those that the pages show.
func needDash(t *testing.T) {
	t.Helper()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil || filepath.Base(sh) != "dash" {
		t.Skipf("SKIPPED: the pages show dash, and sh is %s here (%v); where it is dash go test ./cmd/lockpick runs it", sh, err)
	}
	for _, p := range []string{"flock", "mkdir", "perl", "sync"} {
		testmain.Needs(t, p, "./cmd/lockpick")
	}
	spec := command.Spec{Commands: []command.Line{{Shell: "sh -c 'echo > x'"}}}
	_, err = spec.Scenario()
	testmain.Traced(t, err, "./cmd/lockpick")
	require.NoError(t, err)
}

// shownDir is the directory in the pages. The one in which they are followed has a name as long,
// so that lines are broken alike.
const shownDir = "/home/ann/counter"

// emptyDir makes an empty directory with a name of that length, and works in it. The name has no number that is a pid of
// some command: one that sees its own pid in the texts that it is told is run apart from others.
func emptyDir(t *testing.T) string {
	t.Helper()
	for n := 500; n < 1000; n++ {
		dir := fmt.Sprintf("/tmp/lockpick-%03d", n)
		if os.Mkdir(dir, 0o755) == nil {
			require.Len(t, dir, len(shownDir))
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			t.Chdir(dir)
			return dir
		}
	}
	t.Skip("SKIPPED: it works in a new directory /tmp/lockpick-500 to /tmp/lockpick-999, and all are taken here; when one is removed go test ./cmd/lockpick runs it")
	return ""
}

func followPage(t *testing.T, text string) string {
	t.Helper()
	dir := emptyDir(t)
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, marker)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		head, rest, _ := strings.Cut(after, " -->\n")
		block, rest, found := strings.Cut(rest, end)
		require.True(t, found, "%s has no end", head)
		text = rest
		kind, what, _ := strings.Cut(head, ": ")
		b.WriteString(marker + head + " -->\n")
		switch kind {
		case "file":
			_, code, _ := strings.Cut(block, "\n")
			require.NoError(t, os.WriteFile(what, []byte(strings.TrimSuffix(code, "```\n")), 0o644))
			b.WriteString(block)
		case "program":
			counter(t)
			fallthrough
		case "run":
			b.WriteString("```\n$ " + what + "\n" + ran(t, dir, what) + "```\n")
		default: // TestReadme's, or a table of another test
			b.WriteString(block)
		}
		b.WriteString(end)
	}
}

// counter makes the files that README.md has made by two commands.
func counter(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o644))
	require.NoError(t, os.WriteFile("counter.sh", []byte("read x < n\necho $((x+1)) > n\n"), 0o644))
}

// ran is what a command prints, with the directory and the time of the page.
func ran(t *testing.T, dir, line string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	exit := cli.Run(context.Background(), all.All(), shellWords(line)[1:], &stdout, &stderr, nil)
	require.Contains(t, []int{cli.ExitAsClaimed, cli.ExitDiffers}, exit, "%s: %s", line, stderr.String())
	text := strings.ReplaceAll(stdout.String(), dir, shownDir)
	return regexp.MustCompile(`\d+\.\d s\n`).ReplaceAllString(text, "0.4 s\n")
}

// shellWords splits a command line with words in single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
