package checker

import (
	"errors"
	"fmt"
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
			if err := m.Proc(1).WriteFile("/q/f/job", nil, 0o644); err != nil {
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
	for _, c := range []struct {
		name     string
		programs []scenarios.Program
		broken   []fsfake.Profile
	}{
		{"a job that is renamed while it is listed", []scenarios.Program{renames, lists}, []fsfake.Profile{fsfake.Btrfs}},
		{"a rename over a full directory", []scenarios.Program{over}, []fsfake.Profile{fsfake.XFS}},
		{"links of directories", []scenarios.Program{links}, []fsfake.Profile{fsfake.Btrfs}},
		{"inode numbers", []scenarios.Program{numbers}, []fsfake.Profile{fsfake.Ext4, fsfake.XFS, fsfake.Posix}},
	} {
		for _, p := range []fsfake.Profile{fsfake.Posix, fsfake.Ext4, fsfake.XFS, fsfake.Btrfs, fsfake.Tmpfs} {
			want := Holds
			for _, b := range c.broken {
				if b == p {
					want = Broken
				}
			}
			sc := onFS(p, c.programs...)
			name := fmt.Sprint(c.name, " on ", p)
			for _, o := range []Options{{Workers: 1}, {Engine: Reference}} {
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
	}
}
