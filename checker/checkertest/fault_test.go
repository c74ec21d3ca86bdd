package checkertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// faulty is a lock whose acquisition does something that no lock should.
func faulty(path string, acquire func(t *scenarios.Task) error) scenarios.Scenario {
	l := scenarios.Protocol{
		Path:    path,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return scenarios.Hold{}, acquire(t) },
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(path) },
	}
	return scenarios.Scenario{
		ID: "toy/faulty/contend", Setting: scenarios.Setting{Processes: 2}, Watch: []string{path},
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
	}
}

// A program that panics, goes round without an end, or misses a directory is told what to do,
// by Run as by Rapid, and the test binary goes on.
func TestFaultyPrograms(t *testing.T) {
	testmain.Slow(t, "it runs programs that make no sense, for long", "./checker/checkertest")
	const name = "/tmp/lock"
	panics := faulty(name, func(t *scenarios.Task) error {
		if _, err := t.Stat(name); err == nil {
			var none []int
			_ = none[len(name)]
		}
		return t.WriteFile(name, nil, 0o644)
	})
	polls := faulty(name, func(t *scenarios.Task) error {
		for {
			if _, err := t.Stat(name); err != nil {
				return t.WriteFile(name, nil, 0o644)
			}
			t.Sleep(time.Millisecond)
		}
	})
	homeless := faulty("/var/lib/app/lock", func(t *scenarios.Task) error { return t.Mkdir("/var/lib/app/lock", 0o755) })
	for _, c := range []struct {
		sc   scenarios.Scenario
		want string
	}{
		{panics, `panics at fault_test\.go:\d+ \(checkertest\.TestFaultyPrograms\.func\d+\): runtime error: index out of range \[9\] with length 0, after its call stat /tmp/lock; .*mend it`},
		{polls, `task [AB] of toy/faulty/contend does not get on: .*stat /tmp/lock, sleep 1ms\. If it polls, mark the loop.*t\.Retry\(\)`},
		{homeless, `make /var/lib/app in Setup`},
	} {
		if race.Detector && strings.Contains(c.want, "polls") {
			t.Log("SKIPPED under the race detector: a program of thousands of calls, which one goroutine makes; go test ./checker/checkertest runs it")
			continue
		}
		got := captured("TestX", func(t *capture) { check(context.Background(), t, &c.sc, c.sc.Claims[0], nil) })
		require.True(t, got.failed)
		require.Regexp(t, c.want, got.log.String())
	}
	got := captured("TestX", func(t *capture) { Rapid(t, panics, scenarios.MutualExclusion) })
	require.Regexp(t, `panics at fault_test\.go:\d+`, got.log.String())
}

// A text that is read or written piece by piece, however many, is no polling.
func TestLongTextsAreNoPolling(t *testing.T) {
	fixtures.OneWorker(t)
	const name = "/tmp/lock"
	sc := faulty(name, func(t *scenarios.Task) error {
		if err := t.Mkdir(name, 0o755); err != nil {
			return err
		}
		f, err := t.Create(fmt.Sprintf("/tmp/log.%d", t.Getpid()))
		for range 1500 {
			_, _ = f.WriteString("x")
		}
		return err
	})
	sc.Setting.Processes = 1
	got := captured("TestX", func(t *capture) { check(context.Background(), t, &sc, sc.Claims[0], nil) })
	require.NotContains(t, got.log.String(), "does not get on")
}

// What hangs without a call is told before the test binary ends; what ends in time is not.
func TestWatch(t *testing.T) {
	told := make(said, 1)
	defer watch(told, time.Now().Add(time.Millisecond), "TestX", "toy/lock/contend")()
	require.Contains(t, <-told, "checkertest: TestX: the time is up, and the program of a task of toy/lock/contend runs on without a call")
	silent := make(said, 1)
	watch(silent, time.Now().Add(time.Hour), "TestX", "toy/lock/contend")()
	time.Sleep(10 * time.Millisecond)
	require.Empty(t, silent)
}

// said hands over what is written.
type said chan string

func (s said) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }
