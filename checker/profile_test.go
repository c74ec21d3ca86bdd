package checker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// onFS is two processes that assert something, on a file system.
func onFS(p fsfake.Profile, programs ...scenarios.Program) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID:      "toy/profile/contend",
		Setting: scenarios.Setting{Processes: len(programs), Fixed: true, Machine: fsfake.Options{Profile: p}},
		Setup: func(m *fsfake.Machine) {
			for _, dir := range []string{"/q/d/e", "/q/f"} {
				if err := m.Proc(1).MkdirAll(dir, 0o755); err != nil {
					panic(err)
				}
			}
			if err := errors.Join(m.Proc(1).WriteFile("/q/f/job", nil, 0o644), m.Proc(1).WriteFile("/q/one", nil, 0o644), m.Proc(1).Link("/q/one", "/q/two")); err != nil {
				panic(err)
			}
		},
		Program: func(i, _ int) scenarios.Program { return programs[i] },
		Claims:  []scenarios.Claim{{Property: scenarios.Assertion, Verdict: scenarios.Broken}},
	}
}

// What a file system does otherwise decides a verdict, in every engine.
func TestProfilesDecide(t *testing.T) {
	renames := func(t *scenarios.Task) { _ = t.Rename2("/q/f/job", "/q/f/job.taken", 0) }
	lists := func(t *scenarios.Task) {
		names, err := t.ReadDir("/q/f")
		t.Assert(err == nil && len(names) == 1, "the job is listed")
	}
	over := func(t *scenarios.Task) {
		err := t.Rename2("/q/f", "/q/d", 0)
		t.Assert(errors.Is(err, syscall.ENOTEMPTY), "a full directory is ENOTEMPTY")
	}
	links := func(t *scenarios.Task) {
		info, err := t.Stat("/q/d")
		t.Assert(err == nil && info.Sys().(*fsfake.Stat).Nlink == 3, "a directory with one in it has three links")
	}
	numbers := func(t *scenarios.Task) {
		was, err1 := t.Stat("/q/f/job")
		err2 := t.Unlink("/q/f/job")
		err3 := t.WriteFile("/q/f/job", nil, 0o644)
		is, err4 := t.Stat("/q/f/job")
		t.Assert(errors.Join(err1, err2, err3, err4) == nil && !fsfake.SameFile(was, is), "a new file has a new number")
	}
	aside := func(t *scenarios.Task) {
		t.Assert(t.Rename2("/q/d", "/q/d.stale", 0) == nil, "a stale directory is moved aside")
	}
	removed := func(t *scenarios.Task) {
		f, err1 := t.OpenFile("/q/f/job", os.O_RDONLY, 0)
		err2 := t.Unlink("/q/f/job")
		info, err3 := f.Stat()
		t.Assert(errors.Join(err1, err2, err3) == nil && info.Sys().(*fsfake.Stat).Nlink == 0, "a file that was removed has no links")
	}
	alias := func(t *scenarios.Task) {
		one, err1 := t.OpenFile("/q/one", os.O_RDONLY, 0)
		two, err2 := t.OpenFile("/q/two", os.O_RDONLY, 0)
		err3 := one.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB)
		t.Assert(errors.Join(err1, err2, err3) == nil && two.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil, "two names of a file have one lock")
	}
	for _, c := range []struct {
		name     string
		programs []scenarios.Program
		broken   []fsfake.Profile
		known    []fsfake.Profile // of which the verdict on none in particular says it
	}{
		{"a job that is renamed while it is listed", []scenarios.Program{renames, lists}, []fsfake.Profile{fsfake.Btrfs}, []fsfake.Profile{fsfake.Ext4, fsfake.XFS, fsfake.Tmpfs}},
		{"a rename over a full directory", []scenarios.Program{over}, []fsfake.Profile{fsfake.XFS, fsfake.Overlay}, []fsfake.Profile{fsfake.Ext4, fsfake.Btrfs, fsfake.Tmpfs}},
		{"links of directories", []scenarios.Program{links}, []fsfake.Profile{fsfake.Btrfs},
			[]fsfake.Profile{fsfake.XFS}},
		{"a directory that was there before", []scenarios.Program{aside}, []fsfake.Profile{fsfake.Overlay}, []fsfake.Profile{fsfake.Ext4, fsfake.XFS, fsfake.Btrfs, fsfake.Tmpfs}},
		{"links of a file that was removed", []scenarios.Program{removed}, []fsfake.Profile{fsfake.Overlay},
			[]fsfake.Profile{fsfake.XFS}},
		{"two names of a file", []scenarios.Program{alias}, []fsfake.Profile{fsfake.Overlay}, []fsfake.Profile{fsfake.Ext4, fsfake.XFS, fsfake.Btrfs, fsfake.Tmpfs}},
		{"inode numbers", []scenarios.Program{numbers}, []fsfake.Profile{fsfake.Ext4, fsfake.XFS, fsfake.Posix}, nil},
	} {
		for _, p := range []fsfake.Profile{fsfake.Posix, fsfake.Ext4, fsfake.XFS, fsfake.Btrfs, fsfake.Tmpfs, fsfake.Overlay} {
			want := Holds
			for _, b := range c.broken {
				if b == p {
					want = Broken
				}
			}
			sc := onFS(p, c.programs...)
			name := fmt.Sprint(c.name, " on ", p)
			for _, o := range []Options{{Workers: 1}, {oracle: reference}} {
				fixtures.OneWorker(t)
				r, err := Check(t.Context(), sc, scenarios.Assertion, o)
				require.NoError(t, err, name)
				require.Equal(t, want, r.Verdict, name)
				if want == Broken {
					got, err := Replay(r.Scenario, scenarios.Assertion, r.Counterexample.Schedule)
					require.NoError(t, err, name)
					require.True(t, got.Broken, name)
				}
			}
		}
		// From the verdict without a file system it is known what becomes of it on each.
		sc := onFS(fsfake.Posix, c.programs...)
		base, err := Check(t.Context(), sc, scenarios.Assertion, Options{Workers: 1})
		require.NoError(t, err)
		all, err := FileSystems(t.Context(), sc, &base, Options{Workers: 1})
		require.NoError(t, err)
		require.Len(t, all, 5)
		for _, f := range all {
			broken := slices.ContainsFunc(c.broken, func(p fsfake.Profile) bool { return p.String() == f.Name })
			require.Equal(t, broken, f.Verdict == Broken, "%s on %s", c.name, f.Name)
			on, err := sc.On(f.Name)
			require.NoError(t, err)
			known, ok := base.on(sc, &on)
			require.Equal(t, slices.Contains(c.known, on.Setting.Machine.Profile), ok, "%s on %s", c.name, f.Name)
			if ok {
				asked, err := Check(t.Context(), &on, scenarios.Assertion, Options{Workers: 1})
				require.NoError(t, err)
				requireSameAnswer(t, &asked, &known)
			}
		}
	}
}

