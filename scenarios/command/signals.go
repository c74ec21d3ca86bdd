package command

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Signals from one command to another; see package fsfake, signal.go.

// maySignal says why a signal for a process that is not one's own cannot be followed.
func (d *driver) maySignal(op fsfake.Op) error {
	if op.Call != fsfake.CallKill || op.Flags == 0 {
		return nil
	}
	const stops = 1<<19 | 1<<20 | 1<<21 | 1<<22 // SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU
	switch process, _ := scenarios.ProcessOf(op.Pid); {
	case process < 0 || process >= len(d.spec.Commands): // of what commands start pids come again
		return notModelled{fmt.Errorf("%s: a signal to process %d, which is not the first of a command, is "+
			"not modelled: have the program do without it", op, op.Pid)}
	case stops>>op.Flags&1 != 0:
		return notModelled{fmt.Errorf("%s: job control is not modelled: have the program do without it", op)}
	case d.spec.Inside != "":
		return notModelled{fmt.Errorf("%s: a signal to another command is not modelled with --inside: "+
			"ask without it", op)}
	}
	d.spec.record.signalled()
	return nil
}

// notMade reports whether a call was not made, for the first process was killed or a signal has come. It is made anew
// if it still is what its process does next.
func notMade(r fsfake.Result) bool {
	_, killed := r.Value.(scenarios.Killed)
	_, interrupted := r.Interrupts()
	return killed || interrupted
}
