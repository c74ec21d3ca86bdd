package scenarios_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// pidLock is a pid file: created or refused, and a dead owner's is unlinked.
var pidLock = scenarios.Protocol{
	Path: "/run/app.pid",
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile("/run/app.pid", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				_, err = fmt.Fprint(f, t.Getpid())
				return scenarios.Hold{}, errors.Join(err, f.Close())
			}
			text, err := t.ReadFile("/run/app.pid")
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			pid, _ := strconv.Atoi(string(text))
			if pid == 0 || t.Kill(pid) == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			_ = t.Unlink("/run/app.pid")
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink("/run/app.pid") },
}

func ExampleSurvey() {
	studies, err := scenarios.Survey(scenarios.Subject{ID: "app/pid-file", Lock: pidLock})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range studies {
		if s.NotAsked != "" {
			fmt.Println(s.Hazard.ID, "is not asked:", s.NotAsked)
			continue
		}
		fmt.Println(s.Hazard.ID, len(s.Scenarios))
	}
	fmt.Println(studies[2].Scenarios[0].Summary)
	// Output:
	// contention 3
	// threads 2
	// dead-owner 4
	// crash 2
	// exit 3
	// stall 1
	// clock 3
	// pid-reuse 4
	// pid-namespace 2
	// host-name is not asked: host names are constants of the protocol: write a scenario with two
	// power-loss 1
	// file-system 7
	// failing-call is not asked: a port must handle errors like the original: see --failing-calls
	// signal is not asked: the lock comes without a signal handler
	// An owner was killed after 1 call; two days later its pid is dead; nobody else comes.
}

// Each hazard is asked about, or says why not; ids are unique, and begin so that commands
// know them.
func TestSurveyIsComplete(t *testing.T) {
	studies, err := scenarios.Survey(scenarios.Subject{ID: "app/pid-file", Lock: pidLock})
	require.NoError(t, err)
	require.Len(t, studies, len(scenarios.Hazards()))
	seen := map[string]bool{}
	for i, s := range studies {
		require.Equal(t, scenarios.Hazards()[i], s.Hazard)
		require.Equal(t, len(s.Scenarios) == 0, s.NotAsked != "", s.Hazard.ID)
		for _, sc := range s.Scenarios {
			require.NoError(t, sc.Validate())
			require.True(t, scenarios.Surveyed(sc.ID))
			require.Equal(t, s.Hazard.ID, sc.Hazard())
			require.Equal(t, s.On != nil, seen[sc.ID], sc.ID) // on file systems others are asked again
			seen[sc.ID] = true
		}
	}
	require.False(t, scenarios.Surveyed("ctx/excl/contend"))
}

// What a killed owner leaves is there each time that the machine is made: the lock, with
// what was written, and nobody with its pid.
func TestSurveyLeavesWhatAKilledOwnerLeaves(t *testing.T) {
	studies, err := scenarios.Survey(scenarios.Subject{ID: "app/pid-file", Lock: pidLock})
	require.NoError(t, err)
	about := func(hazard string) scenarios.Study {
		return studies[slices.IndexFunc(studies, func(s scenarios.Study) bool { return s.Hazard.ID == hazard })]
	}
	dead, reused := about(scenarios.HazardDeadOwner), about(scenarios.HazardPidReuse)
	for i, want := range []string{"", "99"} {
		for range 2 {
			m := dead.Scenarios[2*i].NewMachine()
			text, err := m.Proc(1).ReadFile(pidLock.Path)
			require.NoError(t, err)
			require.Equal(t, want, string(text))
			require.False(t, m.Alive(scenarios.DeadPid))
			require.True(t, reused.Scenarios[2*i].NewMachine().Alive(scenarios.DeadPid))
		}
	}
}

// What a situation leaves open is as the subject says.
func TestSurveyTakesTheSetting(t *testing.T) {
	given := scenarios.Setting{Concurrency: scenarios.Threads}
	studies, err := scenarios.Survey(scenarios.Subject{ID: "app/pid-file", Lock: pidLock, Setting: given})
	require.NoError(t, err)
	for _, s := range studies {
		for _, sc := range s.Scenarios {
			require.Equal(t, scenarios.Threads, sc.Setting.Concurrency, sc.ID)
		}
	}
}

func TestSurveyRefuses(t *testing.T) {
	forever := pidLock
	forever.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			_, _ = t.Stat("/run/never")
		}
		panic("unreachable")
	}
	refused := pidLock
	refused.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		_, _ = t.Stat("/run")
		return scenarios.Hold{}, scenarios.ErrLocked
	}
	blocks := pidLock
	blocks.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		return scenarios.Hold{}, t.Kill(-1)
	}
	killed := scenarios.Setting{Crashes: 2}
	noPath := pidLock
	noPath.Path = "app.pid"
	for want, s := range map[string]scenarios.Subject{
		`the id must be system/variant`:               {ID: "app", Lock: pidLock},
		`give the protocol's Acquire and its Release`: {ID: "app/lock"},
		`give the protocol's Path, absolute`:          {ID: "app/lock", Lock: noPath},
		`give Concurrency, Machine and Assume only`:   {ID: "app/lock", Lock: pidLock, Setting: killed},
		`makes 200 calls and is not done`:             {ID: "app/lock", Lock: forever},
		`an owner alone: scenarios: locked`:           {ID: "app/lock", Lock: refused},
		`is not modelled`:                             {ID: "app/lock", Lock: blocks},
	} {
		_, err := scenarios.Survey(s)
		require.ErrorContains(t, err, want)
	}
}

// A subject with a signal handler is asked about signals: every process has the handler, as its last task.
func TestSurveyOfAHandler(t *testing.T) {
	nothing := func(*scenarios.Task) {}
	s := scenarios.Subject{ID: "toy/trap", Handler: nothing, Lock: scenarios.Protocol{
		Path:    "/lock",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return scenarios.Hold{}, t.Mkdir("/lock", 0o777) },
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir("/lock") },
	}}
	studies, err := scenarios.Survey(s)
	require.NoError(t, err)
	last := studies[len(studies)-1]
	require.Equal(t, scenarios.HazardSignal, last.Hazard.ID)
	require.Len(t, last.Scenarios, 2)
	three := last.Scenarios[1].Setting
	require.Equal(t, []int{0, 1, 2}, three.Handlers)
	require.Equal(t, 1, three.Signals)
	require.Equal(t, 3, three.Contenders())
	require.True(t, three.IsHandler(2, 2))
}
