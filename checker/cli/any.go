package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// anyNumber is the value of --procs that stands for every number of processes.
const anyNumber = "any"

// takeAny takes --procs any out of the flags, and reports whether it was there.
func (f *settingFlags) takeAny() bool {
	for _, flag := range f.given {
		if flag.field.Flag == "procs" && flag.text == anyNumber {
			flag.set, flag.text = false, ""
			return true
		}
	}
	return false
}

// copiesFlag is how many copies of a command run; anyCopies is any number.
type copiesFlag int

const anyCopies copiesFlag = -1

// String, Set and Type make it a pflag.Value.
func (c *copiesFlag) String() string { return strconv.Itoa(int(*c)) }
func (c *copiesFlag) Type() string   { return "int" }
func (c *copiesFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case text == anyNumber:
		*c = anyCopies
		return nil
	case err != nil || n < 0:
		return errors.New("choose a number, or any")
	}
	*c = copiesFlag(n)
	return nil
}

// checkAny asks the questions of any number of processes, and prints a line for each.
func (a *app) checkAny(ctx context.Context, questions []question, f *checkFlags, o checker.Options) error {
	if f.results.instead() || f.kernel.real {
		return fmt.Errorf("--procs any prints lines of text: leave out the flags for other formats and for the kernel")
	}
	if f.certificate != "" {
		if err := oneProof(questions, f.certificate); err != nil {
			return err
		}
	}
	counts := map[string]int{}
	for _, q := range questions {
		ans, err := parameterized.Check(ctx, q.sc, q.property, o)
		if err != nil {
			return err
		}
		if f.certificate != "" {
			if err := a.writeCertificate(&ans, f.certificate); err != nil {
				return err
			}
		}
		verdict, why := anyVerdict(&ans)
		counts[verdict]++
		if _, err := fmt.Fprintf(a.stdout, "%s %s: %s%s\n", q.sc.ID, q.property.ID, verdict, why); err != nil {
			return err
		}
		claim, claimed := q.sc.Claim(q.property)
		switch {
		case ans.Broken != nil && claimed && claim != scenarios.Broken:
			a.worsen(ExitDiffers)
		case ans.Asked && ans.Broken == nil && !ans.Proved:
			a.worsen(ExitUnknown)
		}
	}
	if f.certificate != "" && counts[provedForAny] == 0 {
		a.note("--certificate: nothing is proved, so %s is not written", f.certificate)
	}
	_, err := fmt.Fprintf(a.stdout, "\n%d proved for any number · %d broken · %d not proved · %d not asked\n",
		counts[provedForAny], counts[brokenWithFew], counts[notProved], counts[notAsked])
	return err
}

// The verdicts on any number of processes.
const (
	provedForAny  = "holds for any number of processes"
	brokenWithFew = "broken"
	notProved     = "not proved for any number of processes"
	notAsked      = "not asked"
)

// anyVerdict says what an answer comes to, and why.
func anyVerdict(a *parameterized.Answer) (verdict, why string) {
	switch {
	case !a.Asked:
		return notAsked, ": " + a.Why
	case a.Proved:
		return provedForAny, fmt.Sprintf("%s (%d views of %d, %d configurations)",
			strings.TrimPrefix("holds for "+a.Numbers(), provedForAny), a.Views, a.K, a.Configurations)
	case a.Broken != nil:
		return brokenWithFew, fmt.Sprintf(" with %d processes", a.Broken.Scenario.Setting.Processes)
	}
	if why = ": " + a.Why; a.UpTo > 0 {
		why = fmt.Sprintf(", holds for up to %d%s", a.UpTo, why)
	}
	if a.Call != "" {
		why += ", at " + a.Call + at(a.Source)
	}
	return notProved, why
}

// at names a place in the source: ", lock.go:33 in pidlock.Acquire".
func at(s scenarios.Source) string {
	if s.Line == 0 {
		return ""
	}
	return fmt.Sprintf(", %s:%d in %s", filepath.Base(s.File), s.Line, s.Func)
}

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
	if why := spec.Unseen(err); why != "" {
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
	a.tellAny(spec, "HOLDS", append([]string{"  Any number of copies leave behind what they leave behind one after " +
		"the other, and all end."}, because...))
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
	if !p.Closed && p.Few == 0 {
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
