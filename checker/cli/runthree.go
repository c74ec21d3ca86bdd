package cli

import (
	"slices"

	"lockpick/checker"
	"lockpick/scenarios/command"
)

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
