package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
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
	switch cx.Property {
	case scenarios.Wedge:
		return s.wedge(cx.Waits)
	case scenarios.Deadlock:
		return s.deadlock(cx)
	case scenarios.Starvation:
		first := len(cx.Trace) - cx.Cycle + 1
		return fmt.Sprintf("%s: steps %d to %d can repeat for ever.", strings.Join(cx.Waits, "; "), first, len(cx.Trace))
	case scenarios.SpuriousFailure:
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
			u.task, u.text, s.names.Short(u.path), u.step, c.task, participle(c.text), c.step)
	}
	if text := s.taken(); text != "" {
		return text
	}
	if len(s.kills) > 0 {
		return s.killed()
	}
	return s.whatIsLeft()
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
		text := fmt.Sprintf("%s at step %d", c.text, c.step)
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
			if k == 0 || !c.identity || strings.HasPrefix(c.text, "created") {
				continue
			}
			by := s.changes[name][k-1]
			if by.task != c.task && slices.Contains(s.last.Holders, by.task) {
				return fmt.Sprintf("%s %s (%s) at step %d, while %s, which had %s at step %d, went by it.%s",
					c.task, c.text, s.names.Short(name), c.step, by.task, participle(by.text), by.step, s.jump(c.step))
			}
		}
	}
	return ""
}

// deadlock tells who waits for what.
func (s *story) deadlock(cx *trace.Counterexample) string {
	var parts []string
	for _, w := range cx.Waits {
		name, _, _ := strings.Cut(w, " ")
		who := sched.Task{}
		if one, err := sched.ParseSchedule(name); err == nil && len(one) > 0 {
			who = one[0].Task
		}
		parts = append(parts, s.waitText(who, w))
	}
	return strings.Join(parts, "; ") + ": nobody is left to end that."
}

// waitText is what a task waits for and who has that; general is what to say when it
// is not a flock.
func (s *story) waitText(t sched.Task, general string) string {
	on, waits := s.waiting[t]
	for i := range s.files {
		f := &s.files[i]
		if !waits || !f.Exists || f.ID != on.inode {
			continue
		}
		for _, l := range f.Flocks {
			who := scenarios.ProcessName(l.Holders[0].Pid - scenarios.FirstPid)
			return fmt.Sprintf("%s waits for the flock on %s, which %s has", t, s.called(f), who)
		}
	}
	return general
}

// participle turns "wrote to x" into what follows "had".
func participle(text string) string {
	if rest, ok := strings.CutPrefix(text, "wrote"); ok {
		return "written" + rest
	}
	return text
}

// joinedText tells of a task that joined its process's hold when the file behind it
// was gone.
func (s *story) joinedText() string {
	text := fmt.Sprintf("%s joined at step %d the hold that its process remembers", s.last.Choice.Task, s.last.N)
	for i := range s.files {
		f := &s.files[i]
		for _, c := range slices.Backward(s.changes[f.Path]) {
			if c.identity && c.task.Process == s.last.Choice.Task.Process && strings.HasPrefix(c.text, "unlinked") {
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
	for _, l := range r.file.Flocks {
		who := scenarios.ProcessName(l.Holders[0].Pid - scenarios.FirstPid)
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
			victim, c.text, s.names.Short(name), c.step, k.N)
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
	var names []string
	for _, h := range s.last.Holders {
		names = append(names, h.String())
	}
	if len(names) > 1 {
		return fmt.Sprintf("%s hold at once from step %d on.", strings.Join(names, " and "), s.last.N)
	}
	return fmt.Sprintf("No order of the operations explains what step %d answered.", s.last.N)
}

// wedge tells what was left behind, and how a fresh process fares.
func (s *story) wedge(waits []string) string {
	end := strings.ReplaceAll(strings.Join(waits, "; "), s.names.Dir()+"/", "")
	var left []string
	for _, w := range waits {
		words := strings.Fields(w)
		for _, word := range words {
			if c, ok := s.made[word]; ok {
				left = append(left, s.leftBy(c))
			}
		}
	}
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
	text := c.task.String() + " " + c.text
	i := slices.IndexFunc(s.kills, func(k trace.Step) bool {
		return k.Choice.Action == sched.Kill && k.Choice.Task.Process == c.task.Process && k.N > c.step
	})
	if i < 0 {
		return text + " and left it"
	}
	return text + fmt.Sprintf(" and was killed at step %d, and nobody removes it", s.kills[i].N)
}
