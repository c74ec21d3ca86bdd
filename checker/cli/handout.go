package cli

import (
	"fmt"

	"lockpick/checker"
	"lockpick/checker/report"
)

// drawn reports whether the matrix is printed: when nothing else takes its place on
// standard output.
func (f *checkFlags) drawn() bool {
	for _, c := range f.formats {
		if _, instead := c.asked(); instead {
			return false
		}
	}
	return true
}

// refuse reports flags about the results that cannot be meant together. Inputs are the
// files that the command reads.
func (f *checkFlags) refuse(inputs ...string) error {
	var outputs []output
	for _, c := range f.formats {
		if yes, instead := c.asked(); yes && !instead {
			outputs = append(outputs, output{c.flag, c.to, c.arg == "DIR"})
		}
	}
	if err := printed(f.formats); err != nil {
		return err
	}
	return writable(outputs, inputs...)
}

// A handout gives results to everybody who is to have them: the matrix as they come, the
// files at the end.
type handout struct {
	a      *app
	f      *checkFlags
	tables *report.Tables // nil when something else takes their place
}

func (a *app) handOut(f *checkFlags) *handout {
	f.options.Flags, f.options.Program, f.options.Root = f.setting.text(), a.program, repository()
	f.options.Made = a.made(f.date)
	h := &handout{a: a, f: f}
	if f.drawn() {
		o := f.options
		o.Style = a.style(a.stdout, 0)
		h.tables = report.NewTables(a.stdout, o)
	}
	return h
}

// add gives out the results of a system.
func (h *handout) add(system []checker.Result) error {
	if h.tables == nil {
		return nil
	}
	return h.tables.Add(system)
}

// end gives out all results. One place that cannot be written to keeps nobody else from
// having them.
func (h *handout) end(all []checker.Result) error {
	errs := []error{h.f.github.annotate(h.a, all, h.f.options)}
	for _, c := range h.f.formats {
		if yes, _ := c.asked(); !yes {
			continue
		}
		if err := c.write(h.a.stdout, c.to, all, h.f.options); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", c.flag, err))
		}
	}
	if h.tables != nil {
		errs = append(errs, h.tables.End(all))
	}
	var failed error
	for _, err := range errs {
		if err != nil {
			h.a.complain(err)
			failed = &silent{}
		}
	}
	return failed
}
