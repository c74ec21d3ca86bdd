package content

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A time is told that a file was given: that of another file of the start, or one that is long past.
func TestDates(t *testing.T) {
	dir, day := t.TempDir(), time.Date(2025, 6, 1, 12, 0, 0, 1, time.UTC)
	for name, at := range map[string]time.Time{"a": day, "b": day, "c": day.Add(1), "old": day.AddDate(-5, 0, 0)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	d := DatesBelow(dir)
	for _, c := range []struct {
		name, want string
		at         time.Time
	}{
		{"f", "that of a", day},
		{"b", "", day},
		{"f", "that of c", day.Add(1)},
		{"f", "", day.Add(2)},
		{"old", "", day.AddDate(-5, 0, 0)},
		{"f", "that of old", day.AddDate(-5, 0, 0)},
		{"f", "2020-06-01", day.AddDate(-5, 0, 0).Add(1)},
	} {
		require.Equal(t, c.want, d.Of(c.name, c.at), c)
	}
}
