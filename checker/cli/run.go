package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// runFlags are the flags of run.
type runFlags struct {
	set      map[string]*[]string // by name of what command.Spec.Set takes
	copies   int
	from     string
	property string
	width    int
	timeout  time.Duration
	odds     bool
	states   int
	pictures *pictureFlags
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{set: map[string]*[]string{}}
	c := &cobra.Command{
		Use:   "run COMMAND... | run FILE.txtar | run -n N -- COMMAND ARG...",
		Short: "Run real programs side by side, in every interleaving",
		Long: `Run real programs, unmodified and in any language, side by side in every interleaving of
their calls on the files of one directory, and say whether what they leave behind is what
they leave behind one after the other.

Each argument is a shell command and one process; with -n, what follows -- is one command
and its arguments, for N processes. The files of the directory are copied; nothing in it
is changed. Everything outside the directory is real, and happens at each execution.`,
		RunE: func(c *cobra.Command, args []string) error { return a.runPrograms(c.Context(), args, f) },
	}
	fs := c.Flags()
	fs.IntVarP(&f.copies, "copies", "n", 0, "run `N` processes of one command, which follows --")
	fs.StringVar(&f.from, "from", "", "copy the files at the start from `DIR` (default what --dir names, or the current directory)")
	for _, o := range []struct{ name, usage string }{
		{"dir", "the directory whose files the programs share, as `DIR` (default the current one)"},
		{"inside", "a `NAME` in the directory that the programs make where their critical section begins, and remove where it ends"},
		{"refused", "exit statuses by which a program may refuse to do anything, such as `1,75`, or none"},
		{"ignore", "leave names that match `PATTERN` out of what is compared"},
		{"stdout", "`off` leaves what is printed out of what is compared"},
		{"crashes", "let up to `K` processes be killed; with --inside"},
		{"env", "add `NAME=VALUE` to the programs' environment"},
	} {
		f.set[o.name] = fs.StringArray(o.name, nil, o.usage)
	}
	fs.StringVar(&f.property, "property", "", "decide only property `P`: serializable, mutual-exclusion (with --inside), or deadlock")
	fs.IntVar(&f.width, "width", 0, "draw `N` columns wide (default the terminal's width, up to 120, or 100)")
	fs.DurationVar(&f.timeout, "timeout", 0, "end each verdict's search after this time, as unknown (default never)")
	fs.IntVar(&f.states, "max-states", 0, "end a search after `N` states (default 50 million)")
	fs.BoolVar(&f.odds, "odds", false, "compute the exact odds of a violation too")
	f.pictures = addPictureFlags(c)
	return c
}

// runPrograms decides what is asked of some commands.
func (a *app) runPrograms(ctx context.Context, args []string, f *runFlags) error {
	spec, err := f.read(args)
	if err != nil {
		return err
	}
	start := time.Now()
	sc, err := spec.Scenario()
	if err != nil {
		return err
	}
	asked, err := f.asked(&sc)
	if err != nil {
		return err
	}
	for i, p := range asked {
		if i > 0 {
			_, _ = fmt.Fprintln(a.stdout)
		}
		r, err := a.decideRun(ctx, &spec, &sc, p, f)
		if err != nil {
			return err
		}
		carryOut(ctx, &spec, &r)
		a.worsen(exitOf(&r))
		r.Claimed = false // nobody claims anything of a command
		if err := f.pictures.show(a.stdout, &r, report.Options{Style: a.style(a.stdout, f.width)}); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.stdout, "\n  %d executions of the commands learned %d answers · %d states · %.1f s\n",
			r.Stats.Coroutines, r.Stats.Edges, r.Stats.States, time.Since(start).Seconds())
	}
	return nil
}

// asked lists the properties that are decided.
func (f *runFlags) asked(sc *scenarios.Scenario) ([]*scenarios.Property, error) {
	var all []*scenarios.Property
	for _, c := range sc.Claims {
		all = append(all, c.Property)
	}
	if f.property == "" {
		return all, nil
	}
	for _, p := range all {
		if p.ID == f.property {
			return []*scenarios.Property{p}, nil
		}
	}
	return nil, fmt.Errorf("--property %q: choose serializable, deadlock, or with --inside mutual-exclusion", f.property)
}

// decideRun makes one verdict. Where it was not said which exit statuses are refusals, a
// run that is serializable only if every failure is one is neither broken nor whole.
func (a *app) decideRun(ctx context.Context, spec *command.Spec, sc *scenarios.Scenario, p *scenarios.Property, f *runFlags) (checker.Result, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	bar.begin(sc.ID, p.ID)
	o := checker.Options{Workers: 1, States: f.states, SkipOdds: !f.odds, Full: f.odds, Progress: bar.follow}
	r, err := checker.Check(ctx, sc, p, o)
	refusals := p.Invariant != nil // the property of what is left behind counts them
	if err != nil || r.Verdict != checker.Holds || !refusals || spec.Refused.Declared {
		return r, err
	}
	strict := *spec
	strict.Refused.Declared = true
	all, err := strict.Scenario()
	if err != nil {
		return r, err
	}
	full, err := checker.Check(ctx, &all, all.Claims[0].Property, o)
	if err != nil || full.Verdict == checker.Holds {
		return r, err
	}
	r.Verdict, r.Complete = checker.Unknown, false
	r.Why = "it depends: it holds if a program that fails may be taken for one that has not run, and is broken if not"
	if cx := full.Counterexample; cx != nil {
		r.Counterexample = cx
	}
	r.Why += "; say which with --refused none or --refused STATUS"
	return r, nil
}

// read makes the spec of the arguments and flags.
func (f *runFlags) read(args []string) (command.Spec, error) {
	spec := command.Spec{}
	var err error
	archive := len(args) == 1 && f.copies == 0 && strings.HasSuffix(args[0], ".txtar")
	switch {
	case len(args) == 0:
		return spec, errors.New("run takes commands, one argument for each process, or -n N -- COMMAND ARG...: see \"lockpick help run\"")
	case f.copies < 0 || f.copies > scenarios.MaxProcesses:
		return spec, fmt.Errorf("-n %d: choose 1 to %d", f.copies, scenarios.MaxProcesses)
	case archive:
		text, err := os.ReadFile(args[0])
		if err != nil {
			return spec, err
		}
		if spec, err = command.Parse(text); err != nil {
			return spec, fmt.Errorf("%s: %w", args[0], err)
		}
	case f.copies > 0:
		spec.Commands = slices.Repeat([]command.Line{{Argv: args}}, f.copies)
	default:
		for _, text := range args {
			spec.Commands = append(spec.Commands, command.Line{Shell: text})
		}
	}
	for _, name := range []string{"dir", "inside", "refused", "ignore", "stdout", "crashes", "env"} {
		for _, value := range *f.set[name] {
			if err = spec.Set(name, value); err != nil {
				return spec, fmt.Errorf("--%s: %w", name, err)
			}
		}
	}
	return spec, f.files(&spec, archive)
}

// files copies the directory into the spec. An archive brings its files along.
func (f *runFlags) files(spec *command.Spec, archive bool) error {
	if archive && f.from == "" {
		return nil
	}
	from := f.from
	if spec.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		spec.Dir = dir
	}
	if from == "" {
		from = spec.Dir
	}
	spec.Dir = filepath.Clean(spec.Dir)
	if _, err := os.Stat(from); err != nil && f.from == "" && errors.Is(err, os.ErrNotExist) {
		return nil // an empty directory that is only there for the programs
	}
	files, err := command.Copy(from, time.Now())
	spec.Files = append(spec.Files, files...)
	return err
}
