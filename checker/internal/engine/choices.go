package engine

import (
	"math/bits"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// What can happen next, live and on numbers.

// enabled reports whether a task can take a step.
func (w *World) enabled(a *actor) bool {
	if w.finished(a) {
		return false
	}
	if ways := a.op.Ways(); ways > 1 && bits.OnesCount64(w.M.Shut(a.who(), a.op)) == ways {
		return false
	}
	return !w.interrupted(a) && (!a.blocked || w.M.Ready(a.who(), a.op)) && !w.M.Robs(a.who(), w.waits)
}

// Look brings the view up to date. It reports whether anybody can progress: when nobody
// can move, or all that can move poll in vain, nothing new will happen any more.
func (w *World) Look() (progress bool) {
	v := &w.View
	v.Step, v.Last = w.Steps, w.last
	kept := w.keepsSleepers()
	for i, a := range w.actors {
		on, shut := w.enabled(a), uint64(0)
		if on && a.op.Ways() > 1 {
			shut = w.M.Shut(a.who(), a.op)
		}
		idle := a.idle && w.stands(&a.top) && w.delayed(a) && (a.keeps || !kept)
		v.Tasks[i] = sched.TaskView{
			Task: a.task, Enabled: on, Ways: a.op.Ways(), Shut: shut, Fails: w.failing(a, v.Tasks[i].Fails[:0]),
			Asleep: a.asleep, Idle: idle,
		}
		progress = progress || on && !idle || len(v.Tasks[i].Fails) > 0
	}
	v.Kills = v.Kills[:0]
	if w.crashes > 0 {
		for i := range w.sc.Setting.Processes {
			if w.sc.Setting.CanDie(i) && w.killable(i) {
				v.Kills = append(v.Kills, i)
			}
		}
	}
	_, v.Stall = w.piece()
	v.Losses, v.Failing = w.lossStates(), w.fails
	v.Signals = v.Signals[:0]
	for _, i := range w.sc.Setting.Handlers {
		if w.signals > 0 && w.signalable(i) {
			v.Signals = append(v.Signals, i)
		}
	}
	slices.Sort(v.Signals)
	if len(v.Kills) > 0 || v.Stall || v.Losses > 0 || len(v.Signals) > 0 {
		return true
	}
	return progress
}

// Apply carries out one choice, which must be possible. It returns the calls made; the
// slice is only valid until the next apply.
func (w *World) Apply(c sched.Choice, calls []trace.Call) []trace.Call {
	switch c.Action {
	case sched.Stall:
		w.stall()
	case sched.Kill:
		w.crashes--
		w.kill(c.Task.Process)
	case sched.PowerLoss:
		w.losePower(c.State)
	case sched.Signal:
		w.signal(c.Task.Process)
	default:
		for _, a := range w.actors {
			if a.task == c.Task {
				calls = w.step(a, c.Which, c.Fails, calls)
				break
			}
		}
	}
	w.Steps++
	return calls
}

// Expand computes every successor of s, in the order of sched.View.Options.
func (w *Expander) Expand(s []uint32) error {
	w.Out, w.words, w.unfinished = w.Out[:0], w.words[:0], false
	set, b := &w.X.Sc.Setting, unpackBudgets(s[len(s)-1])
	for i := range w.X.Slots {
		if err := w.steps(s, i, everyWay, b.failing > 0); err != nil {
			return err
		}
	}
	if b.crashes > 0 {
		for p := range set.Processes {
			if set.CanDie(p) && w.killable(s, p) {
				if err := w.laterIf(w.kill(s, p, b)); err != nil {
					return err
				}
			}
		}
	}
	if w.unfinished {
		if err := w.stall(s, b); err != nil {
			return err
		}
	}
	if b.losses > 0 {
		if err := w.losePower(s, b); err != nil {
			return err
		}
	}
	for p := range set.Processes {
		if b.signals > 0 && w.signalable(s, p) {
			if err := w.signal(s, p, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// everyWay: a step is followed in every way that it can go.
const everyWay = -1

// steps computes one way in which a task's next step can go, or every way, and the errors with which it can fail.
func (w *Expander) steps(s []uint32, slot, way int, failing bool) error {
	finished, exits := w.status(s, slot)
	if finished {
		return nil
	}
	w.unfinished = true
	if w.robs(s, slot) || w.interrupted(s, slot) {
		return nil
	}
	for which := range w.ways(s, slot, exits) {
		if way != everyWay && which != way {
			continue
		}
		if err := w.laterIf(w.step(s, slot, exits, which, nil)); err != nil {
			return err
		}
	}
	if failing && !exits {
		for k := range w.node(slot, s[wordNodes+slot]&^learn.Begun).failing {
			if err := w.laterIf(w.failing(s, slot, k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ExpandTask computes the successors of s by steps of one task, without faults; with local by one that is local, if it
// is one of several. With known it learns nothing, and reports whether everything was known already; otherwise it
// learns what is missing.
func (w *Expander) ExpandTask(s []uint32, slot int, local, known bool) (all bool, err error) {
	way := everyWay
	if finished, exits := w.status(s, slot); local && !finished && w.ways(s, slot, exits) > 1 {
		way = w.local(s, slot, true)
	}
	w.Out, w.words, w.unfinished = w.Out[:0], w.words[:0], false
	w.postpones = known
	err = w.steps(s, slot, way, false)
	w.postpones = false
	all = len(w.wanted) == 0
	w.wanted = w.wanted[:0]
	return all, err
}

// Finished reports whether a task takes no step in s any more, whatever others do.
func (w *Expander) Finished(s []uint32, slot int) bool {
	finished, _ := w.status(s, slot)
	return finished
}
