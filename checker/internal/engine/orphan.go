package engine

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Processes without a program, which live on when all others have ended: nobody knows what they let go.

// Outlived returns an error where it could not be said of some machine whether it is wedged. p may be nil.
func (p *Prober) Outlived() error {
	if p == nil || p.outlived == 0 {
		return nil
	}
	return outlives(p.sc, p.outlived)
}

// Unsaid says why it could not be said of a machine that was probed; "" where it was.
func (p *Prober) Unsaid(m *fsfake.Machine) string {
	r := p.seen[string(m.AppendKey(nil))]
	if r.outlived == 0 {
		return ""
	}
	return fmt.Sprintf("whether a fresh process is locked out for good was not decided, since the process with pid %d lives on, and nobody knows what it lets go later", r.outlived)
}

// orphan returns the pid of a process without a program that lives on a machine, 0 for none. What it holds
// it holds for ever, since nobody has said what it does. What a command has started does what the command
// does, as long as that lives.
func (p *Prober) orphan(m *fsfake.Machine) int {
	at, pids := p.sc.NewMachine().Pids(), m.Pids() // others may be there from the beginning, as owners of locks
	for _, pid := range pids {
		if p.sc.External {
			if by, ok := scenarios.StartedBy(pid); ok && slices.Contains(pids, scenarios.Pid(by)) {
				continue
			}
		}
		if i, ok := scenarios.ProcessOf(pid); !(ok && i < p.sc.Setting.Processes) && !slices.Contains(at, pid) {
			return pid
		}
	}
	return 0
}

// outlives is the error for a process without a program that lives on.
func outlives(sc *scenarios.Scenario, pid int) error {
	const said = "checker: wedge cannot be said to hold for %s: nobody is locked out where all have ended, but "
	if sc.External {
		return fmt.Errorf(said+"elsewhere "+
			"process %d, which a killed command has started, outlives all others. Nobody knows what it lets go later: "+
			"ask the other properties (--property)", sc.ID, pid)
	}
	return fmt.Errorf(said+"elsewhere process %d (a fork) outlives all others and has no program, so nobody "+
		"knows what it lets go. Make it a process of the scenario (Setting.Processes), which opens what it would "+
		"inherit",
		sc.ID, pid)
}
