package cli

import (
	"fmt"
	"io"
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
