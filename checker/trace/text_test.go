package trace_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// Numbers that are times near the run's start are told as such, whatever their unit.
func TestQuoteTellsTimes(t *testing.T) {
	s := newScript(t)
	start := s.m.Now()
	w := s.walk()
	at := start.Add(90 * time.Second)
	for _, n := range []int64{at.Unix(), at.UnixMilli(), at.UnixMicro(), at.UnixNano()} {
		require.Equal(t, `"‹00:01:30›\n101"`, w.Quote(fmt.Sprintf("%d\n101", n), 40))
	}
	require.Equal(t, `"‹Dec 31 23:59:59›"`, w.Quote(fmt.Sprint(start.Add(-time.Second).Unix()), 40))
	require.Equal(t, `"‹00:00:00.500›"`, w.Quote(fmt.Sprint(start.Add(500*time.Millisecond).UnixMilli()), 40))
	for _, other := range []string{"", "101", "1234567890", "20260101000000", `{"pid":101}`} {
		require.Equal(t, trace.Quote(other, 40), w.Quote(other, 40))
	}
	require.Equal(t, `"abc…"`, trace.Quote("abcdef", 4))
	require.Equal(t, `'{"a":1}'`, trace.Quote(`{"a":1}`, 40))
	long := strings.Repeat("‹", 1000) // three bytes each, as what a time is told with
	require.Equal(t, `"‹‹‹…"`, w.Quote(long, 4))
	require.Equal(t, trace.Quote(long, 999), w.Quote(long, 999))
	require.Equal(t, `"`+long+`"`, w.Quote(long, 1000))
}

// How old a file of commands is when they begin differs from run to run, and no figure is told.
func TestOldText(t *testing.T) {
	s := newScript(t)
	w := s.walk()
	before, after := w.Start.Clock.Add(-34*time.Millisecond), w.Start.Clock.Add(time.Second)
	require.Equal(t, "34ms old", w.OldText(w.Start.Clock, before))
	s.sc.External = true
	w = s.walk()
	require.Equal(t, "older than the run", w.OldText(w.Start.Clock, before))
	require.Equal(t, "0s old", w.OldText(w.Start.Clock, w.Start.Clock))
	require.Equal(t, "1s old", w.OldText(after.Add(time.Second), after))
}

// Ages matter when something is older than something else.
func TestAges(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run/lock", excl))
	require.False(t, s.walk().Ages())
	s.m.Advance(time.Second)
	s.do(a, open("/run/lock", os.O_RDWR))
	require.True(t, s.walk().Ages())

	s = newScript(t)
	s.do(a, open("/run/lock", excl))
	s.do(a, fsfake.Op{Call: fsfake.CallUtimes, Path: "/run/lock", Time: 1, Time2: 1})
	require.True(t, s.walk().Ages())
}

// The numbers by which programs know inodes matter when one comes back.
func TestRenumbers(t *testing.T) {
	for policy, want := range map[fsfake.InodePolicy]bool{fsfake.InodesReuse: true, fsfake.InodesUnique: false, fsfake.InodesCanonical: false} {
		s := newScript(t)
		s.sc.Setting.Machine.InodeNumbers = policy
		s.m = s.sc.NewMachine()
		for range 2 {
			s.do(a, open("/run/lock", excl))
			s.do(a, onFD(fsfake.CallFstat, 3))
			s.do(a, onFD(fsfake.CallClose, 3))
			s.do(a, named(fsfake.CallUnlink, "/run/lock"))
		}
		require.Equal(t, want, s.walk().Renumbers(), policy)
	}
}