// requireSameAnswer compares what is said of a scenario: all but how much was explored for it.
func requireSameAnswer(t *testing.T, want, got *Result) {
	t.Helper()
	what := want.Scenario.ID + " on " + want.Scenario.FileSystem()
	require.Equal(t, want.Verdict, got.Verdict, what)
	require.Equal(t, want.Cases, got.Cases, what)
	require.Equal(t, want.Conditions(), got.Conditions(), what)
	require.Equal(t, want.Scenario.Setting, got.Scenario.Setting, what)
	if want.Verdict == Broken {
		require.Equal(t, want.Counterexample.Schedule, got.Counterexample.Schedule, what)
		require.Equal(t, want.Counterexample.Cause, got.Counterexample.Cause, what)
		ran, err := Replay(got.Scenario, got.Property, got.Counterexample.Schedule)
		require.NoError(t, err, what)
		require.True(t, ran.Broken, what)
	}
}

// Where a row is decided on each file system, what is known of one without asking is what asking says.
func TestKnownOnFileSystems(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	known := 0
	for _, sc := range fixtures.Rows() {
		if largeRows[sc.ID] || sc.FileSystem() != "" || sc.Setting.Assumed().Inodes != scenarios.InodesOpen ||
			sc.Setting.PowerLosses > 0 {
			continue
		}
		for _, c := range sc.Claims {
			o := Options{Workers: 1, SkipOdds: true, States: 2000, Tried: &Tried{}}
			r, err := Check(t.Context(), &sc, c.Property, o)
			require.NoError(t, err)
			if r.Alike(&sc) {
				continue
			}
			for _, name := range scenarios.FileSystems() {
				on, err := sc.On(name)
				require.NoError(t, err)
				if is, ok := r.on(&sc, &on); ok {
					asked, err := Check(t.Context(), &on, c.Property, o)
					require.NoError(t, err)
					requireSameAnswer(t, &asked, &is)
					known++
				}
			}
		}
	}
	require.Greater(t, known, 10)
}

// What nobody is told cannot differ: one exploration says it of all file systems.
func TestFileSystemsNobodyCanTell(t *testing.T) {
	excl := func(t *scenarios.Task) {
		f, err := t.OpenFile("/q/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		t.Assert(err != nil || f.Close() == nil, "what was made is closed")
	}
	sc := onFS(fsfake.Posix, excl, excl)
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll("/q", 0o755) }
	r, err := Check(t.Context(), sc, scenarios.Assertion, Options{Workers: 1})
	require.NoError(t, err)
	all, err := FileSystems(t.Context(), sc, &r, Options{Workers: 1})
	require.NoError(t, err)
	for _, f := range all {
		require.Nil(t, f.Result, f.Name)
		require.Equal(t, Holds, f.Verdict, f.Name)
	}
	on, err := sc.On("overlay")
	require.NoError(t, err)
	_, err = on.On("ext4")
	require.ErrorContains(t, err, "is on overlay already")
	_, err = sc.On("nfs")
	require.ErrorContains(t, err, `there is no file system "nfs"`)
}

// A rule such as "newer than my start" is broken where stamps lie behind the clock, and only there.
func TestLateStampsDecide(t *testing.T) {
	fresh := func(t *scenarios.Task) {
		start := t.Now()
		err1 := t.WriteFile("/q/lock", nil, 0o644)
		info, err2 := t.Stat("/q/lock")
		t.Assert(errors.Join(err1, err2) == nil && !info.ModTime().Before(start), "what was made after the start is not older")
	}
	for want, times := range map[Verdict]scenarios.TimeAssumption{Holds: scenarios.TimesOpen, Broken: scenarios.TimesLate} {
		for _, o := range []Options{{Workers: 1}, {oracle: reference}} {
			sc := onFS(fsfake.Posix, fresh)
			sc.Setting.Assume.Times = times
			r, err := Check(t.Context(), sc, scenarios.Assertion, o)
			require.NoError(t, err)
			require.Equal(t, want, r.Verdict)
		}
	}
}
