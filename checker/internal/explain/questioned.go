package explain

import (
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// questioned tells, where the user is asked whether it is wrong, which command is the last that ends after it has met
// another's lock, and how.
func (t *teller) questioned() bool {
	if !t.cx.Asked {
		return false
	}
	type meeting struct {
		st   *trace.Walked
		call *trace.Call
	}
	met := map[sched.Task]meeting{}
	var last meeting
	status := -1
	for i := range t.walk.Steps {
		st := &t.walk.Steps[i]
		who := st.Choice.Task
		for j := range st.Calls {
			c := &st.Calls[j]
			if c.Result.Errno != 0 && c.Op.Call.Contends(&c.Result) {
				met[who] = meeting{st, c}
			}
			if m, ok := met[who]; ok && c.Status() >= 0 {
				last, status = m, c.Status()
			}
		}
	}
	if status < 0 {
		return false
	}
	t.say("%s meets another's lock %s: %s answers %s. Then it ends with status %d.", last.st.Choice.Task,
		t.did(last.st.N), t.walk.Names.Call(last.call.Op), fsfake.ErrnoName(last.call.Result.Errno), status)
	return true
}
