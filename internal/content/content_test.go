package content

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a large file has at the end is told beside what it had at the start.
func TestLargeFiles(t *testing.T) {
	at := filepath.Join(t.TempDir(), "f")
	start := []byte(strings.Repeat("x", large))
	for text, want := range map[string]string{
		string(start):            "16384 bytes as at the start",
		string(start) + "1":      `16384 bytes as at the start, "1" in the place of 0, 0 bytes as at the start`,
		"12" + string(start[3:]): `0 bytes as at the start, "12" in the place of 3, 16381 bytes as at the start`,
		string(start[:8192]):     `8192 bytes as at the start, "" in the place of 8192, 0 bytes as at the start`,
		"short":                  `"short"`,
	} {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		require.Equal(t, want, Of(at, 0, start))
	}
	require.NoError(t, os.WriteFile(at, start, 0o644))
	require.Equal(t, map[string][]byte{at: start}, Large(filepath.Dir(at)))
}
