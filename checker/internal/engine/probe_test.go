package engine

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// withStale gives toyExcl a rule about old locks.
func withStale(stale func(t *scenarios.Task) bool) scenarios.Protocol {
	p := fixtures.Excl()
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil && stale(t) {
			_ = t.Unlink(fixtures.Lock)
			f, err = t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		}
		return scenarios.Hold{File: f}, err
	}
	return p
}

// olderThan is the rule that a lock whose file is older than d is nobody's.
func olderThan(d time.Duration) func(t *scenarios.Task) bool {
	return func(t *scenarios.Task) bool {
		info, err := t.Stat(fixtures.Lock)
		return err == nil && t.Now().Sub(info.ModTime()) > d
	}
}

// polling is a lock that waits until the other one succeeds.
func polling(p scenarios.Protocol, every time.Duration) scenarios.Protocol {
	once := p.Acquire
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			if h, err := once(t); err == nil {
				return h, nil
			}
			if every > 0 {
				t.Sleep(every)
			}
		}
		panic("unreachable")
	}
	return p
}

// The lock of a dead process lies there. Does a fresh process ever get through?
func TestWedgeProbe(t *testing.T) {
	never := func(*scenarios.Task) bool { return false }
	for _, c := range []struct {
		name   string
		lock   scenarios.Protocol
		wedged string // what it waits for; empty when it gets through
	}{
		{"fails at once, for ever", withStale(never), "a fresh process gives up, however late it comes"},
		{"polls for ever", polling(withStale(never), time.Second), "a fresh process polls for ever; its last call was open /lock"},
		{"polls for ever without sleeping", polling(withStale(never), 0), "a fresh process polls for ever; its last call was open /lock"},
		{"stale after 30 minutes", withStale(olderThan(30 * time.Minute)), ""},
		{"stale after a week", withStale(olderThan(7 * 24 * time.Hour)), ""},
		{"stale after 30 minutes, polled every 50 ms", polling(withStale(olderThan(30*time.Minute)), 50*time.Millisecond), ""},
		{"stale after 30 minutes, polled without sleeping", polling(withStale(olderThan(30*time.Minute)), 0), ""},
		{"a pid that is dead", withStale(func(t *scenarios.Task) bool { return t.Kill(scenarios.DeadPid) != nil }), ""},
	} {
		sc := fixtures.New("toy/stale/dead", c.lock, scenarios.Setting{Processes: 1})
		m := sc.NewMachine()
		require.NoError(t, m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644))
		before := m.AppendKey(nil)
		p := NewProber(sc, scenarios.Wedge)
		wedged, waits, err := p.Wedged(m)
		require.NoError(t, err, c.name)
		require.Equal(t, c.wedged != "", wedged, c.name)
		if wedged {
			require.Len(t, waits, 1, c.name)
			require.Contains(t, waits[0].String(), c.wedged, c.name)
		}
		require.Equal(t, before, m.AppendKey(nil), "a probe looks at a copy")
		runs := p.runs
		again, _, err := p.Wedged(m)
		require.NoError(t, err)
		require.Equal(t, wedged, again)
		require.Equal(t, runs, p.runs, "one state is probed once")
	}
}

// A kernel lock that a living process keeps blocks a probe for ever; a dead one's is
// gone.
func TestWedgeProbeBlocks(t *testing.T) {
	sc := fixtures.New("toy/flock/kept", fixtures.Flock(), scenarios.Setting{Processes: 1})
	m := sc.NewMachine()
	f, err := m.Proc(scenarios.Pid(0)).OpenFile(fixtures.Lock, os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	require.NoError(t, f.Flock(fsfake.LOCK_EX))
	wedged, waits, err := NewProber(sc, scenarios.Wedge).Wedged(m)
	require.NoError(t, err)
	require.True(t, wedged)
	require.Contains(t, waits[0].String(), "a fresh process waits for ever in flock")

	m.KillProc(scenarios.Pid(0))
	wedged, _, err = NewProber(sc, scenarios.Wedge).Wedged(m)
	require.NoError(t, err)
	require.False(t, wedged)
}

// A loop that is not marked as one is reported, not taken for a wedge.
func TestProbeWithoutRetryIsAnError(t *testing.T) {
	sc := fixtures.New("toy/loop/dead", fixtures.Excl(), scenarios.Setting{Processes: 1})
	sc.Probe = func(t *scenarios.Task) error {
		for {
			if err := t.Mkdir("/tmp", 0o755); err == nil {
				return errors.New("unreachable")
			}
		}
	}
	_, _, err := NewProber(sc, scenarios.Wedge).Wedged(sc.NewMachine())
	require.ErrorContains(t, err, "does its loop use Retry?")
}

// Of the calls of an attempt the last are kept, in order, however many were made.
func TestLastCallsOfAProbe(t *testing.T) {
	for _, n := range []int{0, 1, recordedCalls, recordedCalls + 1, 2 * recordedCalls, 2*recordedCalls + 1, 5*recordedCalls + 7} {
		p := &Prober{}
		var want []trace.Call
		for i := range n {
			c := trace.Call{Op: fsfake.Op{FD: i}}
			p.record(&c.Op, &c.Result)
			want = append(want, c)
		}
		require.Equal(t, want[max(0, n-recordedCalls):], p.last(), "of %d", n)
		require.LessOrEqual(t, len(p.recorded), 2*recordedCalls)
	}
}

// A bound is kept to the sleep: who takes the lock for dead at an age gets in right after it, and a
// poll that comes too late is too late.
func TestProbesWithinATime(t *testing.T) {
	stale := func(age, poll time.Duration) scenarios.Protocol {
		return polling(withStale(olderThan(age)), poll)
	}
	for _, c := range []struct {
		name   string
		lock   scenarios.Protocol
		within time.Duration
		wedged bool
	}{
		{"at the age itself", withStale(olderThan(time.Minute)), time.Minute, false},
		{"a millisecond before", withStale(olderThan(time.Minute)), time.Minute - time.Millisecond, true},
		{"polled every 50 ms", stale(time.Minute, 50*time.Millisecond), 61 * time.Second, false},
		{"polled every 50 ms, too soon", stale(time.Minute, 50*time.Millisecond), 59 * time.Second, true},
		{"polled every 40 s", stale(time.Minute, 40*time.Second), 80 * time.Second, false},
		{"polled every 40 s, and the next poll begins too late", stale(time.Minute, 40*time.Second), 79 * time.Second, true},
		{"the third poll begins too late", stale(81*time.Second, 40*time.Second), 90 * time.Second, true},
		{"polled without sleeping", stale(time.Minute, 0), 61 * time.Second, false},
		{"never", withStale(func(*scenarios.Task) bool { return false }), time.Hour, true},
	} {
		sc := fixtures.New("toy/stale/dead", c.lock, scenarios.Setting{Processes: 1})
		m := sc.NewMachine()
		require.NoError(t, m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644))
		wedged, _, err := NewProber(sc, scenarios.WedgeWithin(c.within)).Wedged(m)
		require.NoError(t, err, c.name)
		require.Equal(t, c.wedged, wedged, c.name)
	}
}
