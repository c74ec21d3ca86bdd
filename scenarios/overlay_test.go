package scenarios_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// mkdirLock is a directory; who finds one takes it over by renaming it.
func mkdirLock() scenarios.Protocol {
	return scenarios.Protocol{
		Path: "/run/app/lock",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			return scenarios.Hold{}, t.Mkdir("/run/app/lock", 0o755)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir("/run/app/lock") },
	}
}

// renames reports whether a scenario's lock directory can be renamed at the start.
func renames(t *testing.T, sc *scenarios.Scenario) error {
	t.Helper()
	sc.Setting.Machine.Profile = fsfake.Overlay
	m, err := sc.Start()
	require.NoError(t, err)
	return m.Proc(1).Rename("/run/app/lock", "/run/app/away")
}

// What a dead owner has left lies above the image of an overlay, where a directory can be renamed. What the image was
// built with cannot.
func TestDeadOwnersRanInTheContainer(t *testing.T) {
	l := mkdirLock()
	mkdir := func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(path.Dir(l.Path), 0o777) }
	dead := scenarios.Scenario{Setting: scenarios.Setting{Processes: 1}, Setup: mkdir}
	kit.DeadDirectory()(&dead, l)
	require.NoError(t, renames(t, &dead))

	built := scenarios.Scenario{Setting: scenarios.Setting{Processes: 1}, Setup: mkdir}
	kit.Prepared(func(p *fsfake.Proc) error { return p.Mkdir(l.Path, 0o777) })(&built, l)
	require.Error(t, renames(t, &built))

	s := scenarios.Subject{ID: "toy/mkdir", Lock: l}
	studies, err := scenarios.Survey(s)
	require.NoError(t, err)
	left := 0
	for _, st := range studies {
		for i := range st.Scenarios {
			if st.Hazard.ID == scenarios.HazardDeadOwner {
				left++
				require.NoError(t, renames(t, &st.Scenarios[i]), st.Scenarios[i].ID)
			}
		}
	}
	require.Positive(t, left)
}

// A file system that never gives a number twice is refused where the setting says that numbers come back, however it
// says so.
func TestNumbersThatAFileSystemDoesNotGive(t *testing.T) {
	sc := scenarios.Scenario{ID: "toy/a/b", Setting: scenarios.Setting{Processes: 1},
		Program: func(int, int) scenarios.Program { return func(*scenarios.Task) {} }}
	for _, profile := range []fsfake.Profile{fsfake.Btrfs, fsfake.Tmpfs} {
		by := sc.Setting
		by.Machine.Profile, by.Assume.Inodes = profile, scenarios.InodesReused
		_, err := sc.In(by)
		require.ErrorContains(t, err, "inodes-reused is not how "+profile.String()+" numbers files")
		by = sc.Setting
		by.Machine.Profile, by.Machine.InodeNumbers = profile, fsfake.InodesReuse
		_, err = sc.In(by)
		require.ErrorContains(t, err, "inodes-reused is not how "+profile.String()+" numbers files")
	}
}
