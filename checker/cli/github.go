package cli

import "github.com/spf13/cobra"

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

// wanted reports whether the run is to be annotated: on standard error, where GitHub reads workflow commands, too, and
// where they spoil no machine output.
func (f *githubFlag) wanted(a *app) bool {
	if !f.cmd.Flags().Changed("github") {
		return a.env("GITHUB_ACTIONS") == "true"
	}
	return f.on
}
