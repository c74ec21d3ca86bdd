package pidlock

import (
	"path/filepath"
	"testing"

	"lockpick/checker/checkertest"
	"lockpick/fsfake/osfs"
	"lockpick/scenarios"
)

// The lock works on the real system.
func TestReal(t *testing.T) {
	sys, name := osfs.OS(), filepath.Join(t.TempDir(), "lock")
	for range 2 {
		if err := Acquire(sys, name); err != nil {
			t.Fatal(err)
		}
		if err := Acquire(sys, name); err != ErrHeld {
			t.Fatal(err)
		}
		if err := Release(sys, name); err != nil {
			t.Fatal(err)
		}
	}
}

const name = "/tmp/app.pid"

// lock runs the same code on a simulated process.
var lock = scenarios.Protocol{
	Path: name,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		return scenarios.Hold{}, Acquire(osfs.On(t.Proc), name)
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return Release(osfs.On(t.Proc), name) },
}

var contend = scenarios.Scenario{
	ID:      "pidlock/first/contend",
	Setting: scenarios.Setting{Processes: 2},
	Program: func(int, int) scenarios.Program { return scenarios.Once(lock) },
	Watch:   []string{name},
	Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Broken}},
}

// It does not work under every schedule.
func TestEverySchedule(t *testing.T) { checkertest.Run(t, contend) }
