package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/checker/trace"
	"lockpick/internal/golden"
)

// An outcome is what one command line gave.
type outcome struct {
	exit           int
	stdout, stderr string
}

func run(t *testing.T, args ...string) outcome {
	t.Helper()
	return runIn(context.Background(), nil, args...)
}

func runIn(ctx context.Context, env map[string]string, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	exit := Run(ctx, toys.All(), args, &stdout, &stderr, func(name string) string { return env[name] })
	return outcome{exit, stdout.String(), stderr.String()}
}

// Bad input gives exit code 2, one line on standard error, and no verdict.
func TestBadInput(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bad.txtar")
	require.NoError(t, os.WriteFile(bundle, []byte("hello\n"), 0o600))
	for args, want := range map[string]string{
		"nonsense":                                      `unknown command "nonsense"`,
		"check --nonsense":                              "unknown flag: --nonsense",
		"check nosuch/*":                                `no scenario matches "nosuch/*"`,
		"check toy/look/contend nosuch":                 `no scenario matches "nosuch"`,
		"check [":                                       "syntax error in pattern",
		"check toy/look/contend/more":                   "no scenario matches",
		"check --procs 0":                               "--procs 0: choose 1 to 26",
		"check --procs 27":                              "--procs 27: choose 1 to 26",
		"check --procs two":                             "--procs two: choose 1 to 26",
		"check --crashes -1":                            "--crashes -1: choose 0 to 26",
		"check --stalls -1":                             "--stalls -1: choose 0 to 1000",
		"check --stall-for 0s":                          "--stall-for 0s: choose a time such as 90s, 48h or -1h, not 0",
		"check --crashes 65536":                         "--crashes 65536: choose 0 to 26",
		"check --stalls 32768":                          "--stalls 32768: choose 0 to 1000",
		"check --power-losses 2":                        "--power-losses 2: choose 0 to 1",
		"check --stalls 1000 --stall-for 90000h":        "1000 stalls of 3750 days move the clock by more than 100",
		"check --max-states -1":                         "--max-states -1: choose 1 or more",
		"check --max-memory -1":                         "--max-memory -1",
		"check --workers -1":                            "--workers -1",
		"check --timeout -1s":                           "--timeout -1s",
		"weigh toy/excl/contend --timeout -1s":          "--timeout -1s: choose more than 0, or leave it out",
		"weigh toy/excl/contend --max-states 0":         "--max-states 0: choose 1 or more",
		"repair toy/excl/contend":                       "nothing that it claims is broken, so there is nothing to repair",
		"repair toy/look/contend --timeout -1s":         "--timeout -1s: choose more than 0, or leave it out",
		"weigh toy/look/contend":                        "toy/look/contend: it does not hold: weigh says",
		"weigh":                                         "weigh takes SCENARIO, and not 0 arguments",
		"check --property fairness":                     `unknown property "fairness": choose one of mutual-exclusion,`,
		"check --property duplicate":                    "no selected scenario can be judged by duplicate",
		"check toy/abba --procs 3":                      "toy/abba/contend has exactly 2 processes",
		"explain":                                       "explain takes SCENARIO, and not 0 arguments",
		"explain what/ever":                             `no scenario is called "what/ever": "lockpick list '*'" shows them all`,
		"explain toy/look/contend --property duplicate": "toy/look/contend cannot be judged by duplicate: its tasks record no operation whose answer could violate it",
		"explain toy/look/contend --width 10":           "choose 60 or more",
		"explain toy/excl/contend --save /dev/null":     "there is no counterexample",
		"explain toy/excl/contend --save /dev/null/x":   "--save: no file can be made there",
		"chekc":                                   `unknown command "chekc": did you mean check?`,
		"check --proc 3":                          "unknown flag: --proc: did you mean --procs?",
		"check --powerlosses 1":                   "did you mean --power-losses?",
		"check toy/lock/contend":                  `no scenario matches "toy/lock/contend": did you mean toy/look/contend?`,
		"check tyo":                               `no scenario matches "tyo": did you mean toy?`,
		"explain toy/exlc/crash":                  `no scenario is called "toy/exlc/crash": did you mean toy/excl/crash?`,
		"explain toy/excl":                        "did you mean toy/excl/contend or toy/excl/crash?",
		"check --property mutual-exlusion":        `unknown property "mutual-exlusion": did you mean mutual-exclusion?`,
		"replay":                                  "replay takes SCENARIO and SCHEDULE, or a file, and not 0 arguments",
		"replay x A1,Q9":                          `no scenario is called "x"`,
		"replay toy/look/contend":                 "give a schedule too",
		"replay " + bundle + " A1":                `leave out "A1"`,
		"explain LP2":                             "there is no kind of cause LP2: choose LP1001, ",
		"replay nosuch.txtar":                     "no such file",
		"replay " + bundle:                        "no bundle",
		"replay toy/look/contend ,":               "the schedule is empty",
		"replay toy/look/contend A1,7":            `schedule element 2, "7"`,
		"replay toy/look/contend A1,Q9":           "step 2 of the schedule names task Q",
		"replay toy/look/contend A1,B99":          "drifts at step 9: task B cannot step",
		"replay toy/look/contend A1!":             "drifts at step 2: process A cannot be killed",
		"replay toy/look/contend A1,~":            "drifts at step 2: the clock cannot jump",
		"sample toy/look/contend --runs 0":        "--runs 0: choose 1 or more",
		"sample toy/look/contend --strategy luck": `--strategy: sched: unknown strategy "luck": choose random or pct`,
		"sample toy/look/contend --depth 0":       "--depth 0: choose 1 or more",
		"sample toy/look/contend --seed -1":       "invalid argument",
		"sample nosuch":                           `no scenario is called "nosuch"`,
		"list nosuch":                             "no scenario matches",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], ",", " ")
			}
			got := run(t, words...)
			require.Equal(t, ExitUsage, got.exit)
			require.Contains(t, got.stderr, want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
			if !strings.HasPrefix(args, "explain toy/excl/contend --save") {
				require.Empty(t, got.stdout)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for args, want := range map[string]int{
		"list":                                   ExitAsClaimed,
		"help":                                   ExitAsClaimed,
		"check toy/look toy/excl":                ExitAsClaimed,
		"check":                                  ExitDiffers,
		"check toy/excl --max-states 2":          ExitUnknown,
		"check --max-states 2":                   ExitUnknown,
		"check toy/abba toy/excl --procs 3":      ExitAsClaimed,
		"explain toy/look/contend":               ExitAsClaimed,
		"explain toy/wrong/contend":              ExitDiffers,
		"explain toy/excl/contend":               ExitAsClaimed,
		"replay toy/look/contend A1,B4,A3":       ExitAsClaimed,
		"replay toy/look/contend A1,B4,A2":       ExitDiffers,
		"replay toy/wrong/contend A1,B4,A3":      ExitDiffers,
		"replay toy/excl/contend A1":             ExitDiffers,
		"sample toy/look/contend":                ExitAsClaimed,
		"sample toy/look/contend --strategy pct": ExitAsClaimed,
		"sample toy/excl/contend --runs 10":      ExitUnknown,
		"sample toy/wrong/contend":               ExitDiffers,
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], ",", " ")
			}
			got := run(t, words...)
			require.Equal(t, want, got.exit, got.stderr)
			require.NotEmpty(t, got.stdout)
		})
	}
}

