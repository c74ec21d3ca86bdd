package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// staleUse tells of a call, one of some, that relied on what its task had seen, after others had
// changed it.
func (t *teller) staleUse(all []*use) bool {
	if len(all) == 0 {
		return false
	}
	u := t.decisive(all)
	l, first := u.look, u.between[0].Step
	r := l.knowing()
	empty := r != nil && r.text == "" && t.cx.Said != ""
	if empty && len(t.kernelLocks()) == 0 && t.amid(&t.walk.Steps[r.step-1]) {
		return true
	}
	late := l.how == read && l.opened != nil && l.step > first // it was read after the name had changed
	if late {
		l = l.opened
	}
	t.say("%s %s%s. Then %s.", u.task, t.told(l), t.judgements(l, 0, first), t.meanwhile(u.between))
	switch asked := t.judgements(u.look, first, u.step); {
	case late:
		t.say(" %s went by what it had opened, read it %s%s, and %s.", u.task, t.at(u.look.step), asked, t.relied(u))
	case asked != "":
		t.say(" %s%s, did not look again and %s.", u.task,
			strings.TrimPrefix(strings.TrimPrefix(asked, " and"), ","), t.relied(u))
	default:
		t.say(" %s did not look again and %s.", u.task, t.relied(u))
	}
	if n := taken(u); n > 0 {
		t.act = n
	} else if i := slices.IndexFunc(u.between, (*change).Removes); i >= 0 && u.how == lockedOld {
		t.act = u.between[i].Step // no look would have helped who locks a file that loses its name
	}
	t.code = t.staleCode(u)
	t.jumped(u.step)
	t.observed(u)
	t.guard(u)
	return true
}

// staleCode is the kind of a stale use. A file that is not as it should be at the end is data, and no lock that has
// lost its name.
func (s *story) staleCode(u *use) string {
	switch {
	case s.twoDrafts(u.path):
		return "LP1018"
	case taken(u) > 0 && u.between[0].By.Process != u.task.Process:
		return "LP1015"
	case u.how == lockedOld || (u.how == heldOld || u.how == wroteLost) && !s.isData(u.path):
		return "LP1007"
	case (u.how == tookOver || u.look.how == missing) && !s.isData(u.path):
		return "LP1001"
	case u.change != nil && u.change.Removes() && u.change.Kind != trace.Replaced:
		return "LP1003"
	}
	return "LP1002"
}

// taken is the step in which somebody took away what a task had just made, and had not
// finished: not to look again at one's own new file is no mistake, and to remove it is. It is
// 0 when it was not so.
func taken(u *use) int {
	if u.look.how != created || u.how != wroteLost && u.how != heldOld {
		return 0
	}
	for _, c := range u.between {
		if c.Removes() {
			return c.Step
		}
	}
	return 0
}

// decisive is the stale use that counts. Uses of watched files go before others. Of these
// it is the last that puts another file at a name, or none, when somebody else had done
// so before; or else the last for which that was so; or else the last. Where that one is the
// victim of an earlier one, which has changed what it had seen, the earlier one counts.
func (s *story) decisive(stale []*use) *use {
	swapped := func(u *use) bool { return slices.ContainsFunc(u.between, func(c *change) bool { return c.Identity() }) }
	for _, all := range [][]*use{s.watched(stale), stale} {
		for _, want := range []func(*use) bool{
			func(u *use) bool { return u.change != nil && u.change.Identity() && swapped(u) },
			swapped,
			func(*use) bool { return true },
		} {
			for i, u := range slices.Backward(all) {
				if want(u) {
					return firstOf(u, all[:i], want)
				}
			}
		}
	}
	return nil
}

// firstOf goes back from a use to the first that it follows from: to one by somebody else whose
// change made its look stale, and which relied on a stale look itself. Who writes to a file that is removed by somebody
// who took it for its own follows from that.
func firstOf(u *use, earlier []*use, want func(*use) bool) *use {
	for _, by := range slices.Backward(earlier) {
		tookOver := u.how == wroteLost && by.look != nil && by.look.how == missing && creates(&by.call)
		made := func(c *change) bool { return c.Change == by.change || tookOver && c.By == by.task && c.Removes() }
		if by.task != u.task && (by.change != nil || tookOver) && want(by) && slices.ContainsFunc(u.between, made) {
			u = by
		}
	}
	return u
}

