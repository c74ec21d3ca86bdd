package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// runFlags are the flags of run.
type runFlags struct {
	set      map[string]*[]string // by name of what command.Spec.Set takes
	names    []string             // of set, in the order in which they are set
	copies   copiesFlag
	from     string
	began    time.Time // when the files were copied
	survey   string
	property string
	width    int
	timeout  time.Duration
	skipOdds bool
	states   int
	save     string
	repair   bool
	native   string
	budget   time.Duration // of native
	results  *resultFlags
	pictures *pictureFlags
}

// A specFlag is a flag that sets what command.Spec.Set takes.
type specFlag struct{ name, usage string }

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
is changed. What the commands change elsewhere, a lock in /var/lock or a file in HOME, they share as
well: it is found out when they run, copied, and not changed for real either. /tmp is a private one.
What they only read elsewhere is real.

The environment is yours, with what --env adds, and without what differs from run to run or leads to what does:
` + command.LeftOut(96) + `.
The time zone is UTC where you have none.

With --survey there is one command, and the situations are made in which locks break: two and
three runs of it, what one leaves behind that is killed at any call, a crash, a pid that is
another's today, a loss of power, a full disk, each file system. A line for each hazard says that
it holds, or is broken and how, or why it was not asked.`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.survey != "" && c.ArgsLenAtDash() == 0 && f.copies == 0 {
				f.copies = 1 // what follows -- is the command and its arguments
			}
			return a.runPrograms(c.Context(), args, f)
		},
	}
	fs := c.Flags()
	fs.VarP(&f.copies, "copies", "n", "run `N` processes of one command, which follows --")
	fs.StringVar(&f.survey, "survey", "", "try one command under every hazard, or only under hazard `H`; or decide one situation of the survey alone, by its name")
	fs.Lookup("survey").NoOptDefVal = surveyAll
	fs.StringVar(&f.from, "from", "", "copy the files at the start from `DIR` (default what --dir names, or the current directory)")
	options := []specFlag{
		{"dir", "the directory whose files the programs share, as `DIR` (default the current one)"},
		{"inside", "a `NAME` in the directory that the programs make where their critical section begins, and remove where it ends"},
		{"recover", "with --crashes, --power-losses or --failing-calls: a `COMMAND` that runs on what is left before it is compared, and must exit 0"},
		{"read", "a `COMMAND` whose output and exit status on what is left are compared, in place of the files"},
		{"refused", "exit statuses that mean \"I have done nothing\", such as `1,75`; 0 of a program that has changed no file; or none"},
		{"ignore", "leave names that match `PATTERN` out of what is compared"},
		{"stdout", "`off` leaves what is printed out of what is compared"},
		{"outside", "`real` lets the programs change files outside of the directory, unjudged; else what they change there is shared, too, and nothing real is changed"},
		{"env", "add `NAME=VALUE` to the programs' environment"},
	}
	for _, field := range command.Fields() {
		options = append(options, specFlag{field.Flag, field.OfCommands})
	}
	for _, o := range options {
		f.names = append(f.names, o.name)
		f.set[o.name] = fs.StringArray(o.name, nil, o.usage)
	}
	fs.StringVar(&f.property, "property", "", "decide only property `P`: serializable, deadlock, mutual-exclusion (with --inside), "+
		"or atomic or wedge (with --crashes, --failing-calls or --power-losses)")
	fs.IntVar(&f.width, "width", 0, "draw `N` columns wide (default the terminal's width, up to 120, or 100)")
	fs.DurationVar(&f.timeout, "timeout", 0, "end after this time; what is not decided then is unknown (default never; in a survey for each verdict)")
	fs.IntVar(&f.states, "max-states", 0, "end a search after `N` states (default 50 million)")
	fs.BoolVar(&f.skipOdds, "skip-odds", false, "leave out the exact odds of each violation, which take a second pass")
	fs.StringVar(&f.save, "save", "", "write the first counterexample to `FILE`, with the commands and their files; replay reads it")
	fs.BoolVar(&f.repair, "repair", false, "try changes to what is broken, and print those that hold, to paste")
	fs.StringVar(&f.native, "native", "", "run the commands natively for up to `TIME`, to challenge what holds and to confirm what is broken; off runs nothing (default 5s, or $"+nativeBudget+")")
	f.pictures, f.results = addPictureFlags(c), addResultFlags(c)
	return c
}

// runPrograms decides what is asked of some commands.
func (a *app) runPrograms(ctx context.Context, args []string, f *runFlags) error {
	spec, err := f.read(args)
	if err != nil {
		return err
	}
	if err := writable(f.outputs()); err != nil {
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
			return a.surveyRun(ctx, &runSurvey{app: a, f: f, studies: studies, lines: map[string]*checker.Surveyed{}, decided: map[string]bool{}}, args)
		}
		spec = one.Spec
	}
	shown := 0
	return extending(&spec, f.began, func() error { return a.decideAll(ctx, &spec, args, f, &shown) })
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

// decideAll makes all verdicts, and shows those that were not shown before.
func (a *app) decideAll(ctx context.Context, spec *command.Spec, args []string, f *runFlags, shown *int) error {
	start := time.Now()
	bar := a.newProgress(ctx, 1, false)
	bar.begin("run", "learning what the commands do one after the other")
	sc, strict, err := spec.Readings()
	bar.clear()
	if err != nil {
		return err
	}
	asked, err := f.asked(&sc)
	if err != nil {
		return err
	}
	var results []checker.Result
	n := f.challenge(spec, args)
	defer n.close()
	o := f.reportOptions(a, spec, args)
	tried := &checker.Tried{}
	for i, p := range asked {
		r, err := a.decideRun(ctx, spec, &sc, &strict, p, tried, f)
		if err != nil {
			return err
		}
		if err := a.witness(ctx, spec, n, &r); err != nil {
			return err
		}
		a.worsen(exitOf(&r))
		r.Claimed = false // nobody claims anything of a command
		r.Elapsed = time.Since(start)
		results = append(results, r)
		if f.results.instead() || i < *shown {
			continue
		}
		*shown++
		if i > 0 {
			_, _ = fmt.Fprintln(a.stdout)
		}
		if err := f.show(a.stdout, &r, o, i == 0); err != nil {
			return err
		}
		if !f.pictures.markdown {
			counts := within(countsOf(&r), cmp.Or(o.Width, 100)-2)
			_, _ = fmt.Fprintf(a.stdout, "\n  %s\n", strings.Join(counts, "\n  "))
		}
	}
	if !f.results.instead() && !f.pictures.markdown {
		for _, l := range o.Tell("assumed", strings.Join(slices.Concat(sc.Assumes, sc.Assumed()), "; ")+".") {
			_, _ = fmt.Fprintln(a.stdout, l)
		}
	}
	if f.repair && !f.results.instead() {
		if err := a.repair(ctx, spec, results, f); err != nil {
			return err
		}
	}
	return errors.Join(f.results.write(a, a.stdout, results, o), f.write(spec, results, o))
}

// challenge is for the commands of a run; what it copies is there until it is closed.
func (f *runFlags) challenge(spec *command.Spec, args []string) *challenge {
	n := &challenge{spec: spec, budget: f.budget}
	if _, err := os.Stat(spec.Dir); f.survey == "" && (f.from != "" || err == nil && !f.archive(args)) {
		n.from = cmp.Or(f.from, spec.Dir)
	}
	return n
}

// witness asks the kernel about a verdict: whether the model agrees with it call by call, and what the commands do natively.
func (a *app) witness(ctx context.Context, spec *command.Spec, n *challenge, r *checker.Result) error {
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	if r.Counterexample != nil {
		bar.begin(r.Property.ID, "broken on the model; now this kernel is asked")
	}
	carryOut(ctx, spec, r)
	n.begins = func() {
		if bar.w == nil {
			a.note("%s: %s on the model; now it is tried natively", r.Property.ID, r.Verdict)
		}
		bar.begin(r.Property.ID, fmt.Sprintf("%s on the model; now it is tried natively", r.Verdict))
	}
	if err := n.answer(ctx, r); err != nil {
		return err
	}
	watchChanges(r)
	return nil
}

// places says in which files the commands stand.
func (f *runFlags) places(spec *command.Spec, args []string) []scenarios.Source {
	archive, from := "", f.from
	if f.archive(args) {
		archive = args[0]
	}
	if from == "" {
		from = spec.Dir
	}
	return commandPlaces(spec, archive, from)
}

// reportOptions says how what was found is told.
func (f *runFlags) reportOptions(a *app, spec *command.Spec, args []string) report.Options {
	return report.Options{
		Style: a.style(a.stdout, f.width), Program: a.program, Root: workDir(), Places: true, Commands: f.places(spec, args),
		Replay: func(*checker.Result) string { return a.replayRun(f) },
		Bundle: func(r *checker.Result) ([]byte, error) { return bundle(spec, r) },
	}
}

// bundle is a counterexample with its commands and their files, as replay reads it.
func bundle(spec *command.Spec, r *checker.Result) ([]byte, error) {
	text, err := report.Bundle(r)
	if err != nil {
		return nil, err
	}
	return spec.AddTo(text)
}

// archive reports whether the arguments are an archive.
func (f *runFlags) archive(args []string) bool {
	return len(args) == 1 && f.copies == 0 && strings.HasSuffix(args[0], ".txtar")
}

// show prints a verdict. Of what holds beside the first, a line is enough.
func (f *runFlags) show(stdout io.Writer, r *checker.Result, o report.Options, first bool) error {
	if !first && r.Verdict == checker.Holds && !f.pictures.markdown {
		_, err := fmt.Fprintf(stdout, "%s  HOLDS  %s\n", r.Scenario.ID, r.Property)
		return err
	}
	pictures := *f.pictures
	pictures.svg = "" // there is one file for all
	return pictures.show(stdout, r, o)
}

// countsOf says what a verdict took, and how many executions it has spared.
func countsOf(r *checker.Result) string {
	s := &r.Stats
	text := fmt.Sprintf("%d executions learned %d answers · %d states", s.Coroutines, s.Edges, s.States)
	if s.Covered > 0 && s.Coroutines > 0 {
		text += fmt.Sprintf(" · %s schedules, %s for each execution", about(s.Covered), about(s.Covered/float64(s.Coroutines)))
	}
	return fmt.Sprintf("%s · %.1f s", text, r.Elapsed.Seconds())
}

// within breaks a line of counts where it is too long for so many columns.
func within(text string, columns int) []string {
	const between = " · "
	var lines []string
	for _, part := range strings.Split(text, between) {
		n := len(lines) - 1
		if n >= 0 && utf8.RuneCountInString(lines[n]+between+part) <= columns {
			lines[n] += between + part
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

// about is a number with three digits that matter.
func about(n float64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.0f", n)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(fmt.Sprintf("%.2g", n))
}

// outputs lists the files asked for.
func (f *runFlags) outputs() []output {
	var out []output
	for _, o := range []output{{flag: "svg", path: f.pictures.svg}, {flag: "save", path: f.save}} {
		if o.path != "" {
			out = append(out, o)
		}
	}
	return append(out, f.results.outputs()...)
}

// write writes the picture and the bundle that are asked for.
func (f *runFlags) write(spec *command.Spec, results []checker.Result, o report.Options) error {
	var errs []error
	i := slices.IndexFunc(results, func(r checker.Result) bool { return r.Counterexample != nil })
	for _, file := range []struct {
		flag, name string
		write      func(name string, r *checker.Result) error
	}{
		{"svg", f.pictures.svg, func(name string, r *checker.Result) error {
			return writeFile(name, func(w io.Writer) error { return report.SVG(w, r, o) })
		}},
		{"save", f.save, func(name string, r *checker.Result) error {
			text, err := bundle(spec, r)
			if err != nil {
				return err
			}
			return os.WriteFile(name, text, 0o644)
		}},
	} {
		switch {
		case file.name == "":
		case i < 0:
			errs = append(errs, fmt.Errorf("--%s %s: there is no counterexample", file.flag, file.name))
		default:
			errs = append(errs, file.write(file.name, &results[i]))
		}
	}
	return errors.Join(errs...)
}

// replayRun is the command that shows a counterexample again: of the file that it is saved in, or
// the same command with one.
func (a *app) replayRun(f *runFlags) string {
	if f.save != "" {
		return a.program + " replay " + report.ShellWord(f.save)
	}
	const file = "race.lockpick"
	words := []string{a.program}
	for i, arg := range f.withoutOutputs(a.args) {
		words = append(words, report.ShellWord(arg))
		if i == 0 {
			words = append(words, "--save", file)
		}
	}
	return strings.Join(words, " ") + "; " + a.program + " replay " + file
}

// withoutOutputs are the arguments without the flags that say what is written, and how: whoever sees
// a counterexample again need not write the files again.
func (f *runFlags) withoutOutputs(args []string) []string {
	takesValue := map[string]bool{"svg": true, "date": true, "markdown": false, "unfold": false, "source": false, "github": false}
	for _, c := range f.results.formats {
		takesValue[c.flag] = c.arg != ""
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, _, joined := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		value, known := takesValue[name]
		switch {
		case !known || !strings.HasPrefix(args[i], "--"):
			out = append(out, args[i])
		case value && !joined:
			i++
		}
	}
	return out
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
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return nil, fmt.Errorf("--property %q is not asked of these commands: choose %s; with --inside there is mutual-exclusion, and "+
		"atomic and wedge with --crashes, --failing-calls or --power-losses, as far as what is assumed does not say why not", f.property, strings.Join(ids, ", "))
}

// decideRun makes one verdict. Where it was not said which exit statuses are refusals, the verdict may depend on it, and
// the result asks; strict is the scenario in which none is.
func (a *app) decideRun(ctx context.Context, spec *command.Spec, sc, strict *scenarios.Scenario, p *scenarios.Property, tried *checker.Tried, f *runFlags) (checker.Result, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	bar.begin(sc.ID, p.ID)
	o := checker.Options{Workers: 1, States: f.states, SkipOdds: f.skipOdds, Progress: bar.followRun, Tried: tried}
	r, err := checker.Check(ctx, sc, p, o)
	// The property of what is left behind counts refusals.
	if strictly, unknown := strict.Property(p.ID); err != nil || unknown != nil || strictly == p || spec.Refused.Declared {
		return r, err
	}
	decide := func(sc *scenarios.Scenario, p *scenarios.Property) (checker.Result, error) {
		return checker.Check(ctx, sc, p, o)
	}
	switch r.Verdict {
	case checker.Holds:
		return ifRefused(r, strict, decide)
	case checker.Broken:
		return ifSkipped(ctx, r, spec, decide)
	}
	return r, nil
}

// read makes the spec of the arguments and flags.
func (f *runFlags) read(args []string) (command.Spec, error) {
	spec := command.Spec{}
	var err error
	if f.budget, err = parseBudget(f.native); err != nil {
		return spec, err
	}
	archive := f.archive(args)
	switch {
	case len(args) == 0:
		return spec, errors.New("run takes commands, one argument for each process, or -n N -- COMMAND ARG...: see \"lockpick help run\"")
	case f.timeout < 0:
		return spec, fmt.Errorf("--timeout %s: choose a time such as 30s", f.timeout)
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
		spec.Commands = slices.Repeat([]command.Line{{Argv: args}}, int(f.copies))
	default:
		for _, text := range args {
			spec.Commands = append(spec.Commands, command.Line{Shell: text})
		}
	}
	f.began = time.Now()
	spec.Inherit(os.Environ())
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
		return fmt.Errorf("--dir %s: there is no such directory, so the programs would find nothing: make it, or say with --from where its files are", from)
	}
	files, err := command.Copy(from, f.began)
	spec.Files = append(spec.Files, files...)
	return err
}
