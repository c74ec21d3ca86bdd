package cli

import (
	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
)

// githubFlag says whether a run is annotated, one of GitHub Actions.
type githubFlag struct {
	cmd *cobra.Command
	on  bool
}

func addGitHubFlag(c *cobra.Command) *githubFlag {
	f := &githubFlag{cmd: c}
	c.Flags().BoolVar(&f.on, "github", false, "annotate the workflow run with what is not as claimed (default when GITHUB_ACTIONS is true)")
	return f
}

// annotate writes workflow commands to standard error, where GitHub reads them too and
// where they spoil no machine output.
func (f *githubFlag) annotate(a *app, results []checker.Result, o report.Options) error {
	if !f.wanted(a) {
		return nil
	}
	return report.GitHub(a.stderr, results, o)
}

// wanted reports whether the run is to be annotated.
func (f *githubFlag) wanted(a *app) bool {
	if !f.cmd.Flags().Changed("github") {
		return a.env("GITHUB_ACTIONS") == "true"
	}
	return f.on
}
