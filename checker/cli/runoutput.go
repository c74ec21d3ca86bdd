package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

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
		Style: a.style(a.stdout, f.draw.width), Program: a.program, Root: workDir(), Places: true,
		Commands: f.places(spec, args),
		Replay:   func(*checker.Result) string { return a.replayRun(f) },
		Bundle:   ofCommands(spec),
	}
}

// ofCommands makes bundles of counterexamples with their commands and files, as replay reads them.
func ofCommands(spec *command.Spec) func(*checker.Result) ([]byte, error) {
	return func(r *checker.Result) ([]byte, error) {
		text, err := report.Bundle(r)
		if err != nil {
			return nil, err
		}
		of := *spec
		if r.Question.Open() && !of.Refused.Declared { // the schedule breaks it by that answer only
			of.Refused.Declared = true
		}
		return of.AddTo(text)
	}
}

// archive reports whether the arguments are an archive.
func (f *runFlags) archive(args []string) bool {
	return len(args) == 1 && f.copies == 0 && strings.HasSuffix(args[0], ".txtar")
}

// show prints a verdict. Of what holds beside the first, a line is enough, and of what is not decided there, why.
func (f *runFlags) show(stdout io.Writer, r *checker.Result, o report.Options, first bool) error {
	if !first && r.Verdict == checker.Unknown && r.Counterexample == nil {
		f.natively = r.Native
		_, err := fmt.Fprintf(stdout, "%s  UNKNOWN  %s\n%s\n", r.Scenario.ID, r.Property,
			strings.Join(o.Tell("why", "not decided: "+r.Known()), "\n"))
		return err
	}
	if !first && r.Verdict == checker.Holds {
		_, err := fmt.Fprintf(stdout, "%s  HOLDS  %s\n", r.Scenario.ID, r.Property)
		if r.Native != "" && r.Native != f.natively {
			_, err = fmt.Fprintln(stdout, strings.Join(o.Tell("native", r.Native), "\n"))
		}
		f.natively = r.Native
		return err
	}
	f.natively = r.Native
	return report.Timeline(stdout, r, f.draw.in(o))
}

// countsOf says what a verdict took, and how many interleavings the executions have spared.
func countsOf(r *checker.Result) []string {
	s, took := &r.Stats, fmt.Sprintf("%.1f s", r.Elapsed.Seconds())
	if s.States == 0 && s.Schedules > 0 {
		return []string{numbers.Count(s.Schedules, "drawn schedule", "drawn schedules"), took}
	}
	text := numbers.Count(s.Coroutines, "run", "runs") + " of the programs"
	// What is fewer was counted before schedules with few preemptions showed something, and says nothing.
	if s.Covered > float64(s.Coroutines) && s.Coroutines > 0 {
		text = fmt.Sprintf("%s interleavings, covered by %s", numbers.InWords(s.Covered), text)
	}
	states := numbers.Count(s.States, "state", "states")
	if s.Reduced {
		states += " (calls on nothing shared in one order)"
	}
	return []string{text, states, took}
}

// replayRun is the command that shows a counterexample again: of the file that it is saved in, or
// the same command with one.
func (a *app) replayRun(f *runFlags) string {
	if f.draw.save != "" {
		return a.program + " replay " + report.ShellWord(f.draw.save)
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
	takesValue := map[string]bool{"svg": true, "date": true, "unfold": false, "source": false,
		"github": false}
	for _, c := range f.draw.formats {
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

// verdicts are those on some commands on their way to the terminal. The worst comes first: a verdict that holds waits
// until the others are known, for a reader stops at the first line.
type verdicts struct {
	shown map[string]bool // those of an earlier try, by scenario and property
	any   bool            // one was shown
	held  []func() error  // show those that hold
}

// tell counts a verdict, and shows it unless that was done before; more follows it.
func (v *verdicts) tell(a *app, r *checker.Result, f *runFlags, o report.Options, more func(report.Options)) error {
	r.Accept(f.accept)
	a.worsen(strictly(r, f.strict))
	a.early.over()
	r.Claimed = false // nobody claims anything of a command
	id := r.Scenario.ID + " " + r.Property.ID
	if v.shown[id] {
		return nil
	}
	if q := r.Question; len(f.accept) > 0 && q.Open() {
		a.note("--accept waits for an answer: say %s, or %s", q.Yes.Flags, q.No.Flags)
	}
	show := func() error {
		v.shown[id] = true
		if err := v.show(a, r, f, o); err != nil {
			return err
		}
		more(o)
		return nil
	}
	if r.Verdict != checker.Holds {
		return show()
	}
	a.early.keep(fmt.Sprintf("%s  HOLDS  %s\n", r.Scenario.ID, r.Property))
	v.held = append(v.held, show)
	return nil
}

// again begins a new try, whose verdicts take the place of those that were held back.
func (v *verdicts) again(a *app) {
	a.early.keep("")
	v.held = nil
}

// rest shows the verdicts that were held back.
func (v *verdicts) rest(a *app) error {
	held := v.held
	v.again(a)
	for _, show := range held {
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

// show prints a verdict and what it took.
func (v *verdicts) show(a *app, r *checker.Result, f *runFlags, o report.Options) error {
	first := !v.any
	v.any = true
	if f.draw.instead() {
		return nil
	}
	if !first {
		_, _ = fmt.Fprintln(a.stdout)
	}
	if err := f.show(a.stdout, r, o, first); err != nil {
		return err
	}
	counts := report.JoinWrapped(countsOf(r), cmp.Or(o.Width, 100)-2)
	_, err := fmt.Fprintf(a.stdout, "\n  %s\n", strings.Join(counts, "\n  "))
	return err
}

// interpreters are programs whose first argument that is no option is a script.
var interpreters = []string{"sh", "bash", "dash", "ksh", "zsh", "python", "python3", "perl", "ruby", "node",
	"tclsh", "lua"}

// commandPlaces says for each process in which file its command stands: at its line of an archive,
// or in a script, of which no line is known. Zero is none of these.
func commandPlaces(spec *command.Spec, archive, from string) []scenarios.Source {
	out := make([]scenarios.Source, len(spec.Commands))
	if archive != "" {
		text, _ := os.ReadFile(archive)
		name, err := filepath.Abs(archive)
		if err != nil {
			name = archive
		}
		lines, n, in := strings.Split(string(text), "\n"), 0, false
		for i, line := range lines {
			switch {
			case strings.HasPrefix(line, "-- ") && strings.HasSuffix(strings.TrimSpace(line), " --"):
				in = strings.TrimSpace(line) == "-- commands --"
			case in && strings.TrimSpace(line) != "" && n < len(out):
				out[n] = scenarios.Source{File: name, Line: i + 1}
				n++
			}
		}
		return out
	}
	for i, l := range spec.Commands {
		words := l.Argv
		if len(words) == 0 {
			words = strings.Fields(l.Shell)
		}
		if len(words) > 0 && slices.Contains(interpreters, filepath.Base(words[0])) {
			words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
		}
		if len(words) > 0 {
			out[i].File = script(words[0], from)
		}
	}
	return out
}

// script is the absolute name of a file of text, relative to a directory; empty when it is none.
func script(name, dir string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	if at, err := os.Stat(name); err != nil || !at.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	begin := make([]byte, 512)
	n, _ := f.Read(begin)
	if slices.Contains(begin[:n], 0) {
		return "" // a binary
	}
	return name
}