func TestGolden(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for name, args := range map[string][]string{
		"help":           {"help"},
		"help-check":     {"help", "check"},
		"list":           {"list", "toy/*"},
		"check":          {"check", "toy/look", "toy/excl"},
		"check-procs":    {"check", "--procs", "3", "toy/excl/contend", "toy/abba"},
		"explain":        {"explain", "toy/look/contend"},
		"replay":         {"replay", "toy/look/contend", "A1 B4 A3 B1"},
		"replay-ends":    {"replay", "toy/look/contend", "A1 B4 A2"},
		"replay-differs": {"replay", "toy/look/contend", "A1 B4 A1 B1 A1"},
		"replay-holds":   {"replay", "toy/excl/contend", "A1 B1 A1"},
		"sample":         {"sample", "toy/look/contend", "--seed", "3"},
		"sample-all":     {"sample", "toy/look/contend", "--seed", "3", "--runs", "200", "--keep-going", "--strategy", "pct"},
		"weigh":          {"weigh", "toy/excl/contend"},
		"repair":         {"repair", "--verbose", "toy/look/contend"},
		"sample-nothing": {"sample", "toy/excl/contend", "--runs", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, args...)
			golden.Check(t, name+".txt", "$ lockpick "+strings.Join(args, " ")+"\n"+got.stdout+"stderr: "+got.stderr)
			require.Equal(t, got, run(t, args...), "two runs differ")
		})
	}
}

// What explain saves, replay reproduces; so does the command that it prints.
func TestSaveAndReplay(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for _, id := range []string{"toy/look/contend", "toy/excl/crash", "toy/abba/contend", "toy/lease/stall", "toy/look/tasks"} {
		file := filepath.Join(t.TempDir(), "bundle.txtar")
		explained := run(t, "explain", id, "--save", file)
		require.Zero(t, explained.exit)
		replayed := run(t, "replay", file)
		require.Zero(t, replayed.exit, replayed.stderr)
		drawn, fix, asked := strings.Cut(explained.stdout, "  repair  lockpick repair "+id+"\n")
		require.True(t, asked, "explain ends with the command that looks for a repair")
		require.Regexp(t, `^( +a fix that holds: .*\n)?$`, fix)
		require.Equal(t, section(drawn), section(replayed.stdout))

		_, command, _ := strings.Cut(drawn, "  replay  lockpick ")
		words := strings.SplitN(strings.TrimSpace(command), " ", 3)
		again := run(t, words[0], words[1], strings.Trim(words[2], "'"))
		require.Zero(t, again.exit, again.stderr)
		require.Equal(t, replayed.stdout, again.stdout)
	}
}

