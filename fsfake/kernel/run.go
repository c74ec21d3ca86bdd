//go:build linux

package kernel

import (
	"fmt"

	"lockpick/fsfake"
)

// An Ask is where a program has got to: the call that it is about to make, or its end.
type Ask struct {
	// Notes are what the program noted on the way, as [NoteText] renders it.
	Notes []string
	// Ended: the program has returned, and there is no call.
	Ended bool
	// Op is the next call. The value of a cell is its text.
	Op fsfake.Op
}

// Run has a task run the program that was given to [MaybeWorker], up to its first call.
// Nothing the program asks for is done by itself: have it made with [Machine.Do], or not,
// and go on with [Machine.Give].
func (m *Machine) Run(t fsfake.Task, name string) (Ask, error) {
	if m.options.CallsOnly {
		return Ask{}, fmt.Errorf("kernel: asked to run %q on a machine with Options.CallsOnly", name)
	}
	s, err := m.find(t.Pid)
	if err != nil {
		return Ask{}, err
	}
	p, err := m.thread(s, t.N)
	if err != nil {
		return Ask{}, err
	}
	e := p.body()
	e.string(name)
	if err := p.send(frameRun, e.b); err != nil {
		return Ask{}, err
	}
	return p.takeAsk()
}

// Give answers the call that a program waits for, and returns where it gets from there. A
// program accesses its cells itself, whatever r says.
func (m *Machine) Give(t fsfake.Task, r fsfake.Result) (Ask, error) {
	s, err := m.find(t.Pid)
	if err != nil {
		return Ask{}, err
	}
	p, err := m.thread(s, t.N)
	if err != nil {
		return Ask{}, err
	}
	e := p.body()
	e.result(&r)
	if err := p.send(frameGive, e.b); err != nil {
		return Ask{}, err
	}
	return p.takeAsk()
}

func (p *process) takeAsk() (Ask, error) {
	k, body, err := p.expect(frameAsk, frameEnded)
	if err != nil {
		return Ask{}, err
	}
	d := decoder{body}
	a := Ask{Ended: k == frameEnded}
	for range d.uint() {
		a.Notes = append(a.Notes, d.string())
	}
	if !a.Ended {
		a.Op = d.op()
	}
	return a, nil
}
