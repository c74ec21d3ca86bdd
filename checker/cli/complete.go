package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/scenarios"
)

// A completer lists what a word may become, for a shell.
type completer = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// completeID completes the id of the one scenario that a command takes. files: it may be a
// file instead.
func (a *app) completeID(files bool) completer {
	return func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out, directive := a.segments(word)
		if files && len(out) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return out, directive
	}
}

// completePattern completes a pattern of ids.
func (a *app) completePattern(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return a.segments(word)
}

// segments completes a word to the next slash of the ids that it begins: there are too
// many to show them all.
func (a *app) segments(word string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	var out []string
	for _, id := range a.ids() {
		rest, ok := strings.CutPrefix(id, word)
		if !ok {
			continue
		}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			rest = rest[:i+1]
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		out = append(out, word+rest)
	}
	slices.Sort(out)
	return slices.Compact(out), directive
}

// completeProperties completes the value of the flag --property.
func (a *app) completeProperties(c *cobra.Command) {
	a.completeFlag(c, "property", func() []string {
		var ids []string
		for _, p := range scenarios.PropertiesOf(a.scenarios...) {
			ids = append(ids, p.ID+"\t"+p.Meaning)
		}
		return ids
	})
}

// completeFlag completes the value of a flag.
func (a *app) completeFlag(c *cobra.Command, flag string, values func() []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(values(), func(v string) bool { return !strings.HasPrefix(v, word) }), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the command has no such flag
	}
}

// completeValues completes the value of a flag that is one of a few words.
func (a *app) completeValues(c *cobra.Command, flag string, values ...string) {
	a.completeFlag(c, flag, func() []string { return slices.Clone(values) })
}
