package cli

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Pages show a counterexample beside the same order with a change that mends it: of a protocol, and of commands.
func TestPagesShowBrokenBesideRepaired(t *testing.T) {
	raceFile(t)
	data := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "n"), []byte("0\n"), 0o644))
	tags := regexp.MustCompile(`(<[^>]*>|\s)+`)
	for name, c := range map[string]struct {
		args []string
		told string
	}{
		"explain": {[]string{"explain", "toy/look/contend"}, `A open lock O_CREAT\|O_EXCL\|O_TRUNC EEXIST`},
		"repair":  {[]string{"repair", "toy/look/contend"}, `A open lock O_CREAT\|O_EXCL\|O_TRUNC EEXIST`},
		"run": {[]string{"run", "--dir", data, "--native", "off", "--property", "serializable", "--repair",
			"read x <n; echo $((x+1)) >n"}, `B flock .*waits .*A write .*B flock .*ok .*B read .*"1.* B write .*"2`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got := run(t, append(c.args, "--html", dir)...)
			pages, err := filepath.Glob(filepath.Join(dir, "scenarios", "*.html"))
			require.NoError(t, err)
			require.Len(t, pages, 1, got.stderr)
			text, err := os.ReadFile(pages[0])
			require.NoError(t, err)
			_, beside, _ := strings.Cut(string(text), "side by side")
			plain := html.UnescapeString(tags.ReplaceAllString(beside, " "))
			require.Regexp(t, `as it is: broken .*broken here .*in the same order .*`+c.told, plain)
		})
	}
}
