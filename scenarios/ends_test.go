package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

func TestWedgeWithinHasATimeInItsName(t *testing.T) {
	for d, id := range map[time.Duration]string{
		time.Hour: "wedge-within-1h", 90 * time.Minute: "wedge-within-90m", 1500 * time.Millisecond: "wedge-within-1500ms",
	} {
		p := WedgeWithin(d)
		require.Equal(t, id, p.ID)
		require.NoError(t, p.Validate())
		found, err := FindProperty(id)
		require.NoError(t, err)
		require.Equal(t, d, found.Within)
	}
	for _, id := range []string{"wedge-within-", "wedge-within-0s", "wedge-within--1h", "wedge-within-1us", "wedge-within-721h", "wedge-within-x"} {
		_, err := FindProperty(id)
		require.ErrorContains(t, err, "choose one from 1ms to 720h0m0s", id)
	}
	require.Error(t, WedgeWithin(-time.Hour).Validate())
	require.Error(t, WedgeWithin(time.Microsecond).Validate(), "its id says no time")
}

func TestLeftBehind(t *testing.T) {
	sc := Scenario{Keeps: []string{"/run/*.lock", "/srv/log"}}
	m := fsfake.New(fsfake.Options{})
	require.NoError(t, m.Proc(1).Mkdir("/run", 0o755))
	r := sc.Remainder(m)
	require.Empty(t, r.Left(m))
	for _, name := range []string{"/run/a.lock", "/run/tmp", "/run/tmp2"} {
		require.NoError(t, m.Proc(1).WriteFile(name, nil, 0o644))
	}
	require.NoError(t, m.Proc(1).MkdirAll("/srv/log", 0o755))
	require.NoError(t, m.Proc(1).WriteFile("/srv/log/x", nil, 0o644))
	require.Equal(t, []string{"/run/tmp", "/run/tmp2", "/srv"}, r.Left(m))
	sc.Keeps = []string{"run/x"}
	require.ErrorContains(t, sc.validatePatterns(), "Keeps has \"run/x\": give a pattern of absolute")
	sc.Keeps = []string{"/run/[x"}
	require.Error(t, sc.validatePatterns())
	sc.Keeps, sc.Data = nil, []string{"run/x"}
	require.ErrorContains(t, sc.validatePatterns(), "Data has \"run/x\"")
	sc.Data = []string{"/run/*.db"}
	require.NoError(t, sc.validatePatterns())
	require.True(t, sc.IsData("/run/a.db"))
	require.False(t, sc.IsData("/run/a.lock"))
	require.True(t, (&Scenario{}).IsData("/run/a.lock"))
}
