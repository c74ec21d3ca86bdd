package all

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rows that lockpick promises to answer: id, contenders, property, verdict. Ids
// are for ever: people link to them and commit schedules under them.
//
//go:embed testdata/rows.txt
var rows string

func TestRows(t *testing.T) {
	var got []string
	seen := map[string]bool{}
	for _, sc := range Core() {
		require.False(t, seen[sc.ID], "%s is there twice", sc.ID)
		seen[sc.ID] = true
		require.NoError(t, sc.Validate())
		for _, c := range sc.Claims {
			got = append(got, fmt.Sprintf("%s %d %s %s", sc.ID, sc.Setting.Contenders(), c.Property, c.Verdict))
		}
	}
	require.Equal(t, strings.Split(strings.TrimSpace(rows), "\n"), got)
}

// What a report shows of a scenario is there.
func TestScenariosExplainThemselves(t *testing.T) {
	for _, sc := range All() {
		require.NotEmpty(t, sc.Summary, sc.ID)
		require.True(t, strings.HasPrefix(sc.Report, "https://github.com/"), sc.ID)
		require.NotEmpty(t, sc.Source, sc.ID)
		require.NotEmpty(t, sc.Watch, sc.ID)
	}
}