// counting keeps the uses of files that count, and those of files that were looked for and missed, as marks are.
func (s *story) counting(all []*use) []*use {
	return slices.DeleteFunc(slices.Clone(all), func(u *use) bool {
		return (u.look == nil || u.look.how != missing) && !s.counts(u.path)
	})
}

// counts reports whether a file is not as it should be at the end, or is gone then, as locks are. Where no end is
// judged every file counts.
func (s *story) counts(p string) bool {
	return s.cx.Property.Table == nil || len(s.cx.Trace) == 0 || !s.walk.End().File(p).Exists || s.isData(p)
}

// isData reports whether a file is there at the end, and not as it should be.
func (s *story) isData(p string) bool {
	if s.cx.Property.Table == nil || len(s.cx.Trace) == 0 || !s.walk.End().File(p).Exists {
		return false
	}
	table := s.cx.Property.Table(scenarios.NewView(s.cx.Trace[len(s.cx.Trace)-1].After))
	return slices.ContainsFunc(table, func(row []string) bool {
		return row[0] == s.walk.Names.Short(p) || "/"+strings.TrimPrefix(row[0], "/") == p
	})
}

// watched keeps the uses of watched files.
func (s *story) watched(all []*use) []*use {
	return lists.Filter(all, func(u *use) bool { return slices.Contains(s.sc.Watch, u.path) })
}

