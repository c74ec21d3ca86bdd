package trace

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/docs"
)

// Every section of docs/causes.md that is about a kind is read as one, with all that it says, and no id is given twice.
func TestEachSectionIsAKind(t *testing.T) {
	ids := map[string]bool{}
	require.Len(t, Kinds(), strings.Count(docs.Causes, `<a id="LP`))
	for _, k := range Kinds() {
		require.Regexp(t, `^LP1\d{3}$`, k.ID)
		require.False(t, ids[k.ID], "%s: two kinds have it", k.ID)
		ids[k.ID] = true
		_, section, found := strings.Cut(docs.Causes, `## <a id="`+k.ID+`"></a>`+k.ID+": "+k.Name+"\n")
		require.True(t, found, "%s %s has no section", k.ID, k.Name)
		section, _, _ = strings.Cut(section, "\n## ")
		require.Contains(t, section, k.Says)
		require.Contains(t, section, "\n- Fix: "+k.Fix+"\n")
		same, ok := KindOf(k.ID)
		require.True(t, ok)
		require.Equal(t, k, same)
	}
	require.True(t, ids[Unexplained])
	for _, id := range regexp.MustCompile(`LP1\d+`).FindAllString(docs.Causes, -1) {
		require.True(t, ids[id], "%s is no kind", id)
	}
}
