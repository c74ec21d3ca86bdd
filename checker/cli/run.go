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
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// runFlags are the flags of run.
type runFlags struct {
	set      map[string]*[]string // by name of what command.Spec.Set takes
	names    []string             // of set, in the order in which they are set
	copies   copiesFlag
	any      bool // copies is any number
	from     string
	began    time.Time // when the files were copied
	survey   string
	property string
	kind     string
	first    scenarios.Kind // of kind
	timeout  time.Duration
	skipOdds bool
	states   int
	repair   bool
	strict   bool
	accept   []string
	argv     bool // the arguments are one command
	native   string
	budget   time.Duration // of native
	natively string        // the line native that was printed last
	draw     *drawFlags
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{set: map[string]*[]string{}}
	c := &cobra.Command{
		Use:   "run COMMAND... | run FILE.txtar | run [-n N] -- COMMAND ARG...",
		Short: "Run real programs side by side, in every interleaving",
		Long: `Run real programs, unmodified and in any language, side by side in every interleaving of
their calls on the files of one directory, and say whether what they leave behind is what
they leave behind one after the other.

Each argument is a shell command and one process; what follows -- is one command and its
arguments, for N processes with -n. One command alone is run twice; and where two runs of a
command hold, three are asked as well, unless -n says how many. The files of the directory are copied; nothing in it
is changed. What the commands change elsewhere, a lock in /var/lock or a file in HOME, they share as
well: it is found out when they run, copied, and not changed for real either. /tmp is a private one.
What they only read elsewhere is real.

The environment is yours, with what --env adds, and without what differs from run to run or leads to what does:
` + command.LeftOut(96) + `.
The time zone is UTC where you have none. LANG=C.UTF-8 is LC_CTYPE=C.UTF-8 there, which says the same.

With --survey there is one command, and the situations are made in which locks break: two and
three runs of it, what one leaves behind that is killed at any call, a crash, a pid that is
another's today, a loss of power, a full disk, each file system. A line for each hazard says that
it holds, or is broken and how, or why it was not asked.`,
		RunE: func(c *cobra.Command, args []string) error {
			// What follows -- is a command and its arguments, unless its first word is a command by itself.
			f.argv = c.ArgsLenAtDash() == 0 && len(args) > 0 && !strings.Contains(args[0], " ")
			return a.runPrograms(c.Context(), args, f)
		},
	}
	f.draw = addDrawFlags(c)
	fs := c.Flags()
	fs.VarP(&f.copies, "copies", "n", "run `N` processes of a line, or of what follows --; any: of every number")
	fs.StringVar(&f.survey, "survey", "", "try one command under every hazard, or only under hazard `H`; "+
		"or decide one situation of the survey alone, by its name")
	fs.Lookup("survey").NoOptDefVal = surveyAll
	fs.StringVar(&f.from, "from", "", "copy the files at the start from `DIR` "+
		"(default what --dir names, or the current directory)")
	for _, o := range new(command.Spec).Options() {
		if o.Usage != "" {
			f.names = append(f.names, o.Name)
			f.set[o.Name] = fs.StringArray(o.Name, nil, o.Usage)
		}
	}
	fs.StringVar(&f.property, "property", "", "decide only property `P`: serializable, deadlock, "+
		"mutual-exclusion (with --inside), atomic or wedge (with --crashes, --failing-calls or --power-losses), "+
		"or durable (with --power-losses)")
	fs.StringVar(&f.kind, "kind", "", "show a counterexample of kind `K` rather than the worst: "+scenarios.KindsText())
	fs.DurationVar(&f.timeout, "timeout", 0, "end after this time; what is not decided then is unknown "+
		"(default never, but a minute after a counterexample without --kind, also for what else is asked; "+
		"in a survey for each verdict)")
	fs.IntVar(&f.states, "max-states", 0, "end a search after `N` states (default 50 million)")
	fs.BoolVar(&f.skipOdds, "skip-odds", false, "leave out the exact odds of each violation, which take a second pass")
	fs.StringVar(&f.draw.save, "save", "", "write the first counterexample to `FILE`, with the commands and "+
		"their files; replay reads it")
	fs.BoolVar(&f.strict, "strict", false, strictUsage)
	addAcceptFlag(c, &f.accept)
	fs.BoolVar(&f.repair, "repair", false, "try changes to what is broken, and print those that hold, to paste")
	fs.StringVar(&f.native, "native", "", "run the commands natively for up to `TIME`, to challenge what holds and to "+
		"confirm what is broken; off runs nothing (default 5s, or $"+nativeBudget+")")
	return c
}