// meanwhile tells the changes that matter: those of identity, the first and the last of
// them, or else the last of all. Of who took away what was there it tells what that one
// had gone by.
func (t *teller) meanwhile(all []*change) string {
	kept := slices.DeleteFunc(slices.Clone(all), func(c *change) bool { return !c.Identity() })
	if len(kept) == 0 {
		kept = all[len(all)-1:]
	}
	if len(kept) > 2 {
		kept = []*change{kept[0], kept[len(kept)-1]}
	}
	var parts []string
	for i, c := range kept {
		text := fmt.Sprintf("%s %s", t.deed(c.Change), t.at(c.Step))
		if i == 0 || kept[i-1].By != c.By {
			text = c.By.String() + t.reason(c) + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// reason says what somebody who took a file away had gone by: ", which had found it empty
// at step 7,". Of one that takes away its own file there is nothing to say.
func (t *teller) reason(c *change) string {
	l := c.went
	if !c.Removes() || l == nil || l.file.ID != c.Before.ID || l.how == created || l.how == acted {
		return ""
	}
	if by, ok := t.maker(c.Path, c.Before.ID, c.Step); ok && by.By == c.By {
		return ""
	}
	switch r := l.knowing(); {
	case r != nil && r.text == "":
		return fmt.Sprintf(", which had found it empty %s%s,", t.at(r.step), t.judgements(l, 0, c.Step))
	case r != nil:
		return fmt.Sprintf(", which had read %s %s%s,", t.data(r.text), t.at(r.step), t.judgements(l, 0, c.Step))
	case len(l.judged) > 0:
		if text := t.judgements(l, 0, c.Step); text != "" {
			return ", which had" + strings.TrimPrefix(strings.TrimPrefix(text, " and"), ",") + ","
		}
	}
	return ""
}

// lastChange is the last change of what stands at a name that is such; nil for none.
func (s *story) lastChange(path string, such func(*change) bool) *change {
	for _, c := range slices.Backward(s.changes[path]) {
		if such(c) {
			return c
		}
	}
	return nil
}

// maker finds the last change before a step that put a file at a name.
func (s *story) maker(path string, id fsfake.InodeID, before int) (*change, bool) {
	c := s.lastChange(path, func(c *change) bool { return c.Step < before && c.Identity() && c.After.ID == id })
	return c, c != nil
}

// relied tells what a call did on the strength of a look, and which call might have
// noticed.
func (t *teller) relied(u *use) string {
	at := t.did(u.step)
	name := t.walk.Names.Short(u.path)
	switch u.how {
	case tookOver:
		return fmt.Sprintf("opened %s %s as if it had made it: %s", t.object(&u.file), at, t.notice(u))
	case wroteLost:
		return fmt.Sprintf("wrote to %s %s, which %s no longer leads to", t.object(&u.file), at, name)
	case lockedOld:
		return fmt.Sprintf("locked %s %s, which %s no longer leads to: a lock belongs to the file that was opened, "+
			"not to its name", t.object(&u.file), at, name)
	case heldOld:
		return fmt.Sprintf("took the lock with %s %s, which %s no longer leads to", t.object(&u.file), at, name)
	}
	if t.cx.Said != "" { // of an end; histories end where it is wrong
		switch {
		case creates(&u.call) && u.look.how == missing:
			return fmt.Sprintf("opened %s %s as if it had made it: %s", t.object(&u.file), at, withoutExcl)
		case u.look.knowing() != nil && u.change.Kind == trace.Emptied:
			return fmt.Sprintf("overwrote %s, from %s on", t.object(&u.file), strings.TrimPrefix(at, "at "))
		}
	}
	text := fmt.Sprintf("%s %s", t.deed(u.change), at)
	if n := t.notice(u); n != "" {
		text += ": " + n
	}
	return text
}

const withoutExcl = "without O_EXCL an open takes what is there"

// notice says why a call does not notice that what it works on is not what was seen.
func (t *teller) notice(u *use) string {
	op := &u.call
	switch {
	case creates(op) && u.look == nil && op.Flags&fsfake.O_TRUNC != 0 && (t.cx.Said == "" || t.everLocked(u.file.ID)):
		t.code = "LP1013"
		return "O_TRUNC empties a file when it is opened, before any lock on it"
	case creates(op) && u.look == nil && t.draft(u.path):
		t.code = "LP1018"
		return "both write their new version under one name"
	case creates(op) && op.Flags&fsfake.O_TRUNC != 0 && u.look != nil && u.look.file.Exists && t.cx.Said != "":
		return "O_TRUNC empties whatever it finds"
	case creates(op):
		return withoutExcl
	case op.Call == fsfake.CallUnlink, op.Call == fsfake.CallRmdir:
		return op.Call.String() + " takes whatever stands at the name"
	case op.Call == fsfake.CallRename && u.change.Kind == trace.Replaced:
		return "rename replaces whatever stands at the name"
	case op.Call == fsfake.CallRename:
		return "rename takes whatever stands at the name"
	case op.Call == fsfake.CallTruncate, op.Call == fsfake.CallOpen:
		return op.Call.String() + " takes whatever stands at the name"
	}
	return ""
}

// jumped mentions a jump of the clock before a step, and who had read it when.
func (t *teller) jumped(before int) {
	for _, st := range t.stalls {
		if st.N >= before {
			continue
		}
		by := st.After.Clock.Sub(st.Before.Clock)
		how := "jumped ahead"
		if by < 0 {
			how, by = "been set back", -by
		}
		t.say(" The clock had %s by %s %s", how, numbers.Time(by), t.at(st.N))
		task := t.walk.Steps[before-1].Choice.Task
		if all := t.clocks[task]; len(all) > 0 {
			if n := lastBefore(all, before); n < st.N && n > 0 {
				t.say("; %s had last read it %s", task, t.at(n))
			}
		}
		t.say(".")
		return
	}
}

func lastBefore(steps []int, before int) int {
	last := 0
	for _, n := range steps {
		if n < before {
			last = n
		}
	}
	return last
}

// blindly tells of a call that changed what others had changed, and never looked.
func (t *teller) blindly() bool {
	uses := t.counting(t.blind)
	all := t.watched(uses)
	if len(all) == 0 {
		all = uses
	}
	if len(all) == 0 {
		return false
	}
	u := all[len(all)-1]
	c := u.between[len(u.between)-1]
	t.say("%s %s (%s) %s without a look, after %s had %s %s", u.task, t.deed(u.change), t.walk.Names.Short(u.path),
		t.did(u.step), c.By, t.deed(c.Change).had(), t.at(c.Step))
	if n := t.notice(u); n != "" {
		t.say(": %s", n)
	}
	t.say(".")
	t.observed(u)
	return true
}

// observed adds what the answer that nothing explains had gone by, when that was read
// after a change.
func (t *teller) observed(u *use) {
	st := t.blamedStep()
	if st == nil {
		return
	}
	if l := t.looks[lookKey{st.Choice.Task, u.path}]; l != nil && l.how == read && l.step > u.step {
		t.say(" %s %s.", st.Choice.Task, t.told(l))
	}
}

// blamedStep is the step whose answer no order explains, or nil.
func (s *story) blamedStep() *trace.Walked {
	if n := s.cx.Blamed; n > 0 && n <= len(s.walk.Steps) {
		return &s.walk.Steps[n-1]
	}
	return nil
}
