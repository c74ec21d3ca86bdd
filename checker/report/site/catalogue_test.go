package site

import (
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
	rs, err := decide(all.All(), checker.Options{SkipOdds: true})
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
				b.open(fileURL(dir, name))
				require.Empty(t, b.problems, name)
				if b.number(`document.querySelectorAll('header').length`) > 0 { // porcupine's pages scroll
					require.LessOrEqual(t, b.number(`document.documentElement.scrollWidth`), width, "%s sticks out", name)
				}
			}
		}
	})
}
