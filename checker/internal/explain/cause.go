package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Cause explains a counterexample in a sentence or two, computed from its trace: who
// relied on what it had seen after somebody else had changed it. It looks, in this
// order, for a refusal by a lock whose owner does not hold; for a call that relies on a
// stale look; for a hold joined after its file was gone; for a call that never looked;
// for a kill that left something half done.
func Cause(sc *scenarios.Scenario, cx *trace.Counterexample) string {
	s := newStory(sc, cx.Trace)
	switch cx.Property.Question {
	case scenarios.LockedOut:
		return s.wedge(cx.Waits)
	case scenarios.Stuck:
		return s.deadlock(cx)
	case scenarios.Starves:
		first := len(cx.Trace) - cx.Cycle + 1
		return fmt.Sprintf("%s: steps %d to %d can repeat for ever.", strings.Join(trace.WaitTexts(cx.Waits), "; "), first, len(cx.Trace))
	}
	told := s.told(cx)
	switch said := s.names.Shorten(cx.Said); {
	case cx.Property.Assertions:
		return strings.TrimSpace(fmt.Sprintf("%s asserts %q at step %d, and it is not so. %s", s.last.Choice.Task, said, s.last.N, told))
	case said != "" && (told == "" || !cx.Property.OfHolders):
		return strings.TrimSpace(strings.ToUpper(said[:1]) + said[1:] + ". " + told)
	case told == "":
		return s.whatIsLeft()
	}
	return told
}

// told is what made somebody rely on what was no longer so, or empty.
func (s *story) told(cx *trace.Counterexample) string {
	if out, ok := s.last.Returned.(model.Acquired); ok && !out.OK && cx.Property.Judgement() == scenarios.ByHistory {
		if text := s.refusal(); text != "" {
			return text
		}
	}
	switch {
	case s.lost != "":
		return s.lost
	case len(s.stale) > 0:
		return s.staleText(s.decisive())
	case s.joined != nil && s.last == s.joined:
		return s.joinedText()
	case len(s.blind) > 0:
		u := s.blind[len(s.blind)-1]
		c := u.between[len(u.between)-1]
		return fmt.Sprintf("%s %s (%s) at step %d without a look, after %s had %s at step %d.",
			u.task, u.text, s.names.Short(u.path), u.step, c.task, c.had(), c.step)
	}
	if text := s.taken(); text != "" {
		return text
	}
	if len(s.kills) > 0 {
		return s.killed()
	}
	return ""
}

// decisive is the stale use that counts: the last that puts another file at a name, or
// none, when somebody else had done so before; or else the last for which that was so;
// or else the last.
func (s *story) decisive() use {
	swapped := func(u use) bool { return slices.ContainsFunc(u.between, func(c change) bool { return c.identity }) }
	for _, want := range []func(use) bool{
		func(u use) bool { return u.identity && swapped(u) },
		swapped,
	} {
		for _, u := range slices.Backward(s.stale) {
			if want(u) {
				return u
			}
		}
	}
	return s.stale[len(s.stale)-1]
}

// staleText tells a stale use: what was seen, what changed, what was done all the same.
func (s *story) staleText(u use) string {
	looked, step, all := u.look.text, u.look.step, "did not look again"
	if step > u.between[0].step { // it was read after the name had changed
		looked, all = u.look.opened, fmt.Sprintf("went by what it had opened, read at step %d,", step)
		step = u.look.since
	}
	text := fmt.Sprintf("%s %s at step %d. Then %s. %s %s and %s at step %d%s.",
		u.task, looked, step, changesText(u.between), u.task, all, u.text, u.step, u.after)
	return text + s.jump(u.step)
}

// jump mentions a jump of the clock before a step.
func (s *story) jump(before int) string {
	for _, st := range s.stalls {
		if st.N < before {
			return fmt.Sprintf(" The clock had jumped ahead at step %d.", st.N)
		}
	}
	return ""
}

