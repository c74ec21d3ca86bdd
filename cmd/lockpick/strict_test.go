package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/scenarios/all"
)

// With --strict a verdict that holds only under a condition is not enough; that it is the same in all cases is none.
func TestStrict(t *testing.T) {
	for _, c := range []struct {
		scenario      string
		plain, strict int
	}{
		{"gateguard/excl-rmw/contend", cli.ExitAsClaimed, cli.ExitUnknown}, // that nobody is delayed
		{"ctx/excl/contend", cli.ExitAsClaimed, cli.ExitAsClaimed},
		{"ctx/stat-then-write/contend", cli.ExitAsClaimed, cli.ExitAsClaimed}, // broken, as claimed
	} {
		var out, errs bytes.Buffer
		exit := func(args ...string) int {
			args = append([]string{"check", c.scenario}, args...)
			return cli.Run(t.Context(), all.All(), args, &out, &errs, nil)
		}
		require.Equal(t, c.plain, exit(), errs.String())
		require.Equal(t, c.strict, exit("--strict"), errs.String())
	}
}
