package cli

import (
	"io"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
)

// pictureFlags are the other forms in which explain shows a counterexample.
type pictureFlags struct {
	markdown bool
	unfold   *bool
	source   *bool
}

func addPictureFlags(c *cobra.Command) *pictureFlags {
	f := &pictureFlags{unfold: addUnfold(c), source: addSource(c)}
	c.Flags().BoolVar(&f.markdown, "markdown", false, "print Markdown with a diagram, for an issue or a pull request")
	return f
}

// addUnfold adds the flag that shows every step.
func addUnfold(c *cobra.Command) *bool {
	return c.Flags().Bool("unfold", false, "show every step of a long counterexample")
}

// show prints the result as the flags say.
func (f *pictureFlags) show(stdout io.Writer, r *checker.Result, o report.Options) error {
	o.Unfold = *f.unfold
	if *f.source {
		o = withSource(o)
	}
	if f.markdown {
		return report.Markdown(stdout, r, o)
	}
	return report.Timeline(stdout, r, o)
}
