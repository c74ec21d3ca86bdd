package main

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/checker/real"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// The processes of a replay on the real disk are this binary once more.
func TestMain(m *testing.M) {
	if os.Getenv("LOCKPICK_NATIVE") == "" {
		os.Setenv("LOCKPICK_NATIVE", "off") // tests that ask for it say so
	}
	real.Worker()
	testmain.Run(m)
}

func TestReplayOnTheRealDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: schedules can be replayed on the real disk under Linux only; go test ./cmd/lockpick under Linux runs it")
	}
	for id, schedule := range map[string]string{
		"ctx/stat-then-write/contend":         "A2 B5 A3",
		"gateguard/merge-save/contend":        "A7 B8 A8 B5",
		"ctx/stat-then-write/survey-stall-2":  "A1 B4 A3", // which the list does not have
		"openclaw-takeover/rename/dead-owner": "A8 B10 A2",
	} {
		t.Run(id, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := cli.Run(context.Background(), all.All(), []string{"replay", id, schedule, "--real", "--times", "20"}, &stdout, &stderr, nil)
			differs := map[bool]int{true: cli.ExitDiffers}[strings.Contains(id, "/survey-")] // where all is claimed to hold
			require.Equal(t, differs, exit, stderr.String())
			require.Contains(t, stdout.String(), "on the real disk: 20 of 20 runs went as on the fake")
		})
	}
}

// Whoever asks for it gets counterexamples that were carried out on a real kernel.
func TestExplainOnTheRealKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: counterexamples can be carried out on the real kernel under Linux only; go test ./cmd/lockpick under Linux runs it")
	}
	for line, want := range map[string]string{
		"explain ctx/stat-then-write/contend --real --times 5":                           "  kernel  breaks on this kernel too, 5 of 5",
		"check ctx/stat-then-write/contend --property duplicate --real --times 2 --json": `"kernel": "breaks on this kernel too, 2 of 2`,
		"explain vm-bhyve/hostname-lock/power-loss --real":                               "  kernel  not carried out on this kernel: ",
		"explain openclaw-takeover/guarded/crash --property starvation --real":           "what repeats for ever cannot be",
	} {
		var stdout, stderr bytes.Buffer
		exit := cli.Run(context.Background(), all.All(), strings.Fields(line), &stdout, &stderr, nil)
		require.Zero(t, exit, stderr.String())
		require.Contains(t, stdout.String(), want)
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.ExitUsage, cli.Run(context.Background(), all.All(), strings.Fields("explain ctx/excl/crash --times 3"), &stdout, &stderr, nil))
	require.Contains(t, stderr.String(), "choose 1 or more, with --real")
}
