package explain

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/sched"
)

// gaveWay tells of somebody who saw what another had made, and ended without having changed
// anything: of what is left behind only its work is missing.
func (t *teller) gaveWay() bool {
	if t.cx.Said == "" {
		return false
	}
	for _, e := range t.walk.End().Ended {
		if e.How != sched.Run || t.changedAnything(e.Process) {
			continue
		}
		for _, me := range trace.Tasks(&t.sc.Setting) {
			if me.Process != e.Process {
				continue
			}
			for _, l := range slices.Backward(t.all[me]) {
				if by, ok := t.maker(l.path, l.file.ID, l.step); ok && l.file.Exists && by.By.Process != e.Process {
					t.say("%s %s %s. %s %s, and ended %s without having changed anything.", by.By, t.made(by), t.at(by.Step),
						me, t.told(l), t.at(e.Step))
					t.act = l.step
					return true
				}
			}
		}
	}
	return false
}

// changedAnything reports whether a process has changed what stands at any name.
func (s *story) changedAnything(process int) bool {
	for i := range s.walk.Steps {
		if st := &s.walk.Steps[i]; st.Choice.Task.Process == process && len(st.Changes) > 0 {
			return true
		}
	}
	return false
}
