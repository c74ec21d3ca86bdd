package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand prints the manual page, which is made of the help of all commands. Whoever packages lockpick calls it.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(a.stdout, manualPage(c.Root()))
			return err
		},
	}
}

// manualPage is the page of a command and of those below it, in the language of man(7).
func manualPage(root *cobra.Command) string {
	var w strings.Builder
	fmt.Fprintf(&w, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(root.Name()), root.Name(), roff(root.Short))
	fmt.Fprintf(&w, ".SH SYNOPSIS\n.B %s\nCOMMAND ARGUMENT... [FLAG...]\n", root.Name())
	fmt.Fprintf(&w, ".SH DESCRIPTION\n%s", paragraphs(root.Long))
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		use := roff(root.Name() + " " + c.Use)
		fmt.Fprintf(&w, ".SH %s\n.B %s\n.PP\n%s", strings.ToUpper(c.Name()), use, paragraphs(c.Long))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			of, usage := pflag.UnquoteUsage(f)
			short := ""
			if f.Shorthand != "" {
				short = "-" + f.Shorthand + ", "
			}
			fmt.Fprintf(&w, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(short+"--"+f.Name+" "+of)), roff(usage))
		})
	}
	return w.String()
}

// paragraphs are a text's paragraphs; indented ones, which are examples, keep their lines.
func paragraphs(text string) string {
	var w strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(part, " ") {
			fmt.Fprintf(&w, ".nf\n%s\n.fi\n.PP\n", roff(part))
			continue
		}
		fmt.Fprintf(&w, "%s\n.PP\n", roff(part))
	}
	return w.String()
}

// roff is a text that says nothing to the formatter: a line that begins with a dot or an apostrophe would.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