// changesText tells the changes that matter: those of identity, the first and the last
// of them, or else the last of all.
func changesText(all []change) string {
	kept := slices.DeleteFunc(slices.Clone(all), func(c change) bool { return !c.identity })
	if len(kept) == 0 {
		kept = all[len(all)-1:]
	}
	if len(kept) > 2 {
		kept = []change{kept[0], kept[len(kept)-1]}
	}
	var parts []string
	for i, c := range kept {
		text := fmt.Sprintf("%s at step %d", c.text(), c.step)
		if i == 0 || kept[i-1].task != c.task {
			text = c.task.String() + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// taken explains a lock that was removed or replaced under its holder by somebody who
// knew what was there.
func (s *story) taken() string {
	for i := range s.files {
		name := s.files[i].Path
		for k, c := range slices.Backward(s.changes[name]) {
			if k == 0 || !c.identity || c.kind == trace.Created {
				continue
			}
			by := s.changes[name][k-1]
			if by.task != c.task && s.holds(by.task) {
				return fmt.Sprintf("%s %s (%s) at step %d, while %s, which had %s at step %d, went by it.%s",
					c.task, c.text(), s.names.Short(name), c.step, by.task, by.had(), by.step, s.jump(c.step))
			}
		}
	}
	return ""
}

// holds reports whether a task holds at the end.
func (s *story) holds(t sched.Task) bool {
	return slices.ContainsFunc(s.last.Holders, func(h trace.Holder) bool { return h.Task == t })
}

// deadlock tells who waits for what.
func (s *story) deadlock(cx *trace.Counterexample) string {
	var parts []string
	for _, w := range cx.Waits {
		parts = append(parts, s.waitText(w))
	}
	return strings.Join(parts, "; ") + ": nobody is left to end that."
}

// waitText is what a task waits for and who has that, when it is a flock on a watched file.
func (s *story) waitText(w trace.Wait) string {
	for _, b := range s.walk.End().Waits {
		if b.Task != w.Task || len(b.For) == 0 || b.Call.Call != fsfake.CallFlock {
			continue
		}
		for i := range s.files {
			if f := &s.files[i]; f.Exists && f.ID == b.On {
				return fmt.Sprintf("%s waits for the flock on %s, which %s has", w.Task, s.called(f), s.walk.Who(b.For[0].Pid))
			}
		}
	}
	return w.String()
}

// joinedText tells of a task that joined its process's hold when the file behind it
// was gone.
func (s *story) joinedText() string {
	text := fmt.Sprintf("%s joined at step %d the hold that its process remembers", s.last.Choice.Task, s.last.N)
	for i := range s.files {
		f := &s.files[i]
		for _, c := range slices.Backward(s.changes[f.Path]) {
			if c.identity && c.task.Process == s.last.Choice.Task.Process && c.kind == trace.Unlinked {
				return text + fmt.Sprintf(", but %s had unlinked %s at step %d.", c.task, s.names.Short(f.Path), c.step)
			}
		}
	}
	return text + ", but the lock is not its own."
}

// refusal explains a task that was told "locked" while nobody held: whose kernel lock
// stood in its way.
func (s *story) refusal() string {
	t := s.last.Choice.Task
	r, ok := s.refused[t]
	if !ok {
		return ""
	}
	for _, by := range r.by {
		who := s.walk.Who(by.Pid)
		return fmt.Sprintf("%s was refused at step %d because %s had a flock on %s; but %s was only trying it, and did not hold the lock.",
			t, r.step, who, s.called(&r.file), who)
	}
	return ""
}

// killed explains what a kill left half done.
func (s *story) killed() string {
	k := s.kills[len(s.kills)-1]
	victim := scenarios.ProcessName(k.Choice.Task.Process)
	text := fmt.Sprintf("%s was killed at step %d", victim, k.N)
	if c, name := s.lastChangeOf(k.Choice.Task.Process, k.N); c.step > 0 {
		text = fmt.Sprintf("%s %s, %s, at step %d and was killed at step %d, before it could finish",
			victim, c.text(), s.names.Short(name), c.step, k.N)
	}
	if t := s.last.Choice.Task; t.Process != k.Choice.Task.Process {
		return fmt.Sprintf("%s; %s knows nothing of that at step %d.", text, t, s.last.N)
	}
	return text + "."
}

// lastChangeOf is the last change of a watched file that a process made before a step.
func (s *story) lastChangeOf(process, before int) (best change, name string) {
	for i := range s.files {
		for _, c := range s.changes[s.files[i].Path] {
			if c.task.Process == process && c.step < before && c.step > best.step {
				best, name = c, s.files[i].Path
			}
		}
	}
	return best, name
}

// whatIsLeft is what there is to say when nothing better is known.
func (s *story) whatIsLeft() string {
	if trace.Clash(s.last.Holders) {
		return fmt.Sprintf("%s hold at once from step %d on.", strings.Join(trace.HolderTexts(s.last.Holders), " and "), s.last.N)
	}
	return fmt.Sprintf("No order of the operations explains what step %d answered.", s.last.N)
}

// wedge tells what was left behind, and how a fresh process fares.
func (s *story) wedge(waits []trace.Wait) string {
	var ends, left []string
	for _, w := range waits {
		for _, p := range []string{w.Call.Path, w.Call.Path2} {
			if c, ok := s.made[p]; ok && w.How != trace.GivesUp {
				left = append(left, s.leftBy(c))
			}
		}
		ends = append(ends, s.names.Wait(w))
	}
	end := strings.Join(ends, "; ")
	if len(left) == 0 {
		for i := range s.files {
			if c, ok := s.made[s.files[i].Path]; ok {
				left = append(left, s.leftBy(c))
			}
		}
	}
	if len(left) == 0 {
		return "What is there at the end stays for ever: " + end + "."
	}
	return strings.Join(left, ", ") + ": " + end + "."
}

func (s *story) leftBy(c change) string {
	text := c.task.String() + " " + c.text()
	i := slices.IndexFunc(s.kills, func(k trace.Walked) bool {
		return k.Choice.Action == sched.Kill && k.Choice.Task.Process == c.task.Process && k.N > c.step
	})
	if i < 0 {
		return text + " and left it"
	}
	return text + fmt.Sprintf(" and was killed at step %d, and nobody removes it", s.kills[i].N)
}
