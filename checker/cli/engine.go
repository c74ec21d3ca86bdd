package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/scenarios"
)

// engineFlags say how the space is covered.
type engineFlags struct {
	workers              int
	maxStates, maxMemory int
	preemptions          int
	memory               string
	symmetry             bool
	timeout              time.Duration
	skipOdds, full       bool
	explainSearch        bool
}

func (a *app) addEngineFlags(c *cobra.Command) *engineFlags {
	f := &engineFlags{}
	fs := c.Flags()
	fs.IntVar(&f.workers, "workers", 0, "parallel workers (default one for each processor)")
	fs.IntVar(&f.maxStates, "max-states", 0, "end a search of the graph after `N` states (default 50 million)")
	fs.IntVar(&f.maxMemory, "max-memory", 0, "end a search of the graph at `N` MiB; the command takes some 50 more (default 8192)")
	fs.IntVar(&f.preemptions, "max-preemptions", -1, "leave out schedules with more than `N` preemptions; unknown, then, unless one breaks (default no bound)")
	fs.StringVar(&f.memory, "memory", "auto", "what a state remembers of its past: histories, monitors, or auto "+
		"(histories for small spaces, monitors for large ones)")
	fs.BoolVar(&f.symmetry, "symmetry", false, "keep one of the states that differ only in who is who, where the processes are interchangeable; by default of spaces of more than 50 000")
	fs.BoolVar(&f.full, "full", false, "cover all states of a broken property too, however many, for the odds (default up to 50 000)")
	fs.DurationVar(&f.timeout, "timeout", 0, "end each verdict's search after this time, as unknown (default never)")
	fs.BoolVar(&f.explainSearch, "explain-search", false, "say how the states were covered, and why each attempt "+
		"before the last was not enough")
	a.completeValues(c, "memory", "auto", "histories", "monitors")
	return f
}

// options reads the flags, and limits memory as they say.
func (f *engineFlags) options(a *app) (checker.Options, error) {
	o := checker.Options{
		Workers: f.workers, States: f.maxStates,
		Bytes: f.maxMemory << 20, SkipOdds: f.skipOdds, Full: f.full,
	}
	if f.maxMemory > math.MaxInt>>20 {
		return o, fmt.Errorf("--max-memory %d: choose up to %d", f.maxMemory, math.MaxInt>>20)
	}
	for _, b := range []struct {
		name string
		n    int
	}{{"workers", f.workers}, {"max-states", f.maxStates}, {"max-memory", f.maxMemory}} {
		if b.n < 0 {
			return o, fmt.Errorf("--%s %d: choose 1 or more, or 0 for the default", b.name, b.n)
		}
	}
	if f.timeout < 0 {
		return o, fmt.Errorf("--timeout %s: choose more than 0, or 0 for never", f.timeout)
	}
	if f.preemptions < -1 {
		return o, fmt.Errorf("--max-preemptions %d: choose 0 or more", f.preemptions)
	}
	if f.maxMemory > 0 {
		a.limitMemory(f.maxMemory)
	}
	if f.preemptions >= 0 {
		o.Preemptions = &f.preemptions
	}
	switch f.memory {
	case "auto":
	case "histories":
		o.Memory = checker.RememberHistories
	case "monitors":
		o.Memory = checker.RememberMonitors
	default:
		return o, fmt.Errorf("--memory %q: choose histories, monitors or auto", f.memory)
	}
	return o, nil
}

// explainSearch says how a verdict was reached, where that is asked for.
func (a *app) explainSearch(f *engineFlags, r *checker.Result) {
	if !f.explainSearch {
		return
	}
	for i, t := range r.Attempts {
		name, why := t.Name, "this decided"
		if t.Where != "" {
			name += " (" + t.Where + ")"
		}
		if t.Why != "" {
			why = "not enough: " + t.Why
		}
		a.note("%s, %s: attempt %d, %s: %s", r.Scenario.ID, r.Property, i+1, name, why)
	}
}

// idle notes the flags that do nothing with these scenarios.
func (f *engineFlags) idle(a *app, c *cobra.Command, list ...scenarios.Scenario) {
	alike := slices.ContainsFunc(list, func(sc scenarios.Scenario) bool { return sc.Setting.Interchangeable })
	a.idle(c, "symmetry", alike, "no selected scenario says that its processes are interchangeable")
}

// unfinished is the result of a search that was stopped before it had one.
func unfinished(sc *scenarios.Scenario, p *scenarios.Property, why string) checker.Result {
	r := checker.NewResult(sc, p, nil)
	r.Why = why
	return r
}

// decide makes one verdict and measures it.
func (f *engineFlags) decide(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o checker.Options) (checker.Result, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	o.Symmetry = f.symmetry && sc.Setting.Interchangeable
	start := time.Now()
	r, err := checker.Check(ctx, sc, p, o)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		r, err = unfinished(sc, p, err.Error()), nil
	}
	r.Elapsed = time.Since(start)
	return r, err
}

// Most verdicts need little memory, and Go collects garbage whenever the heap has doubled: that
// took a sixth of the time of a check of everything. So a command reserves memory that it never
// touches. It takes none of the computer's, but counts as living, so that much garbage may pile up
// before it is collected; in a large search the reserve makes no difference.

// reserved is how much memory a command reserves, in MiB: 128 take most of what there is to gain.
const reserved = 128

// reserve reserves memory. It reserves none where the environment says when to collect garbage.
func (a *app) reserve() {
	if a.env("GOGC") == "" && a.env("GOMEMLIMIT") == "" {
		a.untouched = make([]byte, reserved<<20)
	}
}

// ownMemory is what the command takes beside what --max-memory bounds, in MiB.
const ownMemory = 32

// limitMemory bounds what the process takes: so many MiB for states, and a little for everything
// else. Garbage may take what is left of them.
func (a *app) limitMemory(states int) {
	debug.SetMemoryLimit(int64(states+ownMemory)<<20 + int64(len(a.untouched)))
}
