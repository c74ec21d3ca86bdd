package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
)

// resultFlags are the formats in which a command that shows results one by one hands them all out.
type resultFlags struct {
	formats []*formatChoice
	github  *githubFlag
	date    string // for the pages
}

func addResultFlags(c *cobra.Command) *resultFlags {
	f := &resultFlags{github: addGitHubFlag(c)}
	f.formats = addFormats(c, formats())
	addDateFlag(c.Flags(), &f.date)
	return f
}

// instead reports whether a format takes the timelines' place.
func (f *resultFlags) instead() bool {
	return slices.ContainsFunc(f.formats, func(c *formatChoice) bool { _, instead := c.asked(); return instead })
}

// any reports whether a format or annotations are asked for.
func (f *resultFlags) any(a *app) bool {
	return f.github.wanted(a) || slices.ContainsFunc(f.formats, func(c *formatChoice) bool { yes, _ := c.asked(); return yes })
}

// outputs lists the files asked for.
func (f *resultFlags) outputs() []output {
	var out []output
	for _, c := range f.formats {
		if yes, instead := c.asked(); yes && !instead {
			out = append(out, output{c.flag, c.to, c.arg == "DIR"})
		}
	}
	return out
}

// write writes what is asked for. One place that cannot be written to keeps nobody else from
// having the results.
func (f *resultFlags) write(a *app, stdout io.Writer, results []checker.Result, o report.Options) error {
	o.Made, o.Root = a.made(f.date), repository()
	errs := []error{f.github.annotate(a, results, o)}
	for _, c := range f.formats {
		if yes, _ := c.asked(); yes {
			if err := c.write(stdout, c.to, results, o); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", c.flag, err))
			}
		}
	}
	return errors.Join(errs...)
}