// A bundle carries the whole setting: also how far the clock jumps, and how often the
// power may be lost. Flags given with it come on top.
func TestSaveAndReplayInAnotherSetting(t *testing.T) {
	fixtures.OnlyAnswers(t)
	file := filepath.Join(t.TempDir(), "bundle.txtar")
	for flags, want := range map[string]string{
		"--stall-for 48h":              "the clock jumps ahead by 48h",
		"--crashes 1 --stall-for 5m1s": "2 processes, up to 1 crash, up to 1 stall",
		"--power-losses 1":             "2 processes, up to 1 stall, up to 1 power loss",
		"--stalls 2 --procs 2":         "the clock jumps ahead by 2m",
	} {
		explained := run(t, append([]string{"explain", "toy/lease/stall", "--skip-odds", "--save", file}, strings.Fields(flags)...)...)
		require.Zero(t, explained.exit, explained.stderr)
		require.Contains(t, explained.stdout, want)
		replayed := run(t, "replay", file)
		require.Zero(t, replayed.exit, replayed.stderr)
		drawn, repair, _ := strings.Cut(explained.stdout, "  repair  lockpick repair toy/lease/stall --")
		repair, _, _ = strings.Cut(repair, "\n")
		require.Contains(t, strings.Fields("--"+repair), strings.Fields(flags)[0], "repair is asked in the same setting")
		require.Equal(t, section(drawn), section(replayed.stdout),
			"what replay shows after %s, and the command that it prints", flags)
		require.Contains(t, replayed.stdout, want)
	}
	got := run(t, "replay", file, "--stall-for", "1s")
	require.Equal(t, ExitDiffers, got.exit)
	require.Contains(t, got.stdout, "NOT BROKEN BY THIS SCHEDULE")
}

// section is a timeline without what only the search knows.
func section(s string) string {
	_, rest, _ := strings.Cut(s, "\n\n")
	return rest
}

// The changed setting is part of the printed command.
func TestSettingFlagsAreRepeated(t *testing.T) {
	fixtures.OnlyAnswers(t)
	got := run(t, "explain", "toy/look/contend", "--procs", "3", "--crashes", "1")
	require.Contains(t, got.stdout, "' --procs 3 --crashes 1\n")
	require.Contains(t, got.stdout, "3 processes, up to 1 crash")
	got = run(t, "check", "toy/look/contend", "--stalls", "1")
	require.Contains(t, got.stdout, "with --stalls 1")
}

// An interrupt prints what was covered, as unknown.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := runIn(ctx, nil, "check", "toy/excl")
	require.Equal(t, ExitUnknown, got.exit)
	require.Contains(t, got.stdout, "4 verdicts: 4 unknown")
	got = runIn(ctx, nil, "check", "toy/excl", "--json")
	require.Equal(t, ExitUnknown, got.exit)
	require.Contains(t, got.stdout, `"why": "stopped before it began"`)
}

func TestStyle(t *testing.T) {
	fixtures.OnlyAnswers(t)
	ctx := context.Background()
	require.NotContains(t, runIn(ctx, nil, "explain", "toy/look/contend").stdout, "\x1b")
	forced := map[string]string{"CLICOLOR_FORCE": "1"}
	require.Contains(t, runIn(ctx, forced, "explain", "toy/look/contend").stdout, "\x1b[")
	forced["NO_COLOR"] = "1"
	require.NotContains(t, runIn(ctx, forced, "explain", "toy/look/contend").stdout, "\x1b")
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{"ctx", true}, {"ctx/", true}, {"ctx/*", true}, {"ctx/excl*", true}, {"ctx/*/crash", true}, {"*/*/crash", true},
		{"ctx/excl/crash", true}, {"*", true}, {"c*", true},
		{"ct", false}, {"ctx/ex", false}, {"ctx/excl/crash/x", false}, {"*/crash", false}, {"", false},
	} {
		got, err := matches(c.pattern, "ctx/excl/crash")
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.pattern)
	}
}

// The page of a kind of cause has the right code that it points to, and no other.
func TestExplainKind(t *testing.T) {
	for _, k := range trace.Kinds() {
		got := run(t, "explain", strings.ToLower(k.ID))
		require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
		require.True(t, strings.HasPrefix(got.stdout, "## "+k.ID+": "+k.Name+"\n"), got.stdout)
		require.Contains(t, got.stdout, k.Fix)
		require.NotContains(t, got.stdout, "](#")
	}
	require.Contains(t, run(t, "explain", "LP1023").stdout, "mktemp")
	require.NotContains(t, run(t, "explain", "LP1023").stdout, "LP1024")
}
