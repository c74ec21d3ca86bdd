package real

import (
	"encoding/json"
	"fmt"

	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/scenarios"
)

// Worker must be called first thing in main or TestMain of a binary that uses [Replay],
// with every scenario that it may be asked for. In an execution that Replay has started it
// runs the scenario's programs and does not return; in any other it does nothing.
func Worker(all []scenarios.Scenario) {
	kernel.MaybeWorker(func(text string, port fsfake.Port) error {
		var n name
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return err
		}
		for i := range all {
			if all[i].ID == n.Scenario {
				return n.run(&all[i], port)
			}
		}
		if sc, ok := scenarios.FindSurveyed(all, n.Scenario); ok {
			return n.run(&sc, port)
		}
		return fmt.Errorf("real: Worker was not given the scenario %s", n.Scenario)
	})
}

// A name says what a worker is to run.
type name struct {
	Scenario   string
	Processes  int
	Process, N int
	Probe      int `json:",omitempty"` // the pid of a probe
}

func (n *name) run(sc *scenarios.Scenario, port fsfake.Port) error {
	if sc.Setting.Processes != n.Processes {
		more, err := sc.WithProcesses(n.Processes)
		if err != nil {
			return err
		}
		sc = &more
	}
	if n.Probe == 0 {
		sc.Program(n.Process, n.N)(sc.Task(port, n.Process, n.N))
		return nil
	}
	t := &scenarios.Task{Proc: fsfake.NewProc(port, n.Probe, 1), Process: "fresh", Index: sc.Setting.Processes}
	port.Note(probed{gotThrough: sc.Probe(t) == nil})
	return nil
}

// probed is what a probe notes at its end.
type probed struct{ gotThrough bool }

func (n name) String() string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // nothing in it can fail
	}
	return string(b)
}
