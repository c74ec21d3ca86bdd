package report

import (
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A Style says what the output looks like. The zero value is plain text of 100 columns.
type Style struct {
	// Width is the number of columns; 0 means 100, and less than 60 counts as 60.
	Width int
	// Color asks for ANSI colours.
	Color bool
	// Source shows beside each step the line of the source that makes its call.
	Source bool
	// Unfold shows every step; otherwise a long run is told by its short story.
	Unfold bool
}

// Options are what a report needs to know besides the results. The zero value works.
type Options struct {
	Style
	// Program is what the command is called where the reader is, quoted for a shell when
	// it needs it; empty means "lockpick".
	Program string
	// Replay returns the command that shows a counterexample again, when it is another than replay
	// with the scenario and the schedule; nil when it is not.
	Replay func(r *checker.Result) string
	// Bundle makes the file that replays a counterexample where its programs are not; nil where the id of the scenario
	// says it all.
	Bundle func(r *checker.Result) ([]byte, error)
	// Flags are the flags that changed the scenarios' settings, as typed, such as
	// "--procs 3": the line below a matrix repeats them.
	Flags string
	// Made says how a report came about; a report that is kept repeats it.
	Made Made
	// Timings adds how long each verdict took.
	Timings bool
	// Commands are, by process, the files in which the commands of real programs stand, with a line
	// where one is known: what is shown where no call of a counterexample is located.
	Commands []scenarios.Source
	// Root is the absolute path of the directory that files of the source are told relative
	// to; empty tells them as the compiler recorded them.
	Root string
	// Places adds to a counterexample where in the source the calls stand that its cause
	// names.
	Places bool
	// NotAsked are the hazards of a survey that were not asked.
	NotAsked []NotAsked
	// Quiet leaves out what is as claimed; Verbose adds the counterexamples and counts.
	Quiet, Verbose bool
}

// A NotAsked is a hazard of which a survey has asked nothing, and why.
type NotAsked struct {
	Hazard string `json:"hazard"`
	Why    string `json:"why"`
}

// Made says how a report came about. What is empty is left out.
type Made struct {
	// Version says what the program is built of, Command is the command as typed, quoted for a
	// shell, and Date is when, in the words of whoever asked for it: a report has no date of its
	// own, so that two runs give the same bytes.
	Version, Command, Date string
}

func (o *Options) program() string {
	if o.Program == "" {
		return "lockpick"
	}
	return o.Program
}

func (s Style) width() int {
	if s.Width == 0 {
		return 100
	}
	return max(s.Width, 60)
}

// An ink is a colour with a meaning.
type ink string

// The inks, as SGR parameters.
const (
	plain  ink = ""
	bold   ink = "1"
	dim    ink = "2"
	bad    ink = "1;31"
	good   ink = "32"
	warn   ink = "33"
	accent ink = "36"
)

// laneInks distinguish processes.
var laneInks = [...]ink{"36", "35", "33", "34", "32", "31"}

func laneInk(process int) ink { return laneInks[process%len(laneInks)] }

// paint colours text, which must not be coloured already.
func (s Style) paint(i ink, text string) string {
	if !s.Color || i == plain || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}
