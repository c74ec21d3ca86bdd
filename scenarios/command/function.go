package command

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Go function beside commands. It makes its calls on the same machine, and starts in the same directory; nothing
// of it runs on the kernel.

// function is the program of a process that runs a Go function.
func (s *Spec) function(f scenarios.Program) scenarios.Program {
	return func(t *scenarios.Task) {
		in, port := *t, &endPort{Proc: t.Proc}
		in.Proc = fsfake.NewProc(port, t.Proc.Getpid(), 1)
		f(&in)
		if !port.ended {
			port.Do(fsfake.Op{Call: fsfake.CallEnd})
		}
	}
}

// An endPort keeps how the process ends, and that it has.
type endPort struct {
	*fsfake.Proc
	ended bool
}

// Do implements fsfake.Port.
func (p *endPort) Do(op fsfake.Op) fsfake.Result {
	if op.Call == fsfake.CallExit {
		op = fsfake.Op{Call: fsfake.CallEnd}
	}
	p.ended = p.ended || op.Call == fsfake.CallEnd
	return p.Proc.Do(op)
}

// notCarried is why steps are not carried out on the kernel of which some are a Go function's; nil where none is.
func (s *Spec) notCarried(steps []Step) error {
	for _, st := range steps {
		if s.Commands[st.Process].Func != nil {
			return fmt.Errorf("%s is a Go function, which runs on the fake machine alone", scenarios.ProcessName(st.Process))
		}
	}
	return nil
}