// runPrograms decides what is asked of some commands.
func (a *app) runPrograms(ctx context.Context, args []string, f *runFlags) error {
	spec, err := f.read(args)
	if err != nil {
		return err
	}
	if err := errors.Join(acceptable(f.accept), f.draw.validate()); err != nil {
		return err
	}
	if f.timeout > 0 && f.survey == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	defer a.within(ctx)()
	if f.survey != "" {
		var studies []command.Study
		err := extending(&spec, f.began, func() (err error) {
			studies, err = spec.Survey()
			return err
		})
		if err != nil {
			return err
		}
		one, err := situation(studies, f.survey)
		if err != nil {
			return err
		}
		if one == nil {
			s := &runSurvey{app: a, f: f, studies: studies,
				lines: map[string]*checker.Surveyed{}, decided: map[string]bool{}}
			return a.surveyRun(ctx, s, args)
		}
		spec = one.Spec
	}
	told := &verdicts{shown: map[string]bool{}}
	return extending(&spec, f.began, func() error { return a.decideAll(ctx, &spec, args, f, told) })
}

// extending tries something until the commands change nothing outside of the directory that is not shared.
// Ages of what is shared are those at the time now.
func extending(spec *command.Spec, now time.Time, try func() error) error {
	for {
		err := try()
		more, failed := spec.Extend(err, now)
		switch {
		case failed != nil:
			return failed
		case !more:
			return err
		}
	}
}

// read makes the spec of the arguments and flags.
func (f *runFlags) read(args []string) (command.Spec, error) {
	spec := command.Spec{}
	var err error
	if f.budget, err = parseBudget(f.native); err != nil {
		return spec, err
	}
	if f.any = f.copies == anyCopies; f.any {
		f.copies = 0
	}
	if f.kind != "" {
		if f.first, err = scenarios.ParseKind(f.kind); err != nil {
			return spec, fmt.Errorf("--kind: %w", err)
		}
	}
	archive := f.archive(args)
	switch {
	case len(args) == 0:
		return spec, errors.New("run takes commands, one argument for each process, " +
			"or -n N -- COMMAND ARG...: see \"lockpick help run\"")
	case f.timeout < 0:
		return spec, fmt.Errorf("--timeout %s: choose a time such as 30s", f.timeout)
	case f.copies > scenarios.MaxProcesses:
		return spec, fmt.Errorf("-n %d: choose 1 to %d", f.copies, scenarios.MaxProcesses)
	case archive:
		text, err := os.ReadFile(args[0])
		if err != nil {
			return spec, err
		}
		if spec, err = command.Parse(text); err != nil {
			return spec, fmt.Errorf("%s: %w", args[0], err)
		}
	case f.argv || f.copies > 0 && (len(args) > 1 || !strings.Contains(args[0], " ")):
		spec.Commands = slices.Repeat([]command.Line{{Argv: args}}, int(max(f.copies, 1)))
	case len(args) > 1 && slices.Contains(interpreters, args[0]):
		return spec, fmt.Errorf("%[1]q and %[2]q are taken for two commands, and %[1]s alone runs nothing: "+
			"for one command write lockpick run -- %[3]s, or put it in quotes",
			args[0], args[1], strings.Join(args, " "))
	default:
		for _, text := range slices.Repeat(args, int(max(f.copies, 1))) {
			spec.Commands = append(spec.Commands, command.Line{Shell: text})
		}
	}
	f.began = time.Now()
	for _, name := range f.names {
		for _, value := range *f.set[name] {
			if name == "dir" {
				if value, err = filepath.Abs(value); err != nil {
					return spec, fmt.Errorf("--dir: %w", err)
				}
			}
			if err = spec.Set(name, value); err != nil {
				return spec, fmt.Errorf("--%s: %w", name, err)
			}
		}
	}
	for _, field := range command.Fields() {
		set := f.set[field.Flag]
		if f.survey == "" && field.With != "" && len(*set) > 0 && field.Moot(&spec.Setting) {
			return spec, fmt.Errorf("--%s %s has no effect without --%s: add --%[3]s 1",
				field.Flag, (*set)[0], field.With)
		}
	}
	if f.any {
		err = f.takeAny(&spec)
	} else if !archive {
		f.twice(&spec)
	}
	if err != nil {
		return spec, err
	}
	if err = f.files(&spec, archive); err == nil {
		spec.Inherit(os.Environ())
	}
	return spec, err
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
	if spec.Dir = filepath.Clean(spec.Dir); spec.Dir == "/" {
		return errors.New("the virtual directory cannot be the root: choose with --dir the one that the programs share")
	}
	if real, err := filepath.EvalSymlinks(spec.Dir); err == nil && !archive {
		spec.Dir = real // the programs are told of it as the kernel would
	}
	if from == "" {
		from = spec.Dir
	}
	if _, err := os.Stat(from); err != nil && f.from == "" && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--dir %s: there is no such directory, so the programs would find nothing: make it, "+
			"or say with --from where its files are", from)
	}
	files, err := command.Copy(from, f.began)
	spec.Files = append(spec.Files, files...)
	return err
}
