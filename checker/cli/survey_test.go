package cli

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/golden"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// The table of a survey, and every command that it prints replays.
func TestSurvey(t *testing.T) {
	testmain.Slow(t, "it decides whole surveys", "./checker/cli")
	t.Parallel()
	for name, want := range map[string]int{"ctx/excl": ExitDiffers, "gofrs-flock/keep-file": ExitAsClaimed} {
		if race.Detector && want == ExitAsClaimed {
			t.Logf("SKIPPED under the race detector: %s, since one survey is enough for it; go test ./checker/cli runs it", name)
			continue
		}
		got := runAll("survey " + name)
		require.Equal(t, want, got.exit, got.stderr)
		require.Empty(t, got.stderr)
		golden.Check(t, "survey-"+strings.ReplaceAll(name, "/", "-")+".txt", got.stdout)
		for _, m := range regexp.MustCompile(`replay  lockpick (.*) '(.*)' (.*)`).FindAllStringSubmatch(got.stdout, -1) {
			args := append(strings.Fields(m[1]), m[2])
			ran := runAllArgs(append(args, strings.Fields(m[3])...))
			require.Contains(t, ran.stdout, "BROKEN", m[0])
		}
	}
	got := runAll("survey ctx/excl --hazard crash")
	require.Contains(t, got.stdout, "ctx/excl/survey-crash-2 'A1! B1' --property wedge")
	require.NotContains(t, got.stdout, "power-loss")
	require.Contains(t, runAll("check ctx/excl/survey-contention-2").stdout, "survey-contention-2")
	require.Equal(t, ExitUnknown, runAll("survey gofrs-flock/keep-file --max-states 10").exit)
}

// When the time is up, what was not decided is named, and nothing is said to hold.
func TestSurveyInTime(t *testing.T) {
	got := runAll("survey ctx/excl ctx/flock --timeout 1ns")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Equal(t, "ctx/excl  not asked: the survey was stopped before it was decided\n"+
		"ctx/flock  not asked: the survey was stopped before it was decided\n", got.stdout)
}

// Each row is written when it is known; a survey that is stopped keeps those that it has, and names the other hazards.
func TestSurveyIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &stopAt{text: "  threads ", stop: stop}
	exit := Run(ctx, all.All(), []string{"survey", "gofrs-flock/keep-file"}, out, io.Discard, nil)
	require.Equal(t, ExitUnknown, exit, out.String())
	require.Regexp(t, `contention +✓ holds`, out.String())
	require.Regexp(t, `threads +✓ holds`, out.String())
	require.Regexp(t, `crash +· not asked: the survey was stopped before it was decided`, out.String())
	require.Regexp(t, `failing-call +· not asked: a port must`, out.String(), "what nobody asks is not said to be stopped")
}

// stopAt is a writer that calls stop when a text is written.
type stopAt struct {
	strings.Builder
	text string
	stop func()
}

func (w *stopAt) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.stop()
	}
	return n, err
}

func TestSurveyRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"survey ctx/excl --hazard cras":    `unknown hazard "cras": did you mean crash?`,
		"survey ctx/excl --max-states 0":   "--max-states 0: choose 1 or more",
		"survey ctx/excl --timeout -1s":    "--timeout -1s: choose more than 0",
		"survey ctx/excl --width 3":        "choose 60 or more",
		"survey gateguard":                 "gateguard/rmw/contend has no protocol of its own: give the scenario a Subject",
		"survey nosuch":                    `no scenario matches "nosuch"`,
		"survey":                           "requires at least 1 arg",
		"replay ctx/excl/survey-nosuch A1": `no scenario is called "ctx/excl/survey-nosuch"`,
	} {
		got := runAll(args)
		require.Equal(t, ExitUsage, got.exit, args)
		require.Contains(t, got.stderr, want, args)
	}
}
