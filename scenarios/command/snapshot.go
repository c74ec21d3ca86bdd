package command

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// Starting a program, an interpreter above all, takes a hundred times as long as a call of it. So
// while it is learned what a command does, an execution leaves a snapshot of itself behind, where
// something is learned that the record does not know: the next one that is told the same so far goes
// on from a clone of it. What was learned so is executed again before anything is concluded, from the start
// or from the snapshots of another start ([record]).

// snapshots are those of one command, in the order in which they were left.
type snapshots struct {
	of []*snapshot
	// last is what the record told the execution before, that goes on from a snapshot.
	last []fsfake.Result
}

// common is how many of some answers are those of the execution before.
func (s *snapshots) common(told []fsfake.Result) (n int) {
	for n < len(told) && n < len(s.last) && told[n] == s.last[n] {
		n++
	}
	return n
}

// A snapshot is an execution that stands before a call.
type snapshot struct {
	run  *tracer.Run
	told []fsfake.Result // all answers on the way
	d    driver          // as it was there
}

const (
	// maxSnapshots is how many a command has; the one left first stays, of others the oldest goes.
	maxSnapshots = 24
	// snapshotCalls is how many system calls an execution must have made, since its start or since
	// the snapshot that it was cloned from, to be worth one.
	snapshotCalls = 100
)

// Close stops all.
func (s *snapshots) Close() {
	for _, one := range s.of {
		one.run.Stop()
	}
	s.of = nil
}

// nearest returns the snapshot that has been told most of some answers, and nothing else; nil when
// there is none.
func (s *snapshots) nearest(told []fsfake.Result) (best *snapshot) {
	for _, one := range s.of {
		n := len(one.told)
		if n <= len(told) && slices.Equal(one.told, told[:n]) && (best == nil || n > len(best.told)) {
			best = one
		}
	}
	return best
}

func (s *snapshots) add(one *snapshot) {
	if len(s.of) == maxSnapshots {
		s.of[1].run.Stop()
		s.of = slices.Delete(s.of, 1, 2)
	}
	s.of = append(s.of, one)
}

// kept are the snapshots of the command that is learned.
func (d *driver) kept() *snapshots {
	if d.t.Learning.Kept == nil {
		d.t.Learning.Kept = &snapshots{}
	}
	return d.t.Learning.Kept.(*snapshots)
}

// execute executes the command from the nearest snapshot on, or else from its start. lone is after how many calls it
// has no child, in order: it may leave a snapshot at the last of these before it is told something else than the
// execution before, and at the last of all.
func (d *driver) execute(lone []int) error {
	if d.spec.NoSnapshots {
		return d.drive()
	}
	d.leaves = true
	kept := d.kept()
	one, branch := kept.nearest(d.told), kept.common(d.told)
	for _, end := range []int{branch, len(d.told)} {
		if n, _ := slices.BinarySearch(lone, end+1); n > 0 {
			d.leaveAt = append(d.leaveAt, lone[n-1])
		}
	}
	kept.last = slices.Clone(d.told)
	if one == nil {
		return d.drive()
	}
	run, err := one.run.Clone()
	if err != nil {
		return fmt.Errorf("a clone of a snapshot: %w", err)
	}
	d.t.Learning.Light = mostClones(len(d.spec.Commands))
	was := *d
	*d = one.d
	d.spec, d.t = was.spec, was.t
	d.children, d.notes, d.resting = maps.Clone(d.children), slices.Clone(d.notes), slices.Clone(d.resting)
	d.run, d.cloned, d.leaves = run, true, true
	d.told, d.answers, d.leaveAt = was.told[len(one.told):], slices.Clone(one.told), was.leaveAt
	return d.follow()
}

// leave leaves a snapshot behind, where that is worth it and possible, and goes on with a clone: at
// the first call that is worth it when there is none yet, and at the last call of which the record knows the answer,
// for others may be learned there.
func (d *driver) leave(set []tracer.Pending) error {
	first := d.leaves && len(d.kept().of) == 0
	if !d.leaves || len(d.told) > 1 && !first && !slices.Contains(d.leaveAt, d.calls) {
		return nil
	}
	if d.leaves = len(d.told) > 1; d.run.Calls() < cmp.Or(d.spec.worth, snapshotCalls) {
		d.leaves = d.leaves || first
		return nil
	}
	run := d.run
	next, err := run.Clone()
	switch {
	case errors.Is(err, tracer.ErrNoClone):
		return nil
	case err != nil:
		return err
	}
	d.run, d.cloned = next, true
	d.changed = d.changed || len(run.Outside()) > 0 // which a clone does not tell
	state := *d
	state.children, state.notes, state.resting = maps.Clone(d.children), slices.Clone(d.notes), slices.Clone(d.resting)
	d.kept().add(&snapshot{run: run, told: slices.Clone(d.answers), d: state})
	again, err := next.Next()
	if err == nil && !slices.Equal(set, again) {
		err = fmt.Errorf("a clone asks for %v, and not for %v: this is a fault of lockpick", again, set)
	}
	return err
}

// mostClones is how many clones of each of some commands may stand still at once. Each is a process that shares
// its memory with the others, a thread of this one and half a dozen descriptors; here they may be a quarter of what
// there may be.
func mostClones(commands int) int {
	const atAll = 512
	return min(atAll, tracer.Room()/4) / commands
}
