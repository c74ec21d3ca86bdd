package checker

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A lock that is a symlink is what stands at its name, wherever it leads, and mostly it leads
// nowhere. One that was opened through a symlink is what the name leads to.
func TestForeignReleaseOfSymlinks(t *testing.T) {
	link := func(t *scenarios.Task) (scenarios.Hold, error) {
		if t.Symlink(strconv.Itoa(t.Getpid()), fixtures.Lock) != nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, nil
	}
	unlink := func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) }
	blind := func(t *scenarios.Task) (scenarios.Hold, error) {
		h, err := link(t)
		if err != nil {
			_ = t.Unlink(fixtures.Lock)
		}
		return h, err
	}
	leads := func(m *fsfake.Machine) {
		require.NoError(t, m.Proc(1).WriteFile("/file", nil, 0o666))
		require.NoError(t, m.Proc(1).Symlink("/file", fixtures.Lock))
	}
	open := func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(fixtures.Lock, os.O_RDWR, 0)
		if err != nil {
			return scenarios.Hold{}, err
		}
		return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
	}
	shut := func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() }
	aside := func(t *scenarios.Task) (scenarios.Hold, error) {
		if t.Index == 1 {
			_ = t.Symlink("/other", "/new")
			_ = t.Rename("/new", fixtures.Lock)
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return open(t)
	}
	for _, c := range []struct {
		id    string
		lock  scenarios.Protocol
		setup func(*fsfake.Machine)
		want  Verdict
	}{
		{"toy/symlink/contend", scenarios.Protocol{Acquire: link, Release: unlink}, nil, Holds},
		{"toy/symlink/blind", scenarios.Protocol{Acquire: blind, Release: unlink}, nil, Broken},
		{"toy/symlink/through", scenarios.Protocol{Acquire: open, Release: shut}, leads, Holds},
		{"toy/symlink/aside", scenarios.Protocol{Acquire: aside, Release: shut}, leads, Broken},
	} {
		c.lock.Path = fixtures.Lock
		sc := fixtures.New(c.id, c.lock, scenarios.Setting{Processes: 2}, scenarios.Claim{Property: scenarios.ForeignRelease, Verdict: c.want})
		sc.Setup = c.setup
		for _, o := range []Options{{}, {oracle: reference}} {
			r, err := Check(context.Background(), sc, scenarios.ForeignRelease, o)
			require.NoError(t, err, c.id)
			require.Equal(t, c.want, r.Verdict, "%s: %s", c.id, r.Why)
		}
	}
}
