package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// takeAny says what -n any does not go with. Two copies are decided first, and three where the space is small.
func (f *runFlags) takeAny(spec *command.Spec) error {
	switch c := spec.Commands; {
	case len(c) != 1 || c[0].Func != nil:
		return errors.New("-n any: give one command, of which any number of copies run")
	case !faultless(spec) || spec.Inside != "" || spec.Left || spec.Skew != nil || f.survey != "" || f.property != "" ||
		f.repair:
		return errors.New("-n any is asked of commands that are not killed: leave out the flags for faults, clocks, " +
			"properties, surveys and repairs")
	case f.draw.instead():
		return errors.New("-n any prints text: leave out the flags for other formats")
	}
	spec.Commands = append(spec.Commands, spec.Commands[0])
	return nil
}

// decideAny says whether what holds of a few copies holds of any number of them.
func (a *app) decideAny(ctx context.Context, d *decided, results []checker.Result, f *runFlags, args []string) error {
	why := ""
	var proof *parameterized.Discipline
	for i := range results {
		switch r := &results[i]; {
		case r.Verdict != checker.Holds:
			why = fmt.Sprintf("with %d copies %s is unknown", r.Scenario.Setting.Processes, r.Property)
		case r.Scenario.Setting.Assume.Sleeps == scenarios.SleepsLast:
			why = "what the command does depends on how much time passes"
		case r.Question != nil:
			why = "the verdict depends on what an exit status means: see above"
		}
	}
	if why == "" {
		var err error
		if proof, why, err = parameterized.Commands(ctx, d.sc); err != nil {
			return err
		}
	}
	o := f.reportOptions(a, d.spec, args)
	lines := []string{"", "run/commands/any  HOLDS  serializable, deadlock", d.spec.Commands[0].String() +
		" × any number", "",
		"  Any number of copies leave behind what they leave behind one after the other, and all end."}
	if proof == nil {
		a.worsen(ExitUnknown)
		lines[1] = "run/commands/any  UNKNOWN  serializable, deadlock"
		lines = append(lines[:4], o.Tell("why", "It is not proved for any number of copies: "+why+".")...)
	} else if proof.Path == "" {
		lines = append(lines, o.Tell("because", "a copy changes no file.")...)
	} else {
		lines = append(lines, o.Tell("lock", fmt.Sprintf("%s, from %q to %q. Before and after, a copy changes nothing, "+
			"and does the same whatever other copies do.", relative(proof.Path, d.spec.Dir), proof.Take, proof.Leave))...)
		d.assumes = append(anyAssumes(proof), d.assumes...)
	}
	_, err := fmt.Fprintln(a.stdout, strings.Join(lines, "\n"))
	return err
}

// anyAssumes is what a proof for any number of copies assumes beside what verdicts on two assume.
func anyAssumes(p *parameterized.Discipline) (all []string) {
	if !p.Closed {
		all = append(all, fmt.Sprintf("each copy leaves something new, so %d were run one after the other: later ones "+
			"keep to the lock as these do", p.Ran))
	}
	if p.Polls {
		all = append(all, "a copy that polls for the lock goes on as it has begun")
	}
	return append(all, "the file times and inode numbers that a copy is shown make no difference")
}

// relative is a path as the user of a directory writes it.
func relative(path, dir string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// What holds with two runs of a command may be broken with three: flock on a file that sed -i replaces, say. So where
// two hold and the space is small, three are asked as well. Counts decide what is small, and not the time, so that the
// answer does not depend on how fast the machine is. -n 2 says two and means it.
const (
	smallExecutions = 100
	smallStates     = 4_000
	threeStates     = 400_000
)

// twice makes two runs of a command that stands alone, for alone it shows no race. Where faults are asked about, one
// command is a question of its own.
func (f *runFlags) twice(spec *command.Spec) {
	if len(spec.Commands) == 1 && f.copies == 0 && f.survey == "" && !spec.Left && faultless(spec) {
		spec.Commands = append(spec.Commands, spec.Commands[0])
	}
}

func faultless(spec *command.Spec) bool {
	return spec.Crashes+spec.PowerLosses+spec.FailingCalls+spec.Stalls == 0
}

// asksThree reports whether a third run of a command is to be asked, which a space that is not small stops with a note.
func (a *app) asksThree(d *decided, f *runFlags) bool {
	c := d.spec.Commands
	if f.copies != 0 || len(c) != 2 || c[0].Func != nil || c[0].String() != c[1].String() ||
		c[0].Stdin != c[1].Stdin || !faultless(d.spec) ||
		slices.ContainsFunc(d.results, func(r checker.Result) bool { return r.Verdict != checker.Holds }) {
		return false
	}
	large := slices.ContainsFunc(d.results, func(r checker.Result) bool {
		return r.Stats.Coroutines > smallExecutions || r.Stats.States > smallStates
	})
	if large {
		a.note("two processes hold; three were not asked, for two took more than %d runs or %d states: ask with -n 3",
			smallExecutions, smallStates)
	}
	return !large
}
