package cli

import (
	"cmp"
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
)

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
