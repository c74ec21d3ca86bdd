package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// The worst verdict is shown first. What was shown in an earlier try is not shown again, what was held back there is.
// Who gives up shows what is held back.
func TestWorstVerdictFirst(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, env: func(string) string { return "" }}
	f := &runFlags{draw: &drawFlags{resultFlags: &resultFlags{}}}
	sc := &scenarios.Scenario{ID: "run/commands/2", Setting: scenarios.Setting{Processes: 2}}
	v := &verdicts{shown: map[string]bool{}}
	tell := func(p *scenarios.Property, verdict checker.Verdict) {
		r := checker.NewResult(sc, p, nil)
		r.Verdict = verdict
		require.NoError(t, v.tell(a, &r, f, report.Options{}, func(report.Options) {}))
	}
	try := func() {
		v.again(a)
		tell(scenarios.Serializable, checker.Holds)
		tell(scenarios.Deadlock, checker.Unknown)
	}
	try()
	require.Regexp(t, `^run/commands/2  UNKNOWN  deadlock\n`, out.String())
	require.NotContains(t, out.String(), "HOLDS")
	known, _ := a.early.rest()
	require.Equal(t, "run/commands/2  HOLDS  serializable\n", known)
	try()
	require.NoError(t, v.rest(a))
	require.Regexp(t, `(?s)^run/commands/2  UNKNOWN  deadlock\n.*\n\nrun/commands/2  HOLDS  serializable\n`,
		out.String())
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("UNKNOWN")))
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("HOLDS")))
	known, _ = a.early.rest()
	require.Empty(t, known)
}
