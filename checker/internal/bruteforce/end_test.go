package bruteforce

import (
	"fmt"
	"slices"

	"lockpick/model"
)

// kill ends a process between two of its steps.
func (x *space) kill(s *state, process int) {
	s.m.KillProc(101 + process)
	s.settle()
	x.die(s, process)
	s.dead = append(slices.Clone(s.dead), process)
	slices.Sort(s.dead)
}

// die ends what the tasks of a process have begun, and what they hold: the process was killed
// or has exited.
func (x *space) die(s *state, process int) {
	for i := range s.tasks {
		if x.slots[i].process == process {
			x.remember(s, i, func(o []operation) []operation { return cutShort(o) })
		}
	}
	x.event(s, len(x.slots)+process, model.Crash{Owner: processName(process)})
	x.remember(s, len(x.slots)+process, func(o []operation) []operation { return answer(o, model.Crashed{}) })
	x.end(s, process)
}

// end takes the tasks of a process out.
func (x *space) end(s *state, process int) {
	for i := range s.tasks {
		if x.slots[i].process == process {
			s.tasks[i].gone, s.tasks[i].held, s.tasks[i].blocked = true, nil, nil
			s.tasks[i].until, s.tasks[i].lead, s.tasks[i].changed = 0, 0, nil
		}
	}
	s.cells[process], s.shown[process] = nil, nil
}

// event begins an operation of a client.
func (x *space) event(s *state, client int, input any) {
	if x.judge == nil || !x.judge.accepts(input) {
		return
	}
	ops := s.history[client]
	s.history[client] = append(ops[:len(ops):len(ops)], operation{
		input: input, before: s.history.returned(), text: fmt.Sprintf(";%T%v", input, input),
	})
}

func (x *space) remember(s *state, client int, change func([]operation) []operation) {
	if x.judge != nil {
		s.history[client] = change(s.history[client])
	}
}
