package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockpick/checker/report"
)

// addSource adds the flag that shows the lines of the source.
func addSource(c *cobra.Command) *bool {
	return c.Flags().Bool("source", false, "show the line of the source that makes each call")
}

// withSource makes a drawing show lines of the source, with files as the reader's directory
// has them.
func withSource(o report.Options) report.Options {
	o.Source, o.Places, o.Root = true, true, workDir()
	return o
}

// workDir is the directory that the command was called in; empty when it is gone.
func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// repository is the directory that readers of files take names relative to: the one with the
// repository that the command was called in, or else with its module, or else that directory
// itself.
func repository() string {
	for _, mark := range []string{".git", "go.mod"} {
		for dir := workDir(); dir != ""; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return workDir()
}
