package ctx

import (
	"math/rand/v2"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// recorder is a port that makes the calls on a machine at once, and keeps them.
type recorder struct {
	m     *fsfake.Machine
	id    fsfake.Task
	ops   []fsfake.Op
	notes []any
}

func (r *recorder) Do(op fsfake.Op) fsfake.Result {
	r.ops = append(r.ops, op)
	return r.m.Do(r.id, op)
}

func (r *recorder) Note(v any) { r.notes = append(r.notes, v) }

// alone runs the program of one process with nobody else there.
func alone(sc *scenarios.Scenario, process int) *recorder {
	r := &recorder{m: sc.NewMachine(), id: fsfake.Task{Pid: scenarios.Pid(process), N: 1}}
	sc.Program(process, 1)(scenarios.NewTask(r, process, 1))
	return r
}

// read returns the content of a file, and whether there is one.
func read(m *fsfake.Machine, name string) (string, bool) {
	data, err := m.Proc(1).ReadFile(name)
	return string(data), err == nil
}

// interleave steps the bodies, as processes A, B, … of one machine, in an order drawn
// from seed, one call at a time, until all have ended.
func interleave(m *fsfake.Machine, seed uint64, bodies ...scenarios.Program) {
	type actor struct {
		id   fsfake.Task
		co   *sched.Coroutine[fsfake.Op, fsfake.Result]
		next fsfake.Op
	}
	var live []*actor
	for i, body := range bodies {
		pid := scenarios.Pid(i)
		if !m.Alive(pid) {
			m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Cwd: "/"})
		}
		a := &actor{id: fsfake.Task{Pid: pid, N: 1}}
		a.co = sched.Go(func(ask func(fsfake.Op) fsfake.Result) {
			body(scenarios.NewTask(asker(ask), i, 1))
		})
		defer a.co.Stop()
		if op, more := a.co.Next(); more {
			a.next = op
			live = append(live, a)
		}
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	for len(live) > 0 {
		i := draw.IntN(len(live))
		a := live[i]
		r := m.Do(a.id, a.next)
		if r.Blocked {
			continue // the same call again, later
		}
		a.co.Answer(r)
		op, more := a.co.Next()
		if a.next = op; !more {
			live = append(live[:i], live[i+1:]...)
		}
	}
}

// asker is a port that asks its driver.
type asker func(fsfake.Op) fsfake.Result

func (a asker) Do(op fsfake.Op) fsfake.Result { return a(op) }
func (asker) Note(any)                        {}
