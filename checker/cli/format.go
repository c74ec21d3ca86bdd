package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/report/site"
)

// A format is one way in which check hands out its results, behind one flag. To add
// one, write a file with a function that returns it and name it in formats.
type format struct {
	flag, usage string
	// arg names the flag's argument, such as "FILE". A format without one writes to
	// standard output, in place of the matrix.
	arg string
	// write writes the results; to is the flag's argument.
	write func(stdout io.Writer, to string, results []checker.Result, o report.Options) error
}

// formats lists the output formats.
func formats() []format {
	return append([]format{
		{
			flag: "json", usage: "write JSON (docs/schema/check-v1.json)",
			write: func(w io.Writer, _ string, rs []checker.Result, o report.Options) error { return report.JSON(w, rs, o) },
		},
		{
			flag: "html", arg: "DIR", usage: "write a static web site",
			write: func(_ io.Writer, dir string, rs []checker.Result, o report.Options) error {
				return site.Write(dir, rs, o)
			},
		},
	}, fileFormats()...)
}

// A formatChoice is a format with its flag's value.
type formatChoice struct {
	format
	on bool
	to string
}

func addFormats(c *cobra.Command, all []format) []*formatChoice {
	var out []*formatChoice
	for _, f := range all {
		choice := &formatChoice{format: f}
		if f.arg == "" {
			c.Flags().BoolVar(&choice.on, f.flag, false, f.usage)
		} else {
			usage := f.usage + " to `" + f.arg + "`"
			if f.arg == "FILE" {
				usage += "; - prints it"
			}
			c.Flags().StringVar(&choice.to, f.flag, "", usage)
		}
		out = append(out, choice)
	}
	return out
}

// asked reports whether the format is to be written, and whether that takes the
// matrix's place.
func (f *formatChoice) asked() (yes, instead bool) {
	return f.on || f.to != "", f.on || f.arg == "FILE" && f.to == toStdout
}

// toStdout is the name of a file that means standard output.
const toStdout = "-"

// printed refuses more than one format on standard output.
func printed(all []*formatChoice) error {
	var flags []string
	for _, f := range all {
		if _, instead := f.asked(); instead {
			flags = append(flags, "--"+f.flag)
		}
	}
	if len(flags) > 1 {
		return fmt.Errorf("%s all print to standard output: write all but one to files", strings.Join(flags, ", "))
	}
	return nil
}

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

// html reports whether pages are asked for.
func (f *resultFlags) html() bool {
	return slices.ContainsFunc(f.formats, func(c *formatChoice) bool { return c.flag == "html" && c.to != "" })
}

// instead reports whether a format takes the place of the text on standard output.
func (f *resultFlags) instead() bool {
	return slices.ContainsFunc(f.formats, func(c *formatChoice) bool { _, instead := c.asked(); return instead })
}

// any reports whether a format or annotations are asked for.
func (f *resultFlags) any(a *app) bool {
	asked := func(c *formatChoice) bool { yes, _ := c.asked(); return yes }
	return f.github.wanted(a) || slices.ContainsFunc(f.formats, asked)
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

// githubFlag says whether a run is annotated, one of GitHub Actions.
type githubFlag struct {
	cmd *cobra.Command
	on  bool
}

func addGitHubFlag(c *cobra.Command) *githubFlag {
	f := &githubFlag{cmd: c}
	c.Flags().BoolVar(&f.on, "github", false, "annotate the workflow run with what is not as claimed (default when "+
		"GITHUB_ACTIONS is true)")
	return f
}

// wanted reports whether the run is to be annotated: on standard error, where GitHub reads workflow commands, too, and
// where they spoil no machine output.
func (f *githubFlag) wanted(a *app) bool {
	if !f.cmd.Flags().Changed("github") {
		return a.env("GITHUB_ACTIONS") == "true"
	}
	return f.on
}

// fileFormats are the formats of check that go to files, for other programs to read or
// for people to paste.
func fileFormats() []format {
	return []format{
		toFile("markdown", "write Markdown for an issue or a pull request", report.Markdown),
		toFile("junit", "write JUnit XML", timedJUnit),
		toFile("sarif", "write SARIF 2.1.0", report.SARIF),
	}
}

func toFile(flag, usage string, write func(io.Writer, []checker.Result, report.Options) error) format {
	return format{
		flag: flag, usage: usage, arg: "FILE",
		write: func(stdout io.Writer, to string, rs []checker.Result, o report.Options) error {
			if to == toStdout {
				return write(stdout, rs, o)
			}
			return writeFile(to, func(w io.Writer) error { return write(w, rs, o) })
		},
	}
}

// timedJUnit writes JUnit with the time that each verdict took, where it was measured:
// whoever reads it asks for that, and nobody compares two such files byte by byte.
func timedJUnit(w io.Writer, results []checker.Result, o report.Options) error {
	o.Timings = slices.ContainsFunc(results, func(r checker.Result) bool { return r.Elapsed > 0 })
	return report.JUnit(w, results, o)
}

// writeFile makes a file of what write writes. The error of the close counts: a full
// disk may show there.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
