package checker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/checker/internal/table"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Shard is one part of an exploration that is split between machines. The space is
// split by schedule prefix: all states that a fixed number of choices leads to are dealt
// out, and each shard explores what its own lead to. Shards need not know of each other;
// where what they explore overlaps, it is explored twice.
type Shard struct {
	// Index counts from 0, Of is the number of shards.
	Index, Of int
}

// A ShardResult is what one shard found out about one property. It is plain data, to be
// stored as JSON and merged by [Merge].
type ShardResult struct {
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	// Setting is the scenario's setting as text, so that only equals are merged.
	Setting string `json:"setting"`
	Shard   int    `json:"shard"`
	Of      int    `json:"of"`
	// Complete: the shard covered all of its part.
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
	// Facts are what its part showed that can be evidence for the property.
	Facts []scenarios.Fact `json:"facts"`
	// Violations are the fingerprints of the distinct violations, sorted.
	Violations []string `json:"violations"`
	// Schedule is the smallest counterexample of the shard's part, as text.
	Schedule string `json:"schedule,omitempty"`
	Stats    Stats  `json:"stats"`
}

// CheckShard explores one shard. Starvation is a question about cycles, which no part
// can answer: the first shard explores all of it, and the others nothing.
func CheckShard(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options, s Shard) (ShardResult, error) {
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of {
		return ShardResult{}, fmt.Errorf("checker: shard %d of %d: the index counts from 0 and must be below the number of shards", s.Index, s.Of)
	}
	if err := o.validate(); err != nil {
		return ShardResult{}, err
	}
	if o.Preemptions != nil || o.Engine != Graph {
		return ShardResult{}, fmt.Errorf("checker: shards need the graph engine and no bound on preemptions")
	}
	r := ShardResult{Scenario: sc.ID, Property: p.ID, Setting: sc.Setting.Format(), Shard: s.Index, Of: s.Of, Violations: []string{}}
	if p.OfCycles() {
		return r, r.starvation(ctx, sc, p, o)
	}
	x, err := search.NewExplorer(sc, p)
	if err != nil {
		return r, err
	}
	sp, err := x.Split(s.Of)
	if err != nil {
		return r, err
	}
	roots := [][]uint32{}
	mine := table.NewStates(x.Width(), 1)
	for i, row := range sp.Rows {
		if i%s.Of == s.Index {
			roots = append(roots, row)
			mine.Insert(row)
		}
	}
	c, err := x.Explore(ctx, o.limits(sc, p), roots...)
	if err != nil {
		return r, err
	}
	if err := oneCase(sc, x.Observed()); err != nil {
		return r, err
	}
	if err := x.Judgeable(); err != nil {
		return r, err
	}
	c.Violated.Add(sp.Violated)
	r.Facts = x.Facts()
	r.Complete, r.Why = c.Complete, c.Why
	r.Violations = x.Fingerprints(c.Violated)
	if len(r.Violations) > 0 {
		schedule, err := x.FindSmallest(ctx, &search.Target{Depth: sp.Depth, Limits: search.Limits{Bytes: o.Bytes}, Beside: c.States.Bytes(), Only: func(state []uint32) bool {
			_, ok := mine.Find(state)
			return ok
		}})
		var ended *search.EndedError
		if errors.As(err, &ended) {
			r.Complete, r.Why = false, cmp.Or(r.Why, ended.Why)
			schedule, err = x.PathBelow(sp, c)
		}
		if err != nil {
			return r, err
		}
		r.Schedule = schedule.String()
	}
	if r.Complete {
		found, err := x.FindTrap(ctx, c, o.limits(sc, p))
		var ended *search.EndedError
		switch {
		case errors.As(err, &ended):
			r.Complete, r.Why = false, ended.Why
		case err != nil:
			return r, err
		case found != nil:
			if r.Schedule = found.Schedule.String(); len(r.Violations) == 0 {
				r.Violations = []string{engine.Hash([]byte(r.Schedule))}
			}
		}
	}
	r.Stats.learned(x)
	r.Stats.States, r.Stats.Transitions = c.States.Len(), c.Transitions+sp.Transitions
	r.Stats.Contended, r.Stats.Depth = c.Contended+sp.Contended, c.Depth+sp.Depth
	r.Stats.Bytes, r.Stats.Violations = x.Bytes(c.States), len(r.Violations)
	return r, nil
}

// oneCase reports a scenario whose tasks look at what a shard cannot leave open.
func oneCase(sc *scenarios.Scenario, looks engine.Observed) error {
	cases := sc.Setting.Assumed().Cases(looks.Inodes, looks.Times)
	if len(cases) == 1 {
		return nil
	}
	var words []string
	for _, c := range cases {
		words = append(words, c.String())
	}
	return fmt.Errorf("checker: %s: tasks look at inode numbers or file times, and a shard is of one case: let all shards assume the same, one of %s", sc.ID, strings.Join(words, "; "))
}

