package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages say by which command they were made and of what, and when only if that was given:
// two runs give the same bytes.
func TestPagesSayHowTheyWereMade(t *testing.T) {
	made := func(args ...string) map[string]string {
		dir := t.TempDir()
		got := run(t, append([]string{"check", "toy/look/contend", "--quiet", "--html", dir}, args...)...)
		require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
		pages := map[string]string{}
		for _, name := range []string{"index.html", filepath.Join("scenarios", "toy.look.contend.html")} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			pages[name] = string(text)
		}
		return pages
	}
	for name, page := range made("--date", "22 November <2026>") {
		require.Contains(t, page, "check toy/look/contend --quiet --html", name)
		require.Contains(t, page, "<span>lockpick (devel), go1.", name)
		require.Contains(t, page, "<span>22 November &lt;2026&gt;</span>", name)
	}
	for name, page := range made() {
		require.NotContains(t, page, "November", name)
	}
}
