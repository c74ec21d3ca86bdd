package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockpick/checker"
	"lockpick/checker/report"
)

// drawFlags are the flags of commands that draw counterexamples: how they are drawn, and which files keep one.
type drawFlags struct {
	*resultFlags
	width          widthFlag
	svg, save      string
	unfold, source bool
}

func addDrawFlags(c *cobra.Command) *drawFlags {
	f := &drawFlags{resultFlags: addResultFlags(c)}
	fs := c.Flags()
	addWidthFlag(fs, &f.width)
	fs.BoolVar(&f.unfold, "unfold", false, "show every step of a long counterexample")
	fs.BoolVar(&f.source, "source", false, "show the line of the source that makes each call")
	fs.StringVar(&f.svg, "svg", "", "draw the counterexample as SVG to `FILE`, for a slide")
	return f
}

// in adds to o how much is drawn. Lines of the source name files as the reader's directory has them.
func (f *drawFlags) in(o report.Options) report.Options {
	o.Unfold = f.unfold
	if f.source {
		o.Source, o.Places, o.Root = true, true, workDir()
	}
	return o
}

// show draws a result, unless a format takes its place.
func (f *drawFlags) show(stdout io.Writer, r *checker.Result, o report.Options) error {
	if f.instead() {
		return nil
	}
	return report.Timeline(stdout, r, f.in(o))
}

// validate reports outputs that cannot be meant together. Inputs are the files that the command reads.
func (f *drawFlags) validate(inputs ...string) error {
	var files []output
	for _, o := range []output{{flag: "svg", path: f.svg}, {flag: "save", path: f.save}} {
		if o.path != "" {
			files = append(files, o)
		}
	}
	return f.resultFlags.validate(files, inputs...)
}

// keep writes the picture and the bundle of the first counterexample among some results, where they are asked for.
func (f *drawFlags) keep(
	results []checker.Result, o report.Options, bundle func(*checker.Result) ([]byte, error),
) error {
	var first *checker.Result
	for i := range results {
		if first == nil && hasCounterexample(results[i]) {
			first = &results[i]
		}
	}
	var errs []error
	for _, file := range []struct {
		flag, name string
		write      func() error
	}{
		{"svg", f.svg, func() error {
			return writeFile(f.svg, func(w io.Writer) error { return report.SVG(w, first, f.in(o)) })
		}},
		{"save", f.save, func() error {
			text, err := bundle(first)
			if err != nil {
				return err
			}
			return os.WriteFile(f.save, text, 0o644)
		}},
	} {
		switch {
		case file.name == "":
		case first == nil:
			errs = append(errs, fmt.Errorf("--%s %s: there is no counterexample", file.flag, file.name))
		default:
			if err := file.write(); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", file.flag, err))
			}
		}
	}
	return errors.Join(errs...)
}

func hasCounterexample(r checker.Result) bool { return r.Counterexample != nil }

// widthFlag is the number of columns that output takes; 0 where nobody says.
type widthFlag int

func addWidthFlag(fs *pflag.FlagSet, width *widthFlag) {
	fs.Var(width, "width", "draw `N` columns wide (default the terminal's width, up to 120, or 100)")
}

// String, Set and Type make it a pflag.Value.
func (w *widthFlag) String() string { return strconv.Itoa(int(*w)) }
func (w *widthFlag) Type() string   { return "int" }
func (w *widthFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n != 0 && n < 60 {
		return errors.New("choose 60 or more")
	}
	*w = widthFlag(n)
	return nil
}
