package explain

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
)

// twoNames tells of holders whose locks have different names.
func (t *teller) twoNames() bool {
	last := t.last()
	if last == nil {
		return false
	}
	for i, a := range contenders(last) {
		for _, b := range contenders(last)[:i] {
			if !trace.Clash([]trace.Holder{a, b}) {
				continue
			}
			if a.Path != "" && b.Path != "" && a.Path != b.Path {
				t.act = t.claimStep(later(a, b)).N
				t.say("%s holds %s %s, %s holds %s %s: two names are two locks.", b.Task, t.walk.Names.Short(b.Path), since(t, b),
					a.Task, t.walk.Names.Short(a.Path), since(t, a))
				return true
			}
		}
	}
	return false
}

func later(a, b trace.Holder) trace.Holder {
	if a.Since > b.Since {
		return a
	}
	return b
}

func since(t *teller, h trace.Holder) string {
	return strings.Replace(t.at(h.Since), "at", "since", 1)
}

// overtaken tells of a holder that had looked for the other, which came after the look.
func (t *teller) overtaken() bool {
	last := t.last()
	if last == nil || !trace.Clash(last.Holders) {
		return false
	}
	for _, h := range contenders(last) {
		op := t.acquisitionBefore(h.Task, h.Since+1)
		for _, l := range slices.Backward(t.all[h.Task]) {
			if l.how != missing || l.step < op.first || l.step > h.Since {
				continue
			}
			for _, c := range t.changes[l.path] {
				if c.Step < l.step || c.Step > h.Since || c.By == h.Task || !c.After.Exists || !holds(last, c.By) {
					continue
				}
				_, claim := t.claim(h)
				t.say("%s %s. Then %s %s %s. %s did not look again and %s.", h.Task, t.told(l), c.By, t.whole(c), t.at(c.Step), h.Task, claim)
				return true
			}
		}
	}
	return false
}

// twice tells of a task that was given a lock that it held.
func (t *teller) twice() bool {
	last := t.last()
	if last == nil || last.Before == nil {
		return false
	}
	got, ok := last.Returned.(model.Acquired)
	if !ok || !got.OK || got.Shared {
		return false
	}
	for _, h := range last.Holders {
		for _, before := range last.Before.Holders {
			if h.Task == last.Choice.Task && before.Task == h.Task && before.Lock == h.Lock && h.Since == last.N {
				claim, text := t.claim(h)
				why := t.whyNot([]*trace.Call{claim, claim}, []trace.Holder{before, h})
				t.say("%s held the lock already, %s. It %s: %s.", h.Task, since(t, before), text, why)
				return true
			}
		}
	}
	return false
}

// unguarded tells of holders none of whose calls refuses while another holds.
func (t *teller) unguarded() bool {
	last := t.last()
	if last == nil || !trace.Clash(last.Holders) {
		return false
	}
	if t.lockedAnew(last) {
		return true
	}
	var parts []string
	var claims []*trace.Call
	holders := slices.SortedStableFunc(slices.Values(contenders(last)), func(a, b trace.Holder) int { return a.Since - b.Since })
	for _, h := range holders {
		op, text := t.claim(h)
		parts, claims = append(parts, h.Task.String()+" "+text), append(claims, op)
	}
	t.say("%s: %s.", strings.Join(parts, "; "), t.whyNot(claims, holders))
	if last := claims[len(claims)-1]; t.sc.OfCommands() && last != nil && last.Result.Errno == syscall.EEXIST {
		name := t.walk.Names.Short(last.Op.Path)
		t.code = trace.Unexplained
		t.say(" With --inside %s, a command that finds %s there counts as inside. If %s is the lock itself, "+
			"give a name that nothing else uses, or leave --inside out.", name, name, name)
	}
	return true
}

