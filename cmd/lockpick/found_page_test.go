package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// foundPrograms are the rows of the table of docs/found.md that are run. version is how the
// program is asked for its version; setup makes the files.
var foundPrograms = []struct {
	program, version, setup, commands string
	args                              []string
}{
	{"sed", "sed --version", `printf 'a=1\nb=1\n' > f`, "`sed -i s/a=1/a=2/ f`, `sed -i s/b=1/b=2/ f`",
		[]string{"sed -i s/a=1/a=2/ f", "sed -i s/b=1/b=2/ f"}},
	{"perl", "perl -v", `printf 'a=1\nb=1\n' > f`, "`perl -i -pe s/a=1/a=2/ f`, `perl -i -pe s/b=1/b=2/ f`",
		[]string{"perl -i -pe s/a=1/a=2/ f", "perl -i -pe s/b=1/b=2/ f"}},
	{"sort", "sort --version", `printf 'b\na\n' > f`, "`sort -o f f`, twice",
		[]string{"-n", "2", "--", "sort", "-o", "f", "f"}},
	{"ssh-keygen", "ssh -V", `printf 'a ssh-ed25519 AAAA\nb ssh-ed25519 AAAA\n' > known`, "`ssh-keygen -R a -f known`, `ssh-keygen -R b -f known`",
		[]string{"ssh-keygen -R a -f known", "ssh-keygen -R b -f known"}},
	{"flock", "flock --version", `echo 0 > n; printf 'read x < n\necho $((x+1)) > n\n' > counter.sh`, "`flock n sh counter.sh`, four times",
		[]string{"-n", "4", "--", "flock", "n", "sh", "counter.sh"}},
	{"git", "git --version", `git init -q . && git config user.email a@b && git config user.name a && rm -f .git/hooks/*`, "`git config a.x 1`, `git config a.y 2`; exit 255 refuses",
		[]string{"--refused", "255", "git config a.x 1", "git config a.y 2"}},
}

// What the page says of programs is so, where they are installed in the version that it names.
func TestFoundPage(t *testing.T) {
	needDash(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "found.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- table -->\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, end)
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	require.Len(t, rows, len(foundPrograms))
	for i, p := range foundPrograms {
		t.Run(p.program, func(t *testing.T) {
			if testing.Short() && i > 1 {
				t.Skip("SKIPPED with -short: it takes seconds; go test ./cmd/lockpick runs it")
			}
			if p.program == "perl" || p.program == "sort" || p.program == "git" {
				testmain.OnlyLong(t, "it takes seconds, and the others show that the page is current", "./cmd/lockpick")
			}
			said := strings.Split(rows[i], " | ")[1]
			version := strings.Fields(p.version)
			out, err := exec.Command(version[0], version[1:]...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), said) {
				t.Skipf("SKIPPED: the page shows %s, which is not %s here; where it is go test ./cmd/lockpick runs it", p.program, said)
			}
			emptyDir(t)
			require.NoError(t, exec.Command("sh", "-c", p.setup).Run())
			require.Equal(t, rows[i], foundRow(t, p.program, said, p.commands, p.args))
		})
	}
}

// foundRow is a row of the table as the programs give it.
func foundRow(t *testing.T, program, version, commands string, args []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cli.Run(context.Background(), all.All(), append([]string{"run", "--json", "--skip-odds", "--property", "serializable"}, args...), &stdout, &stderr, nil)
	var doc struct {
		Results []struct {
			Verdict        string
			Counterexample *struct {
				Schedule, Kernel string
				Steps            int
			}
		}
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &doc), "%s", stderr.String())
	r := doc.Results[0]
	row := fmt.Sprintf("| %s | %s | %s | serializable | %s | ", program, version, commands, r.Verdict)
	if c := r.Counterexample; c != nil {
		require.Contains(t, c.Kernel, fmt.Sprintf("the model agrees with this kernel: %d calls", c.Steps))
		return row + fmt.Sprintf("`%s` | the model agrees, %d calls |", c.Schedule, c.Steps)
	}
	return row + "| |"
}
