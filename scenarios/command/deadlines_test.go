package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// Of the sleeps and timeouts of one command the one that is over first ends first, as it does natively; those that are
// over at one time do so in both orders. Before, a timeout of a minute ended before a child had slept for a second, and
// correct commands were broken.
func TestDeadlines(t *testing.T) {
	const selects = `import os, select, time
r, w = os.pipe()
if os.fork() == 0:
    time.sleep(1); os.write(w, b'x'); os._exit(0)
if not select.select([r], [], [], 60)[0]: raise SystemExit(1)
os.wait(); open('f', 'a').write('x')`
	for _, c := range []struct{ name, needs, line, other, verdict string }{
		{"timeout outside", "timeout", "timeout 60 sh -c 'sleep 1; echo x >> f'", "", "holds"},
		{"timeout inside", "timeout",
			"timeout 60 timeout 1 sleep 5; [ $? = 124 ] && echo x >> f", "echo y >> f", "holds"},
		{"timeout that comes", "timeout",
			"timeout 1 sh -c 'sleep 5; echo late >> f'; [ $? = 124 ] && echo x >> f", "echo y >> f", "holds"},
		{"timeout beside a lock", "flock",
			"timeout 60 flock -w 5 -E 5 l true; [ $? != 124 ] && echo x >> f", "flock l sleep 1", "holds"},
		{"timeout of a lock", "flock", "exec 9>l; timeout 5 flock 9 || exit 1; echo x >> f", "flock l true", "broken"},
		{"timeout of a lock that is not needed", "flock", "exec 9>l; timeout 5 flock 9; echo x >> f", "flock l true",
			"holds"},
		// No timer goes off when it runs alone, so that nobody is killed then who has a child.
		{"timeout of a lock in a lock", "flock", "timeout 3 flock a flock b true; :", "exec flock b true", "holds"},
		{"timeout of a loop", "perl",
			`timeout 3 perl -e 'select undef, undef, undef, 2 until -e "d"'; [ $? = 124 ] && echo x >> f`,
			"echo y >> f", "holds"},
		{"timeout of a long loop", "perl",
			`timeout 999 perl -e 'select undef, undef, undef, 1 until -e "d"'; echo x >> f`, "echo y >> f", "unknown"},
		{"read -t", "bash", `bash -c 'read -t 60 x < <(sleep 1; echo y) && echo $x >> f'`, "echo y >> f", "holds"},
		{"the later child is first", "sh",
			"(sleep 2; mv a b) & (sleep 1; mkdir a) & wait; [ -d b ] && echo x >> f", "cat f", "holds"},
		{"equal deadlines", "sh", "sleep 1 & sleep 1; cat f > g; wait", "cp f h", "holds"},
		{"select in python", "python3", "python3 -c \"" + selects + "\"", "", "holds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.name, "./scenarios/command", "timeout outside", "timeout of a lock",
				"timeout of a lock that is not needed", "timeout of a long loop", "the later child is first",
				"select in python")
			lines := twice(c.line)
			if c.other != "" {
				lines[1] = c.other
			}
			sc := scenario(t, c.needs, lines, map[string]string{"f": "1\n"}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// Two children wait for a lock beside each other, each for five seconds at most. A child that gives up leaves its work
// undone, and the lock is to be had alone.
func TestTimersBesideLocks(t *testing.T) {
	testmain.OnlyLong(t, "it executes hundreds of orders", "./scenarios/command")
	const child = "(flock -w 5 9 && echo x >> f) 9>l & "
	for _, c := range []struct{ other, verdict string }{{"flock l true", "broken"}, {"flock f true", "holds"}} {
		t.Run(c.other, func(t *testing.T) {
			t.Parallel()
			lines := []string{child + child + "wait", c.other}
			sc := scenario(t, "flock", lines, map[string]string{"f": ""}, "refused none")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// The timer of flock -w goes off where its process waits, and nobody sees when its children begin or end.
func TestTimerOfALock(t *testing.T) {
	for _, refused := range []string{"1", "none"} {
		sc := scenario(t, "flock", twice("exec 9>l; flock -w 5 9 || exit 1; v=$(cat f); echo x$v >f"),
			map[string]string{"f": "1\n"}, "refused "+refused)
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		decide(t, sc, p, map[string]string{"1": "holds", "none": "broken"}[refused])
	}
}

// Where two sleeps end at one time, what follows each of them happens in every order.
func TestCallsAfterEqualDeadlines(t *testing.T) {
	testmain.OneWorker(t)
	testmain.Needs(t, "sh", "./scenarios/command")
	ends, _, err := command.Ends(command.Spec{Commands: []command.Line{{
		Shell: "{ sleep 1; : >a; [ ! -e b ] || : >ab; } & " +
			"sleep 1; : >b; [ ! -e a ] || : >ba; wait"}}}, false, false)
	needTracing(t, err)
	require.NoError(t, err)
	require.Len(t, ends, 3, "a sees b, b sees a, or each sees the other")
}

// A signal for a group of processes is a step, so that a process of the group may go on until it comes.
func TestGroupKillIsAStep(t *testing.T) {
	testmain.OneWorker(t)
	testmain.Needs(t, "sh", "./scenarios/command")
	ends, _, err := command.Ends(command.Spec{Commands: []command.Line{{
		Shell: "trap '' TERM; (trap - TERM; [ ! -e go ] || : >a) & : >go; kill -TERM 0; wait; :"}}}, false, false)
	needTracing(t, err)
	require.NoError(t, err)
	require.Len(t, ends, 2, "the child sees go and makes a, or not")
}
