package checker_test

import (
	"context"
	"fmt"
	"os"

	"lockpick/checker"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// saveConfig writes a new file, syncs it and renames it over the old one.
func saveConfig(t *scenarios.Task) error {
	f, err := t.OpenFile("/tmp/conf.new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString("new"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return t.Rename("/tmp/conf.new", "/tmp/conf")
}

// A file that is saved, when the power may be lost: it is whole whatever happens, but may be the old one after the
// process has ended, since nobody syncs the directory.
func Example_atomic() {
	sc := &scenarios.Scenario{
		ID:      "mine/conf/power",
		Setting: scenarios.Setting{Processes: 1, PowerLosses: 1},
		Setup:   func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/tmp/conf", []byte("old text"), 0o644) },
		Program: func(process, task int) scenarios.Program {
			return func(t *scenarios.Task) {
				if saveConfig(t) != nil {
					t.ExitWith(1)
				}
			}
		},
		Claims: []scenarios.Claim{
			{Property: scenarios.Atomic, Verdict: scenarios.Holds},
			{Property: scenarios.Durable, Verdict: scenarios.Broken},
		},
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(context.Background(), sc, c.Property, checker.Options{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Property, r.Verdict)
		if r.Verdict == checker.Broken {
			fmt.Println(r.Counterexample.Schedule, r.Counterexample.Said)
		}
	}
	// Output:
	// atomic holds
	// durable broken
	// A6 *1 /tmp/conf: the old 8 bytes, not the new 3
}
