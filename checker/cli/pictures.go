package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
)

// pictureFlags are the other forms in which explain shows a counterexample.
type pictureFlags struct {
	svg    string
	unfold *bool
	source *bool
}

func addPictureFlags(c *cobra.Command) *pictureFlags {
	f := &pictureFlags{unfold: addUnfold(c), source: addSource(c)}
	c.Flags().StringVar(&f.svg, "svg", "", "draw the counterexample as SVG to `FILE`, for a slide")
	return f
}

// addUnfold adds the flag that shows every step.
func addUnfold(c *cobra.Command) *bool {
	return c.Flags().Bool("unfold", false, "show every step of a long counterexample")
}

// in adds to o how much is drawn.
func (f *pictureFlags) in(o report.Options) report.Options {
	o.Unfold = *f.unfold
	if *f.source {
		o = withSource(o)
	}
	return o
}

// show draws the result as the flags say, and prints it unless a format takes its place.
func (f *pictureFlags) show(stdout io.Writer, r *checker.Result, o report.Options, instead bool) error {
	o = f.in(o)
	if err := f.draw(r, o); err != nil || instead {
		return err
	}
	return report.Timeline(stdout, r, o)
}

// draw writes the SVG that is asked for.
func (f *pictureFlags) draw(r *checker.Result, o report.Options) error {
	switch {
	case f.svg == "":
		return nil
	case r.Counterexample == nil:
		return fmt.Errorf("--svg %s: there is no counterexample to draw", f.svg)
	}
	if err := writeFile(f.svg, func(w io.Writer) error { return report.SVG(w, r, o) }); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return nil
}
