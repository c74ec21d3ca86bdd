package bruteforce_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What answers by brute force shares no code with the engines, or it would share their mistakes.
func TestSharesNoCode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	seen := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		if f.Name.Name != "bruteforce" {
			continue // the comparison
		}
		seen++
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if own, ok := strings.CutPrefix(path, "lockpick/"); ok {
				require.True(t, slices.Contains([]string{"fsfake", "model", "scenarios", "sched", "internal/testmain"}, own),
					"%s imports %s", name, own)
			}
		}
	}
	require.Positive(t, seen)
}
