package cli

import (
	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
)

// githubFlag says whether check annotates a run of GitHub Actions.
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
	on := f.on
	if !f.cmd.Flags().Changed("github") {
		on = a.env("GITHUB_ACTIONS") == "true"
	}
	if !on {
		return nil
	}
	return report.GitHub(a.stderr, results, o)
}
