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

// takeAny says what -n any does not go with.
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

// proveAny looks for a proof for any number of copies, which says all that verdicts on a few copies do. What it proves
// is challenged, as long as --native says, by two copies on the model and natively. whyNot is empty where it is shown.
func (a *app) proveAny(ctx context.Context, spec *command.Spec, args []string, f *runFlags) (whyNot string, err error) {
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	bar.begin("run", "looking for a proof for any number of copies")
	sc, strict, err := spec.Readings()
	if why := command.Unseen(err); why != "" {
		return why, nil
	}
	if err != nil {
		return "", err
	}
	p, err := strict.Property(scenarios.Serializable.ID)
	if err != nil {
		return "a copy that runs alone does not end", nil
	}
	proof, whyNot, err := parameterized.Commands(ctx, &strict)
	if err != nil || proof == nil {
		return whyNot, err
	}
	r := checker.NewResult(&sc, p, nil)
	r.Verdict, r.Complete = checker.Holds, true
	if f.budget > 0 {
		within, cancel := context.WithTimeout(ctx, f.budget)
		defer cancel()
		few, err := checker.Check(within, &strict, p,
			checker.Options{Workers: 1, SkipOdds: true})
		if err == nil && few.Verdict == checker.Broken {
			return "two copies break it", nil
		}
		n := f.challenge(spec, args)
		defer n.close()
		n.early(ctx, &sc)
		bar.clear()
		if a.witness(ctx, spec, n, &r)(); r.Verdict != checker.Holds {
			return r.Why, nil
		}
	}
	bar.clear()
	o := f.reportOptions(a, spec, args)
	because := o.Tell("because", "a copy changes no file.")
	if proof.Path != "" {
		because = o.Tell("lock", fmt.Sprintf("%s, from %q to %q. Before and after, a copy changes nothing, and does "+
			"the same whatever other copies do.", relative(proof.Path, spec.Dir), proof.Take, proof.Leave))
	}
	a.tellAny(spec, "HOLDS", append([]string{"  Any number of copies leave behind what they leave behind one after the " +
		"other, and all end."}, because...))
	if r.Native != "" {
		a.say(o.Style, "native", r.Native+".")
	}
	assumes := slices.Concat(anyAssumes(proof), scenarios.Texts(sc.Assumes), scenarios.Texts(sc.Assumed()))
	a.say(o.Style, "assumed", strings.Join(assumes, "; ")+".")
	return "", nil
}

// tellAny tells of any number of copies.
func (a *app) tellAny(spec *command.Spec, verdict string, lines []string) {
	_, _ = fmt.Fprintf(a.stdout, "run/commands/any  %s  serializable, deadlock\n%s × any number\n\n%s\n", verdict,
		spec.Commands[0], strings.Join(lines, "\n"))
}

// anyAssumes is what a proof for any number of copies assumes beside what verdicts on two assume.
func anyAssumes(p *parameterized.Discipline) (all []string) {
	if !p.Closed {
		all = append(all, fmt.Sprintf("each copy leaves something new, so %d were run one after the other: later ones "+
			"keep to the lock as these do", p.Ran))
	}
	if p.Polls {
		all = append(all, "a copy that polls for the lock goes on as it has in 100 rounds")
	}
	if p.Timers {
		all = append(all, "no call takes as long as a timer that runs meanwhile")
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
