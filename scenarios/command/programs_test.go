package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A command sees below /proc what another one executes: its first process by its name. Of a child nothing is known, and
// of one that executes another program later what it is then.
func TestNamesOfOthers(t *testing.T) {
	const tells = "sh -c 'echo $$ > t; mv t pid; rm pid'"
	const asks = "sh -c 'read p < pid || exit 0; read c < /proc/$p/comm || exit 0; test $c = "
	for _, row := range []struct{ name, job, look, verdict, why string }{
		{"the name", tells, asks + "sh'", "holds", ""},
		{"another name", tells, asks + "cron'", "broken", ""},
		{"its arguments", tells, asks + "sh && grep -q mv /proc/$p/cmdline || ! test -d /proc/$p'", "holds", ""},
		{"a program that it executes later", "sh -c 'echo $$ > t; mv t pid; exec rm pid'", asks + "sh'", "unknown",
			"a command looks at the name of A (/proc/101), which executes another program after its first call"},
		{"a child", `sh -c 'sh -c "echo \$\$ > t; mv t pid; rm pid"; true'`, asks + "sh'", "",
			"Does it look at the name of a child of another command"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sc := scenario(t, "sh", []string{row.job, row.look}, nil, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			if row.verdict == "" {
				require.ErrorContains(t, err, row.why)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why, row.why)
		})
	}
}
