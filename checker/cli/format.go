package cli

import (
	"fmt"
	"io"
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
