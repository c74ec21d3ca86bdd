package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

const mkdirLock = "mkdir lock || exit 75; rmdir lock"

// What a survey of a command finds broken goes on the kernel as on the model, and the command that it prints
// decides that situation again; saved, it is replayed on the fake and on the kernel.
func TestRunSurvey(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	t.Chdir(t.TempDir())
	got := run(t, "run", "--survey=dead-owner", "--refused", "75", mkdirLock)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Regexp(t, `dead-owner +✗ broken +wedge +A\d+!`, got.stdout)
	require.Contains(t, got.stdout, "1 of 1 schedules go on this kernel as on the model")
	require.NotContains(t, got.stdout, "contention")

	replay := regexp.MustCompile(`replay  lockpick (run --survey=dead-owner-alone --property wedge --refused 75) '(.*)'`).FindStringSubmatch(got.stdout)
	require.NotNil(t, replay, got.stdout)
	save := filepath.Join(t.TempDir(), "saved")
	again := run(t, append(append(strings.Fields(replay[1]), "--save", save), replay[2])...)
	require.Equal(t, ExitDiffers, again.exit, again.stderr)
	require.Contains(t, again.stdout, "run/commands/survey-dead-owner-alone  BROKEN  wedge")
	real := run(t, "replay", save, "--real")
	require.Equal(t, ExitAsClaimed, real.exit, real.stderr)
	require.Contains(t, real.stdout, "real    1 of 1 runs go as on the model")
}

// What holds was covered, also on each file system; and what is not asked says why, in JSON as well.
func TestRunSurveyHolds(t *testing.T) {
	raceFile(t)
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/check-v1.json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for hazard, want := range map[string]int{"contention": 3, "stall": 0} { // runs of the command in the largest situation
		got := run(t, "run", "--survey="+hazard, "--json", "--refused", "75", mkdirLock)
		require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(got.stdout))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(v))
		doc := v.(map[string]any)
		largest := 0
		for _, r := range doc["results"].([]any) {
			r := r.(map[string]any)
			require.Equal(t, []any{"holds", true}, []any{r["verdict"], r["complete"]})
			require.Contains(t, r["scenario"], "run/commands/survey-"+hazard)
			n, err := strconv.Atoi(fmt.Sprint(r["processes"]))
			require.NoError(t, err)
			largest = max(largest, n)
		}
		require.Equal(t, want, largest)
		if notAsked, is := doc["not_asked"].([]any); is || want == 0 {
			require.Contains(t, notAsked[0].(map[string]any)["why"], "run with --stalls 1 asks it")
		}
	}
}

// A lock whose file names an owner is wedged where somebody else has that pid today.
func TestRunSurveyPidReuse(t *testing.T) {
	raceFile(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("pid", []byte("0\n"), 0o600))
	got := run(t, "run", "--survey=pid-reuse", "--refused", "75", "read p < pid; [ $p = 0 ] || ! kill -0 $p 2>/dev/null || exit 75; echo $$ > pid; echo 0 > pid")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Regexp(t, `pid-reuse +✗ broken +wedge`, got.stdout)
	require.Contains(t, got.stdout, "1 of 1 schedules go on this kernel as on the model")
}

// A command that does nothing but refuse has no verdict, of what was to be asked.
func TestRunSurveyOfRefusals(t *testing.T) {
	raceFile(t)
	t.Chdir(t.TempDir())
	got := run(t, "run", "--survey=contention", "--refused", "75", "mkdir a && rmdir a; exit 75")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Regexp(t, `contention +\? unknown +serializable\n +survey-contention-2: .* cannot be judged\s+by\s+serializable: in whatever order they run`, got.stdout)
}

// A situation in which something cannot be said is unknown, of what was to be asked.
func TestRunSurveyOfWhatIsNotModelled(t *testing.T) {
	raceFile(t)
	t.Chdir(t.TempDir())
	testmain.Needs(t, "perl", "./checker/cli")
	got := run(t, "run", "--survey=contention", "mkdir a || mkdir b || perl -e 'sysopen F, \"f\", 0x4040'")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Regexp(t, `contention +\? unknown +serializable\n(.*\n)+.*not modelled`, got.stdout)
}

// A survey that is interrupted shows what it has decided, and says of the rest that it was stopped.
func TestRunSurveyIsInterrupted(t *testing.T) {
	raceFile(t)
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := runIn(ctx, nil, "run", "--survey", "--refused", "75", mkdirLock)
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Regexp(t, `contention +· not asked: the survey was stopped before it was decided`, got.stdout)
	require.Regexp(t, `stall +· not asked: run with --stalls 1 asks it`, got.stdout)
	require.NotContains(t, got.stdout, "holds")

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	out := &stopAt{text: "  contention ", stop: cancel}
	args := []string{"run", "--native", "off", "--survey", "--refused", "75", mkdirLock}
	exit := Run(ctx, nil, args, out, io.Discard, nil)
	require.Equal(t, ExitUnknown, exit, out.String())
	require.Regexp(t, `contention +✓ holds`, out.String(), "it was there before the rest was decided")
	require.Regexp(t, `crash +· not asked: the survey was stopped before it was decided`, out.String())
}

func TestRunSurveyRefuses(t *testing.T) {
	raceFile(t)
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--survey", "mkdir a", "mkdir b"}, "a survey is of one command"},
		{[]string{"--survey", "--crashes", "1", mkdirLock}, "a survey makes its own settings"},
		{[]string{"--survey=crsh", mkdirLock}, "there is no such hazard, and no such situation of this command: did you mean crash?"},
		{[]string{"--survey", "exit 3"}, "makes no call on a file"},
		{[]string{"--survey", "--inside", "in", mkdirLock}, "never makes in, which marks its critical section"},
	} {
		got := run(t, append([]string{"run"}, c.args...)...)
		require.Equal(t, ExitUsage, got.exit, c.args)
		require.Contains(t, got.stderr, c.want)
	}
}
