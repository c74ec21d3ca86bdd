package trace

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/causes.md has a section for each kind of cause, with the table's words, and no other.
func TestEachKindHasAPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/causes.md")
	require.NoError(t, err)
	page, ids := string(data), map[string]bool{}
	for _, k := range Kinds() {
		require.Regexp(t, `^LP1\d{3}$`, k.ID)
		require.False(t, ids[k.ID], "%s: two kinds have it", k.ID)
		ids[k.ID] = true
		_, section, found := strings.Cut(page, `## <a id="`+k.ID+`"></a>`+k.ID+": "+k.Name+"\n")
		require.True(t, found, "%s %s has no section", k.ID, k.Name)
		section, _, _ = strings.Cut(section, "\n## ")
		require.Contains(t, section, k.Says)
		require.Contains(t, section, "\n- Fix: "+k.Fix+"\n")
		require.Contains(t, section, "\n- Smallest schedule: ")
		same, ok := KindOf(k.ID)
		require.True(t, ok)
		require.Equal(t, k, same)
	}
	for _, id := range regexp.MustCompile(`LP1\d+`).FindAllString(page, -1) {
		require.True(t, ids[id], "%s is no kind", id)
	}
}
