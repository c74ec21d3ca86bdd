package scenarios_test

import (
	"context"
	"fmt"
	"os"

	"lockpick/checker"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// lockfile creates a file to lock, and removes it to unlock.
var lockfile = scenarios.Protocol{
	Path: "/tmp/lock",
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		return scenarios.Hold{File: f}, err
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		_ = h.File.Close()
		return t.Unlink("/tmp/lock")
	},
}

// A scenario is a protocol under a workload in a setting, with what is claimed of it.
func ExampleScenario() {
	sc := scenarios.Scenario{
		ID:      "mine/lockfile/crash",
		Setting: scenarios.Setting{Processes: 2, Crashes: 1},
		Program: func(int, int) scenarios.Program { return scenarios.Once(lockfile) },
		Probe:   scenarios.Attempt(lockfile),
		Claims: []scenarios.Claim{
			{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds},
			{Property: scenarios.Wedge, Verdict: scenarios.Broken},
		},
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(context.Background(), &sc, c.Property, checker.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.Property, r.Verdict, r.AsClaimed())
	}
	// Output:
	// mutual-exclusion holds true
	// wedge broken true
}

// A property of one's own: an invariant, which is evaluated in every state.
func ExampleProperty() {
	oneQueue := &scenarios.Property{
		ID:      "one-queue",
		Meaning: "A job is in one queue at a time.",
		Invariant: func(v scenarios.View) string {
			if v.Same("/todo", "/done") {
				return "the job is in both"
			}
			return ""
		},
	}
	sc := scenarios.Scenario{
		ID:      "mine/link-then-unlink/contend",
		Setting: scenarios.Setting{Processes: 2},
		Setup:   func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/todo", nil, 0o644) },
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				if t.Link("/todo", "/done") == nil {
					_ = t.Unlink("/todo")
				}
			}
		},
		Claims: []scenarios.Claim{{Property: oneQueue, Verdict: scenarios.Broken}},
	}
	r, err := checker.Check(context.Background(), &sc, oneQueue, checker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Property, r.Verdict, "by", r.Counterexample.Schedule)
	fmt.Println(r.Counterexample.Cause)
	// Output:
	// one-queue broken by A1
	// The job is in both.
}

// An assertion inside a protocol is judged by the property Assertion.
func ExampleTask_Assert() {
	sc := scenarios.Scenario{
		ID:      "mine/asserts/contend",
		Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				_ = t.WriteFile("/mine", []byte(t.Process), 0o644)
				text, _ := t.ReadFile("/mine")
				t.Assert(string(text) == t.Process, "%s reads what it wrote", t.Process)
			}
		},
		Claims: []scenarios.Claim{{Property: scenarios.Assertion, Verdict: scenarios.Broken}},
	}
	r, err := checker.Check(context.Background(), &sc, scenarios.Assertion, checker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Counterexample.Cause)
	// Output:
	// A asserts "A reads what it wrote" at step 17, and it is not so. B emptied mine (mine) at step 6 without a look, after A had written to mine at step 2: without O_EXCL an open takes what is there.
}

// Record makes operations of one's own part of the history that a property is judged
// by. A task outside a search runs its calls at once.
func ExampleTask_Acquire() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: scenarios.Pid(0)})
	t := scenarios.NewTask(direct{m}, 0, 1)
	h, err := t.Acquire(lockfile.Path, func() (scenarios.Hold, error) { return lockfile.Acquire(t) })
	fmt.Println(err)
	fmt.Println(t.Release(func() error { return lockfile.Release(t, h) }))
	// Output:
	// noted {acquire(A, /tmp/lock)}
	// noted {ok}
	// noted {/tmp/lock 3 false /tmp/lock}
	// <nil>
	// noted {}
	// noted {release(A, /tmp/lock)}
	// noted {released}
	// <nil>
}

// direct makes calls at once, and prints what is noted.
type direct struct{ m *fsfake.Machine }

func (d direct) Do(op fsfake.Op) fsfake.Result {
	return d.m.Do(fsfake.Task{Pid: scenarios.Pid(0), N: 1}, op)
}

func (direct) Note(v any) { fmt.Printf("noted %v\n", v) }
