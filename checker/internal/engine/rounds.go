package engine

import (
	"slices"
	"time"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
)

// Runs of schedules would never end where tasks poll in vain. So a task is idle when it comes
// back to the top of a retry loop and everything is as it was when it was there before: one
// more round would see the same and come back again. A run ends when all that can move are
// idle, and the reference engine tries no step of a task that is idle.

// A round is one of a retry loop, with how things stood at its top.
type round struct {
	loop int
	top  situation
	// vain counts the rounds before it that came back to the same situation; chosen is how much was
	// chosen until it began, and most how much in one of those.
	vain, chosen, most int
	// kept: a sleeper is kept from going on.
	kept bool
}

// inVain reports whether a round of a that came back to where it began was the last that is needed to
// say that no other comes through. A task that chooses may choose otherwise in the next, a
// sleeper may go on while the task sleeps, and what another has slept shows on the clock until it
// begins a round of its own. Where every choice is tried anyway, one round is enough;
// where they are drawn, each was drawn with all but certainty: each of n with a probability
// of 1 - e^-40.
func (w *World) inVain(a *actor, r *round) bool {
	needs := 0
	if r.most > 0 {
		needs = 40 << min(r.most, 8)
	}
	if r.kept || w.othersSleep(a) {
		needs = max(needs, 40*len(w.actors))
	}
	return w.Enumerates || r.vain >= needs
}

// keepsSleepers reports whether somebody sleeps who cannot go on now: the clock may not move while
// somebody punctual is awake.
func (w *World) keepsSleepers() bool {
	if w.Enumerates || !w.M.SleepsLast() {
		return false
	}
	for _, a := range w.actors {
		if a.blocked && a.op.Call == fsfake.CallSleep && !w.finished(a) && !w.enabled(a) {
			return true
		}
	}
	return false
}

// othersSleep reports whether somebody else has slept, and may again, where that shows.
func (w *World) othersSleep(a *actor) bool {
	return w.M.SleepsLast() && slices.ContainsFunc(w.actors, func(b *actor) bool {
		return b != a && b.sleeps && !w.finished(b)
	})
}

// A situation is everything that what a task does next, and what is said of it, can depend on
// beside its place: the machine as others can see it, the clock, the operations of others, and
// how far the descriptors of the process have been read.
type situation struct {
	version uint64
	stalls  int
	fails   int
	signals int
	changes int
	clock   time.Time
	fds     []fsfake.FDView
}

// stands reports whether nothing that others can do has happened since.
func (w *World) stands(s *situation) bool {
	return s.version == w.M.Version() && s.stalls == w.stalls && s.fails == w.fails && s.signals == w.signals && s.changes == w.changes && s.clock.Equal(w.M.Now())
}

// again reports whether the top of a round, now, is as that of another was.
func (w *World) again(before, now *situation) bool {
	if !w.stands(before) {
		return false
	}
	for _, f := range before.fds {
		for _, g := range now.fds { // what was opened or closed meanwhile, no round can carry over
			if f.FD == g.FD && f.Offset != g.Offset {
				return false
			}
		}
	}
	return true
}

// opTops has the machine know of the tops of rounds that a task came to, where sleeps last.
type opTops struct {
	again int
	begun [learn.MaxBegun]int
}

// topsOf returns the tops in what a task did between two calls.
func topsOf(e *learn.Effects) opTops { return opTops{e.Again, e.Begun} }

func (o opTops) tell(m *fsfake.Machine, t fsfake.Task) {
	if o.again != 0 {
		m.Round(t, o.again, false)
	}
	for _, loop := range o.begun {
		if loop != 0 {
			m.Round(t, loop, true)
		}
	}
}

// turnRound keeps count of the rounds.
func (w *World) turnRound(a *actor, e *learn.Effects) {
	var now situation
	if tops := topsOf(e); tops != (opTops{}) {
		tops.tell(w.M, a.id)
		now = situation{w.M.Version(), w.stalls, w.fails, w.signals, w.changes, w.M.Now(), w.M.FDs(a.id.Pid)}
	}
	if e.Again != 0 {
		i := len(a.rounds) - 1
		for i > 0 && a.rounds[i].loop != e.Again {
			i--
		}
		if i < 0 || a.rounds[i].loop != e.Again {
			// Learned code gives a loop begun again the number that it had at first.
			i = len(a.rounds) - 1
		}
		if i >= 0 {
			next := round{loop: e.Again, top: now, chosen: a.chosen}
			if last := &a.rounds[i]; w.again(&last.top, &now) {
				next.vain, next.most, next.kept = 1, max(last.most, a.chosen-last.chosen), w.keepsSleepers()
				if next.kept == last.kept {
					next.vain += last.vain
				}
				a.idle, a.keeps = w.inVain(a, &next), next.kept
			}
			a.rounds = append(a.rounds[:i], next)
		}
		a.top = now
	}
	for _, loop := range e.Begun {
		if loop != 0 {
			a.rounds = append(a.rounds, round{loop: loop, top: now, chosen: a.chosen})
		}
	}
}

// tells reports whether an answer leaves everything as it was: a look, or a refusal. A task
// that polls with such operations may still be idle. Of another operation this is not known.
func tells(input, output any) bool {
	switch input.(type) {
	case model.Contains, model.Read, model.WhoHolds, model.IsHeld, model.Get, model.ReadCursor:
		return true
	}
	return output == model.Acquired{}
}
