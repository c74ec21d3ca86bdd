package openclawtakeover

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

func protocols() map[string]scenarios.Protocol {
	return map[string]scenarios.Protocol{
		"rm-then-create": rmThenCreate(), "empty-is-stale": emptyIsStale(), "rename": rename(),
		"guarded": guarded(), "flock": kernelLock(),
	}
}

// machine has the processes A and B, and on its disk what setup puts there.
func machine(setup func(m *fsfake.Machine)) *fsfake.Machine {
	s := scenarios.Scenario{Setting: scenarios.Setting{Processes: 2}, Setup: setup}
	return s.NewMachine()
}

func task(m *fsfake.Machine, i int) *scenarios.Task {
	return &scenarios.Task{Proc: m.Proc(scenarios.Pid(i)), Process: scenarios.ProcessName(i), Index: i}
}

// owner is the pid in the lock file, 0 when there is no file or no pid in it.
func owner(m *fsfake.Machine) int { return readPayload(task(m, 1)).Pid }

func exists(m *fsfake.Machine, path string) bool {
	_, ok := m.Lookup(path)
	return ok
}

func TestTheScenariosAreValid(t *testing.T) {
	for _, s := range Scenarios() {
		require.NoError(t, s.Validate())
		require.NotEmpty(t, s.Summary, s.ID)
		require.Contains(t, s.Report, "https://", s.ID)
		require.NotEmpty(t, s.Source, s.ID)
	}
}

func TestAProcessAloneGetsThrough(t *testing.T) {
	for name, l := range protocols() {
		for setting, setup := range map[string]func(*fsfake.Machine){"no lock": noLock, "dead owner": deadOwner} {
			m := machine(setup)
			a := task(m, 0)
			err := scenarios.Locked(a, l, func() {
				if name != "flock" {
					require.Equal(t, scenarios.Pid(0), owner(m), "%s, %s", name, setting)
				}
			})
			require.NoError(t, err, "%s, %s", name, setting)
			require.Equal(t, name == "flock", exists(m, lockPath), "%s, %s", name, setting)
			require.Empty(t, m.FDs(scenarios.Pid(0)), "%s, %s: everything is closed", name, setting)
			names, err := task(m, 1).ReadDir(dir)
			require.NoError(t, err)
			if name != "flock" {
				require.Empty(t, names, "%s, %s: nothing is left over", name, setting)
			}
		}
	}
}

func TestWhatIsStale(t *testing.T) {
	m := machine(noLock)
	a := task(m, 0)
	require.True(t, deadOrEmpty(a, payload{}))
	require.True(t, deadOrEmpty(a, parse([]byte(`{"pid":101}`))), "no createdAt")
	require.True(t, deadOrEmpty(a, parse(textOf(scenarios.DeadPid))))
	require.False(t, deadOrEmpty(a, parse(textOf(scenarios.Pid(1)))))
	m.KillProc(scenarios.Pid(1))
	require.True(t, deadOrEmpty(a, parse(textOf(scenarios.Pid(1)))))
}

// The pull request says that rename fails if another process won. It does not.
func TestRenameReplacesTheLockOfAnotherWinner(t *testing.T) {
	m := machine(deadOwner)
	_, ok := renameOnto(task(m, 0))
	require.True(t, ok)
	require.Equal(t, scenarios.Pid(0), owner(m))
	_, ok = renameOnto(task(m, 1))
	require.True(t, ok)
	require.Equal(t, scenarios.Pid(1), owner(m))
}

func TestReclaimNeedsTheLockThatWasJudged(t *testing.T) {
	m := machine(deadOwner)
	a, b := task(m, 0), task(m, 1)
	judged, ok := look(a)
	require.True(t, ok)
	require.Equal(t, scenarios.DeadPid, judged.owner)

	h, err := acquireGuarded(b) // B is faster
	require.NoError(t, err)
	temp, _, err := prepare(a)
	require.NoError(t, err)
	require.False(t, reclaim(a, judged, temp))
	require.Equal(t, scenarios.Pid(1), owner(m), "B's lock is untouched")
	require.False(t, exists(m, guardPath), "the guard is gone")

	require.NoError(t, releaseIfMine(b, h))
	require.False(t, reclaim(a, judged, temp), "there is no lock any more")

	require.NoError(t, a.WriteFile(lockPath, textOf(scenarios.DeadPid), 0o600))
	require.False(t, reclaim(a, judged, temp), "same text, another file")
	again, ok := look(a)
	require.True(t, ok)
	require.NoError(t, b.Mkdir(guardPath, 0o700))
	require.False(t, reclaim(a, again, temp), "B has the guard")
	require.True(t, exists(m, guardPath), "and keeps it")
	require.NoError(t, b.Rmdir(guardPath))
	require.True(t, reclaim(a, again, temp))
	require.Equal(t, scenarios.Pid(0), owner(m))
}

func TestReleaseLeavesAForeignLockAlone(t *testing.T) {
	m := machine(noLock)
	a, b := task(m, 0), task(m, 1)
	h, err := acquireGuarded(a)
	require.NoError(t, err)
	require.NoError(t, b.Unlink(lockPath))
	_, err = acquireGuarded(b)
	require.NoError(t, err)
	require.NoError(t, releaseIfMine(a, h))
	require.Equal(t, scenarios.Pid(1), owner(m))
}
