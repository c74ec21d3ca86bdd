package main

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/checker/real"
	"lockpick/scenarios/all"
)

// The processes of a replay on the real disk are this binary once more.
func TestMain(m *testing.M) {
	real.Worker(all.All())
	os.Exit(m.Run())
}

func TestReplayOnTheRealDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("schedules can be replayed on the real disk under Linux only")
	}
	for id, schedule := range map[string]string{
		"ctx/stat-then-write/contend":         "A2 B5 A3",
		"gateguard/merge-save/contend":        "A7 B8 A8 B5",
		"openclaw-takeover/rename/dead-owner": "A8 B10 A2",
	} {
		t.Run(id, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := cli.Run(context.Background(), all.All(), []string{"replay", id, schedule, "--real", "--times", "20"}, &stdout, &stderr, nil)
			require.Zero(t, exit, stderr.String())
			require.Contains(t, stdout.String(), "on the real disk: 20 of 20 runs went as on the fake")
		})
	}
}
