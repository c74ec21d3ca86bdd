package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Commands that may be killed at any call: what they leave behind, and whether one more run of the
// command gets through.
func TestKills(t *testing.T) {
	bin := compiled(t, "gcc", "kill.c")
	for _, c := range []struct {
		how, lock string // lock: what is there at the start
		verdicts  map[string]string
	}{
		{"flock", "lock", map[string]string{"serializable": "holds", "deadlock": "holds", "wedge": "holds"}},
		{"excl", "", map[string]string{"serializable": "holds", "deadlock": "holds", "wedge": "broken"}},
		{"stale", "", map[string]string{"serializable": "unknown", "deadlock": "unknown", "wedge": "unknown"}}, // by age
		{"polls", "", map[string]string{"wedge": "broken"}},                                                    // while those live that whoever polls has started
		{"none", "", map[string]string{"serializable": "broken"}},
	} {
		t.Run(c.how, func(t *testing.T) {
			if c.how == "polls" {
				testmain.Slow(t, "it starts many processes", "./scenarios/command")
			}
			t.Parallel()
			files := map[string]string{"n": "0\n"}
			if c.lock != "" {
				files[c.lock] = ""
			}
			sc := scenario(t, "gcc", twice(bin+" "+c.how), files, "crashes 1\nrefused 1")
			for id, want := range c.verdicts {
				p, err := scenarios.FindProperty(id, sc)
				require.NoError(t, err)
				decide(t, sc, p, want)
			}
		})
	}
}

// What a killed command leaves behind may be more than half done, in some order; here it loses
// what the other has counted, which needs no kill.
func TestKilledIsCutOff(t *testing.T) {
	bin := compiled(t, "gcc", "kill.c")
	sc := scenario(t, "gcc", twice(bin+" none"), map[string]string{"n": "0\n"}, "crashes 1")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	for schedule, want := range map[string]bool{
		"A2! B4":    false, // it has read: as if it had not run
		"A3! B4":    false, // it has written: as if it had been killed at the end
		"A2 B4 A2":  true,
		"A2 B4 A!":  false, // before it writes over what B has counted
		"A2 B4 A1!": false, // after that: as if it had not run
	} {
		plan, err := sched.ParseSchedule(schedule)
		require.NoError(t, err)
		ran, err := checker.Replay(&sc, p, plan)
		require.NoError(t, err, schedule)
		require.Equal(t, want, ran.Broken, schedule)
	}
}

// A command whose first process is killed goes on in the others, with what they have open: a lock
// that a child has inherited outlives the parent, one that only the parent has does not. Where the group is killed,
// both die. What a command has left behind when it ended is not killed, and no serial order has it cut off.
func TestKilledParent(t *testing.T) {
	bin := compiled(t, "gcc", "family.c")
	for _, c := range []struct{ how, kill, serializable string }{
		{"inherit", "process", "holds"}, {"own", "process", "broken"}, {"own", "group", "holds"},
		{"behind", "process", "broken"}, {"behind", "group", "broken"}, // without a kill, too
	} {
		t.Run(c.how+" "+c.kill, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.how+" "+c.kill, "./scenarios/command", "inherit process", "own process", "own group")
			sc := scenario(t, "gcc", []string{bin + " " + c.how + " 1", bin + " " + c.how + " 10"},
				map[string]string{"n": "0\n", "lock": ""}, "crashes 1\nkill "+c.kill)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.serializable)
			decide(t, sc, scenarios.Deadlock, "holds")
		})
	}
}
