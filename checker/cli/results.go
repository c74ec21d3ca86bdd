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

// resultFlags are the formats in which a command hands out its results.
type resultFlags struct {
	formats []*formatChoice
	github  *githubFlag
	date    string // for the pages
}

func addResultFlags(c *cobra.Command) *resultFlags {
	f := &resultFlags{formats: addFormats(c, formats()), github: addGitHubFlag(c)}
	c.Flags().StringVar(&f.date, "date", "", "say on the pages of --html that they are of `DATE`, as given; without it "+
		"they have none")
	return f
}

// instead reports whether a format takes the place of the text on standard output.
func (f *resultFlags) instead() bool {
	return slices.ContainsFunc(f.formats, func(c *formatChoice) bool { _, instead := c.asked(); return instead })
}

// any reports whether a format or annotations are asked for.
func (f *resultFlags) any(a *app) bool {
	return f.github.wanted(a) || slices.ContainsFunc(f.formats, func(c *formatChoice) bool { yes, _ := c.asked(); return yes })
}

// validate reports outputs that cannot be meant together, with more that are asked for. Inputs are the files that the
// command reads.
func (f *resultFlags) validate(more []output, inputs ...string) error {
	outputs := more
	for _, c := range f.formats {
		if yes, instead := c.asked(); yes && !instead {
			outputs = append(outputs, output{c.flag, c.to, c.arg == "DIR"})
		}
	}
	return errors.Join(printed(f.formats), writable(outputs, inputs...))
}

// write writes what is asked for. One place that cannot be written to keeps nobody else from
// having the results.
func (f *resultFlags) write(a *app, stdout io.Writer, results []checker.Result, o report.Options) error {
	o.Made, o.Root = a.made(f.date), repository()
	var errs []error
	if f.github.wanted(a) {
		errs = append(errs, report.GitHub(a.stderr, results, o))
	}
	for _, c := range f.formats {
		if yes, _ := c.asked(); yes {
			if err := c.write(stdout, c.to, results, o); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", c.flag, err))
			}
		}
	}
	return errors.Join(errs...)
}
