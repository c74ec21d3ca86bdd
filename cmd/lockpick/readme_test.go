package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// The README shows what the commands really print and code that really runs, and docs/systems.md every
// scenario: what follows a marker like "<!-- output: lockpick list -->" is generated.
// Run the test with -update to write it anew.
func TestReadme(t *testing.T) {
	for _, name := range []string{"README.md", "docs/systems.md"} {
		file := filepath.Join("..", "..", name)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		golden.CheckFile(t, file, regenerate(t, string(data)))
	}
}

const marker, end = "<!-- ", "<!-- end -->\n"

func regenerate(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, marker)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		head, rest, _ := strings.Cut(after, " -->\n")
		_, text, found = strings.Cut(rest, end)
		require.True(t, found, "%s has no end", head)
		kind, what, _ := strings.Cut(head, ": ")
		b.WriteString(marker + head + " -->\n")
		switch kind {
		case "output":
			b.WriteString("```\n$ " + strings.Replace(what, "lockpick", "go run ./cmd/lockpick", 1) + "\n" + output(t, what) + "```\n")
		case "source":
			code, err := os.ReadFile(filepath.Join("..", "..", what))
			require.NoError(t, err)
			b.WriteString("```go\n" + string(code) + "```\n")
		case "program": // TestPagesOfPrograms
			b.WriteString(strings.TrimSuffix(after[len(head)+len(" -->\n"):], end+text))
		case "systems":
			b.WriteString(systems())
		case "properties":
			b.WriteString(properties())
		default:
			require.Fail(t, "unknown marker", head)
		}
		b.WriteString(end)
	}
}

// output is what a command prints.
func output(t *testing.T, line string) string {
	t.Helper()
	words, quoted, _ := strings.Cut(line, "'") // at most one argument is quoted, the last
	args := strings.Fields(words)[1:]
	if quoted != "" {
		args = append(args, strings.TrimSuffix(quoted, "'"))
	}
	var stdout, stderr bytes.Buffer
	exit := cli.Run(context.Background(), all.All(), args, &stdout, &stderr, nil)
	require.Zero(t, exit, stderr.String())
	return stdout.String()
}

// properties is the table of all properties with their meanings.
func properties() string {
	var b strings.Builder
	b.WriteString("| property | judged by | what is so when it holds |\n|---|---|---|\n")
	for _, p := range scenarios.Properties() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p, p.Judgement(), p.Meaning)
	}
	return b.String()
}

// systems is the table of all scenarios with their verdicts.
func systems() string {
	var b strings.Builder
	b.WriteString("| scenario | what it does | setting | verdicts |\n|---|---|---|---|\n")
	for _, sc := range all.Core() {
		var verdicts []string
		for _, c := range sc.Claims {
			verdicts = append(verdicts, fmt.Sprintf("%s %s", sign(c.Verdict), c.Property))
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s |\n", sc.ID, sc.Report, sc.Summary, sc.Setting.String(), strings.Join(verdicts, "<br>"))
	}
	return b.String()
}

func sign(v scenarios.Verdict) string {
	if v == scenarios.Holds {
		return "✓"
	}
	return "✗"
}