func (r *ShardResult) starvation(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) error {
	r.Complete = true
	if r.Shard != 0 {
		return nil
	}
	res, err := Check(ctx, sc, p, o)
	if err != nil {
		return err
	}
	if len(res.Cases) > 0 {
		return oneCase(sc, res.looks)
	}
	r.Complete, r.Why, r.Stats, r.Facts = res.Complete, res.Why, res.Stats, res.Facts
	if res.Counterexample != nil {
		r.Schedule = res.Counterexample.Schedule.String()
		r.Violations = []string{engine.Hash([]byte(r.Schedule))}
	}
	return nil
}

// Merge joins the results of shards of one property of one scenario. The verdict, the
// number of distinct violations and the smallest counterexample are those of a run that
// was not split; counts of states are sums, in which what two shards both explored
// counts twice. A missing shard makes it Unknown; Why names a violation that the others
// found. Shards of different splits or settings are an error, and so is no shard at all.
func Merge(sc *scenarios.Scenario, p *scenarios.Property, parts []ShardResult) (Result, error) {
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Result{}, err
	}
	res := NewResult(sc, p, nil)
	res.Complete = true
	if len(parts) == 0 {
		return res, fmt.Errorf("checker: no shard of %s %s: nothing was explored", sc.ID, p)
	}
	seen := make([]bool, max(parts[0].Of, 1))
	violations := map[string]bool{}
	var best sched.Schedule
	for _, part := range parts {
		if err := part.fits(sc, p, parts[0].Of); err != nil {
			return res, err
		}
		if seen[part.Shard] {
			return res, fmt.Errorf("checker: shard %d of %d of %s %s is there twice", part.Shard, part.Of, sc.ID, p)
		}
		seen[part.Shard] = true
		if !part.Complete && res.Complete {
			res.Complete, res.Why = false, fmt.Sprintf("shard %d: %s", part.Shard, part.Why)
		}
		for _, v := range part.Violations {
			violations[v] = true
		}
		res.Stats.add(part.Stats)
		for _, f := range part.Facts {
			res.Facts = scenarios.AddFact(res.Facts, f)
		}
		if part.Schedule == "" {
			continue
		}
		s, err := sched.ParseSchedule(part.Schedule)
		if err != nil {
			return res, err
		}
		if best, err = t.Smaller(best, s); err != nil {
			return res, err
		}
	}
	res.Stats.Violations = len(violations)
	if missing := slices.Index(seen, false); missing >= 0 {
		res.Complete, res.Why = false, fmt.Sprintf("shard %d of %d is missing", missing, len(seen))
		if best != nil {
			res.Why += fmt.Sprintf("; another found a violation, not known to be the smallest: replay %s %q --property %s", sc.ID, best, p)
		}
		return res, nil
	}
	res.Verdict = conclude(best != nil, res.Complete)
	if res.Verdict == Holds {
		if err := engine.Lacking(sc, p, res.Facts); err != nil {
			return Result{}, err
		}
	}
	if best == nil {
		return res, nil
	}
	r, err := Replay(sc, p, best)
	if err != nil {
		return res, err
	}
	if !r.Broken {
		return res, fmt.Errorf("checker: the counterexample of a shard of %s does not break %s: is it of another version?", sc.ID, p)
	}
	res.Counterexample = r.Counterexample
	res.Counterexample.Smallest = res.Complete
	return res, nil
}

// fits reports a shard that cannot be merged with the others.
func (r *ShardResult) fits(sc *scenarios.Scenario, p *scenarios.Property, of int) error {
	switch {
	case r.Scenario != sc.ID || r.Property != p.ID:
		return fmt.Errorf("checker: a shard of %s %s cannot be merged into %s %s", r.Scenario, r.Property, sc.ID, p)
	case r.Of != of || r.Of < 1 || r.Shard < 0 || r.Shard >= r.Of:
		return fmt.Errorf("checker: shard %d of %d of %s does not belong to a split in %d", r.Shard, r.Of, sc.ID, of)
	}
	st, err := scenarios.ParseSetting(r.Setting, scenarios.Setting{})
	if err != nil {
		return fmt.Errorf("checker: shard %d of %s: %w", r.Shard, sc.ID, err)
	}
	if changed := st.Changed(sc.Setting); len(changed) > 0 {
		var words []string
		for _, c := range changed {
			words = append(words, c.String())
		}
		return fmt.Errorf("checker: shard %d of %s was explored in another setting: %s; explore all shards in one", r.Shard, sc.ID, strings.Join(words, ", "))
	}
	return nil
}

// add sums up the counts of two explorations.
func (s *Stats) add(t Stats) {
	s.States += t.States
	s.Transitions += t.Transitions
	s.Schedules += t.Schedules
	s.Histories = max(s.Histories, t.Histories)
	s.Coroutines += t.Coroutines
	s.Edges = max(s.Edges, t.Edges)
	s.Merging = max(s.Merging, t.Merging)
	s.Machines = max(s.Machines, t.Machines)
	s.Contended += t.Contended
	s.Bytes = max(s.Bytes, t.Bytes)
	s.Depth = max(s.Depth, t.Depth)
}
