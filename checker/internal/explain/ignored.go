package explain

import (
	"syscall"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// ignored tells of an answer that was given although a call was told that somebody else had
// come first.
func (t *teller) ignored() bool {
	st := t.blamedStep()
	if st == nil || isRefusal(st.Returned) {
		return false
	}
	op := t.operationAt(st)
	for n := st.N; n >= max(op.first, 1); n-- {
		at := &t.walk.Steps[n-1]
		if at.Choice.Task != st.Choice.Task {
			continue
		}
		for i, c := range at.Calls {
			if e := c.Result.Errno; (e == syscall.EEXIST || e == syscall.EAGAIN) && len(at.Targets[i]) > 0 {
				t.wentOn(at, i)
				return true
			}
		}
	}
	return false
}

// wentOn tells what was refused, and that it did not count.
func (t *teller) wentOn(at *trace.Walked, i int) {
	me, c := at.Choice.Task, at.Calls[i]
	on := &at.Targets[i][len(at.Targets[i])-1]
	if by, ok := t.maker(on.Path, on.Before.ID, at.N); ok && by.By != me {
		t.say("%s %s %s. ", by.By, t.whole(by), t.at(by.Step))
	}
	t.say("%s was told %s by %s %s, and went on as if it had not been.", me, fsfake.ErrnoName(c.Result.Errno),
		t.walk.Names.Call(c.Op), t.did(at.N))
}
