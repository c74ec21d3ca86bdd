package trace

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A ProcState is a running process with its open descriptors.
type ProcState struct {
	Pid int
	FDs []FDState
}

// An FDState is an open descriptor, and the names of what is behind it: none when that
// was unlinked.
type FDState struct {
	fsfake.FDView
	Paths []string
}

// ProcsAtFirst returns the processes of a scenario before its first step, and the time
// then.
func ProcsAtFirst(sc *scenarios.Scenario) ([]ProcState, time.Time) {
	m := sc.NewMachine()
	return ProcsOf(m, sc), m.Now()
}

// ProcsOf looks at a scenario's processes that are running.
func ProcsOf(m *fsfake.Machine, sc *scenarios.Scenario) []ProcState {
	var out []ProcState
	for i := range sc.Setting.Processes {
		pid := scenarios.FirstPid + i
		if !m.Alive(pid) {
			continue
		}
		p := ProcState{Pid: pid}
		for _, v := range m.FDs(pid) {
			p.FDs = append(p.FDs, FDState{v, m.Paths(v.ID)})
		}
		out = append(out, p)
	}
	return out
}
