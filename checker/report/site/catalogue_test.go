package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios/all"
)

// maxSite is what the site of all scenarios may weigh.
const maxSite = 5 << 20

// The site of everything that lockpick brings along.
func TestCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("checks the whole catalogue")
	}
	rs, err := decide(all.Core(), checker.Options{SkipOdds: true})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, Write(dir, rs, Options{}))
	site := files(t, dir)

	weight := 0
	for _, page := range site {
		weight += len(page)
	}
	t.Logf("%d files, %d bytes", len(site), weight)
	require.Less(t, weight, maxSite)
	checkLinks(t, site)

	t.Run("every page in a browser", func(t *testing.T) {
		b := openTab(t)
		for _, width := range []int{1360, 390} {
			b.look(width, 900, "dark")
			for _, name := range sorted(site) {
				history := strings.HasSuffix(name, ".history.html") // porcupine's pages scroll
				if history && width < 600 {
					continue
				}
				b.open(fileURL(dir, name))
				sticksOut := b.number(`document.documentElement.scrollWidth`) > width
				require.Empty(t, b.problems, name)
				if !history {
					require.False(t, sticksOut, "%s sticks out of %d", name, width)
				}
			}
		}
	})
}