// lockedAnew tells of holders with kernel locks on two files of one name: one was put in the place of the other.
func (t *teller) lockedAnew(last *trace.Walked) bool {
	for _, h := range contenders(last) {
		for _, theirs := range heldAt(t.locksOf(h.Task), last.N) {
			for _, c := range t.changes[theirs.path] {
				if c.Kind != trace.Replaced || c.After.ID != theirs.id {
					continue
				}
				i := slices.IndexFunc(last.Holders, func(o trace.Holder) bool { return o.Task != h.Task && o.ID == c.Before.ID })
				if i < 0 {
					continue
				}
				first := last.Holders[i]
				t.act, t.code = c.Step, "LP1007"
				t.say("%s held %s %s. Then %s %s %s, and %s locked %s %s: a lock belongs to the file that was opened, "+
					"not to its name.", first.Task, t.called(&c.Before), since(t, first), c.By, t.whole(c), t.at(c.Step),
					h.Task, t.object(&c.After), t.at(theirs.step))
				return true
			}
		}
	}
	return false
}

// whyNot says why none of the calls by which holders took the lock refuses.
func (t *teller) whyNot(claims []*trace.Call, holders []trace.Holder) string {
	every := func(is func(i int) bool) bool {
		for i := range claims {
			if claims[i] == nil || !is(i) {
				return false
			}
		}
		return true
	}
	switch {
	case every(func(i int) bool {
		return claims[i].Op.Call == fsfake.CallSetlk && holders[i].Task.Process == holders[0].Task.Process
	}):
		t.code = trace.Unexplained
		return "a record lock belongs to its process, whose tasks it does not keep apart"
	case every(func(i int) bool { return claims[i].Op.Call.IsLock() && shared(&claims[i].Op) }):
		t.code = "LP1011"
		return "shared locks do not keep each other out"
	case slices.ContainsFunc(claims, func(c *trace.Call) bool { return c != nil && c.Result.Errno != 0 }):
		t.code = "LP1008"
		return "a refusal was taken for a success"
	case claims[len(claims)-1] != nil && creates(&claims[len(claims)-1].Op):
		t.code = "LP1012"
		return withoutExcl
	}
	t.code = trace.Unexplained
	return "none of these calls refuses while somebody else holds"
}

func shared(op *fsfake.Op) bool {
	if op.Call == fsfake.CallFlock {
		return op.Flags&fsfake.LOCK_SH != 0
	}
	return op.Flags == fsfake.F_RDLCK
}

// claim tells the call by which a holder took the lock.
func (t *teller) claim(h trace.Holder) (*trace.Call, string) {
	best := t.claimStep(h)
	if len(best.Calls) == 0 {
		return nil, "holds " + since(t, h)
	}
	c := best.Calls[len(best.Calls)-1]
	lock := "the lock"
	if h.Lock != "" {
		lock = t.walk.Names.Short(h.Lock)
	}
	text := fmt.Sprintf("took %s with %s %s", lock, t.walk.Names.Call(c.Op), t.did(best.N))
	if c.Result.Errno != 0 {
		text += fmt.Sprintf(", although that answered %s", fsfake.ErrnoName(c.Result.Errno))
	}
	return &c, text
}

// claimStep is the step with which a holder took the lock: the last of its acquisition that
// locked, made or opened anything, or else the last with a call, or else the last of all.
func (s *story) claimStep(h trace.Holder) *trace.Walked {
	first := 1
	for _, op := range s.done {
		if op.task == h.Task && op.last == h.Since {
			first = op.first
		}
	}
	var best, byName, other *trace.Walked
	for n := first; n <= h.Since; n++ {
		st := &s.walk.Steps[n-1]
		if st.Choice.Task != h.Task || len(st.Calls) == 0 {
			continue
		}
		other = st
		if len(st.Targets) == 1 && len(st.Targets[0]) > 0 && st.Targets[0][0].Path == h.Path && !st.Targets[0][0].ByFD {
			byName = st
		}
		if _, ok := locked(st); ok || opens(st) || slices.ContainsFunc(st.Changes, func(c trace.Change) bool { return c.Identity() }) {
			best = st
		}
	}
	if byName != nil && (best == nil || len(best.Targets[0]) > 0 && best.Targets[0][0].Path != h.Path) {
		best = byName
	}
	switch {
	case best != nil:
		return best
	case other != nil:
		return other
	}
	return &s.walk.Steps[h.Since-1]
}

// opens reports whether a step opens a file to write to it.
func opens(st *trace.Walked) bool {
	return slices.ContainsFunc(st.Calls, func(c trace.Call) bool {
		return c.Op.Call == fsfake.CallOpen && c.Result.OK() && c.Op.Flags&(fsfake.O_WRONLY|fsfake.O_RDWR) != 0
	})
}
