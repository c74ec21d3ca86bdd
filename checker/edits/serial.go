package edits

import (
	"fmt"
	"path"

	"lockpick/checker/internal/edit"
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
	port := &edit.Alone{Machine: m, Task: fsfake.Task{Pid: scenarios.Pid(process), N: n}, Noted: r.note}
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

// note keeps what an operation gets.
func (r *ran) note(v any) {
	if of, ok := v.(scenarios.Returned); ok {
		r.outputs = append(r.outputs, of.Output)
		got, locks := of.Output.(model.Acquired)
		r.refused = r.refused || locks && !got.OK
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
