package edits

import (
	"errors"
	"fmt"
	"path"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// ran is what became of one task in a run in which one goes to its end after the other.
type ran struct {
	outputs []any
	refused bool     // it did not get a lock
	stuck   bool     // it waits, polls for ever, or does what is not modelled
	names   []string // of the files
	files   map[string]string
}

// mostCalls bounds the calls of one task: who makes more polls for ever.
const mostCalls = 400

// serially runs each task of a scenario to its end, one after the other.
func serially(sc *scenarios.Scenario) (all []ran) {
	m, err := sc.Start()
	if err != nil {
		return nil
	}
	for i := range sc.Setting.Processes {
		if sc.Setting.AfterReboot(i) {
			continue
		}
		for n := range sc.Setting.TasksOf(i) {
			all = append(all, runOf(sc, m, i, n+1))
		}
		if !sc.Setting.Daemons {
			m.Do(fsfake.Task{Pid: scenarios.Pid(i), N: 1}, fsfake.Op{Call: fsfake.CallExit})
		}
	}
	return all
}

// runOf runs one task to its end.
func runOf(sc *scenarios.Scenario, m *fsfake.Machine, process, n int) (r ran) {
	defer func() {
		r.stuck = recover() != nil
		r.files = map[string]string{}
		r.read(m.Proc(1), "/")
	}()
	port := &alone{m: m, task: fsfake.Task{Pid: scenarios.Pid(process), N: n}, ran: &r}
	sc.Program(process, n)(sc.Task(port, process, n))
	return r
}

// read reads every file.
func (r *ran) read(p *fsfake.Proc, dir string) {
	entries, _ := p.ReadDir(dir)
	for _, e := range entries {
		name := path.Join(dir, e)
		if info, err := p.Lstat(name); err == nil && info.IsDir() {
			r.read(p, name)
		} else if text, err := p.ReadFile(name); err == nil {
			r.names = append(r.names, name)
			r.files[name] = string(text)
		}
	}
}

// alone is the port of a task that runs while nobody else does.
type alone struct {
	m     *fsfake.Machine
	task  fsfake.Task
	ran   *ran
	calls int
}

var errStuck = errors.New("the task is stuck")

func (a *alone) Do(op fsfake.Op) fsfake.Result {
	r := a.m.Do(a.task, op)
	if a.calls++; a.calls > mostCalls || r.Blocked || r.Unmodelled != "" {
		panic(errStuck)
	}
	return r
}

func (a *alone) Note(v any) {
	if r, ok := v.(scenarios.Returned); ok {
		a.ran.outputs = append(a.ran.outputs, r.Output)
		got, locks := r.Output.(model.Acquired)
		a.ran.refused = a.ran.refused || locks && !got.OK
	}
}

// differs says what tasks one after the other get or leave that they did not before; empty for nothing. Who was
// refused or stuck may get further now, and files may stay that were removed.
func differs(before, after []ran) string {
	for i, b := range before {
		if b.stuck || b.refused {
			return ""
		}
		a := after[i]
		switch {
		case a.stuck:
			return fmt.Sprintf("one after the other, task %d does not end", i+1)
		case fmt.Sprint(a.outputs) != fmt.Sprint(b.outputs):
			return fmt.Sprintf("one after the other, task %d gets something else", i+1)
		}
		for _, name := range b.names {
			if now, there := a.files[name]; !there || now != b.files[name] {
				return fmt.Sprintf("one after the other, %s is not as it was", path.Base(name))
			}
		}
	}
	return ""
}
