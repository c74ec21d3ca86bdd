package cli

import (
	"github.com/spf13/cobra"

	"lockpick/checker/report"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	var f *filters
	c := &cobra.Command{
		Use:   "list [PATTERN...]",
		Short: "List the scenarios and what they claim",
		Long:  "List the scenarios and what they claim; more than 60 without their summaries.\n\n" + patternHelp,
		RunE: func(_ *cobra.Command, patterns []string) error {
			list, err := a.choose(patterns, f)
			if err != nil {
				return err
			}
			if asJSON {
				return report.ListJSON(a.stdout, list)
			}
			return report.List(a.stdout, list, a.style(a.stdout, 0))
		},
	}
	c.ValidArgsFunction = a.completePattern
	f = a.addFilters(c, true)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

const patternHelp = `Patterns select ids segment by segment, with * and ? and [...] as in path.Match; a
pattern that is shorter than an id selects everything below it, so "ctx", "ctx/*" and
"ctx/excl*" all select ctx/excl/contend, and '*' selects everything. The flags
--shape, --hazard, --project and --verdict choose among these. No pattern and no such
flag selects everything but the corpus of lock protocols in use.`
