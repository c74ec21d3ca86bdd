package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// meant is what follows an unknown word in an error: the words that look most like it, as
// ": did you mean …?", or nothing.
func meant(word string, known []string) string {
	near := nearest(word, known)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// nearest returns up to three of the known words that take fewest changes to become word,
// and not too many; or else those that word begins.
func nearest(word string, known []string) []string {
	const most = 3
	best := max(2, len(word)/4)
	var near, begun []string
	for _, k := range known {
		if word != "" && strings.HasPrefix(k, word) {
			begun = append(begun, k)
		}
		switch d := distance(word, k); {
		case d > best:
		case d < best:
			best, near = d, []string{k}
		default:
			near = append(near, k)
		}
	}
	if len(near) == 0 {
		near = begun
	}
	return near[:min(len(near), most)]
}

// distance is how many letters must be inserted, left out, replaced, or swapped with the
// next, to make one word of another (the optimal string alignment distance).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			other := 1
			if x[i-1] == y[j-1] {
				other = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+other)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// noCommand refuses a word where a command is wanted.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if text := meant(args[0], names); text != "" {
		return fmt.Errorf("unknown command %q%s", args[0], text)
	}
	return fmt.Errorf("unknown command %q: choose one of %s", args[0], strings.Join(names, ", "))
}

// flagError adds to the error for an unknown flag what may have been meant.
func flagError(c *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if text := meant("--"+name, names); text != "" {
		return fmt.Errorf("%w%s", err, text)
	}
	return fmt.Errorf("%w: see \"%s --help\"", err, c.CommandPath())
}

// ids lists the ids of all scenarios.
func (a *app) ids() []string {
	out := make([]string, len(a.scenarios))
	for i := range a.scenarios {
		out[i] = a.scenarios[i].ID
	}
	return out
}

// patterns lists the patterns that one may want: each system, each variant, each id.
func (a *app) patterns() []string {
	var out []string
	for i := range a.scenarios {
		sc := &a.scenarios[i]
		out = append(out, sc.System(), sc.System()+"/"+sc.Variant(), sc.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
