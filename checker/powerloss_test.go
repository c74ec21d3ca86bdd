package checker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/explain"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Toys whose power may be lost. A runs first and B reads what is left, unless said
// otherwise.

const toyWord = "/word"

// toySave replaces the word by writing a new file and renaming it over the old one.
// syncs says what is synced: "file" before the rename, "dir" after it.
func toySave(syncs string) func(process, task int) scenarios.Program {
	return savedAndRead(func(t *scenarios.Task) {
		f, err := t.OpenFile(toyWord+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return
		}
		_, _ = f.WriteString("new")
		if strings.Contains(syncs, "file") {
			_ = f.Sync()
		}
		_ = f.Close()
		_ = t.Rename2(toyWord+".new", toyWord, 0)
		if strings.Contains(syncs, "dir") {
			d, _ := t.Open("/")
			_ = d.Sync()
			_ = d.Close()
		}
	})
}

// savedAndRead: the word is "old" at first, A saves another, B reads. A register is empty
// at first, so "old" stands for the empty word, and an empty file for "empty".
func savedAndRead(save func(*scenarios.Task)) func(process, task int) scenarios.Program {
	return func(process, _ int) scenarios.Program {
		if process == 1 {
			return func(t *scenarios.Task) {
				scenarios.Record(t, model.Read{}, func() model.ReadValue {
					switch word := toyRead(t, toyWord); word {
					case "old":
						return model.ReadValue{}
					case "":
						return model.ReadValue{Value: "empty"}
					default:
						return model.ReadValue{Value: word}
					}
				})
			}
		}
		return func(t *scenarios.Task) {
			scenarios.Record(t, model.Write{Value: "new"}, func() model.Written {
				save(t)
				return model.Written{}
			})
		}
	}
}

// toyGuarded adds to a set under a lock file, and asks for it after the reboot.
func toyGuarded(sync bool) func(process, task int) scenarios.Program {
	l := toyExcl()
	return func(process, _ int) scenarios.Program {
		if process == 1 {
			return func(t *scenarios.Task) {
				_ = scenarios.Locked(t, l, func() {})
				scenarios.Record(t, model.Contains{Key: "a"}, func() model.Found {
					return model.Found{Yes: toyRead(t, "/set") == "a"}
				})
			}
		}
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, l, func() {
				scenarios.Record(t, model.Add{Key: "a"}, func() model.Added {
					f, _ := t.OpenFile("/set", os.O_WRONLY, 0)
					_, _ = f.WriteString("a")
					if sync {
						_ = f.Sync()
					}
					return model.Added{}
				})
			})
		}
	}
}

// lossToys lists the toys, with what is true of them.
func lossToys() []*scenarios.Scenario {
	reboot := scenarios.Setting{Processes: 2, PowerLosses: 1, Reboot: []int{1}}
	claim := func(p *scenarios.Property, v Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	torn, lost, me, wedge := scenarios.TornRead, scenarios.LostUpdate, scenarios.MutualExclusion, scenarios.Wedge
	save := func(id, syncs string, v Verdict) *scenarios.Scenario {
		sc := programs(id, reboot, toySave(syncs), claim(torn, v))
		sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(toyWord, []byte("old"), 0o644) }
		sc.Watch = []string{toyWord}
		return sc
	}
	guarded := func(id string, sync bool, v Verdict) *scenarios.Scenario {
		sc := programs(id, reboot, toyGuarded(sync), claim(lost, v))
		sc.Claims = append(sc.Claims, claim(me, Holds))
		sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/set", nil, 0o644) }
		return sc
	}
	again := scenarios.Setting{Processes: 3, PowerLosses: 1, Reboot: []int{2}}
	return []*scenarios.Scenario{
		save("toy/save/power", "", Broken),
		save("toy/save-file-synced/power", "file", Broken),
		save("toy/save-dir-synced/power", "dir", Broken),
		save("toy/save-synced/power", "file dir", Holds),
		guarded("toy/guarded/power", false, Broken),
		guarded("toy/guarded-synced/power", true, Holds),
		toy("toy/excl/power", toyExcl(), scenarios.Setting{Processes: 1, PowerLosses: 1}, claim(wedge, Broken), claim(me, Holds)),
		toy("toy/flock/power", toyFlock(), scenarios.Setting{Processes: 1, PowerLosses: 1}, claim(wedge, Holds)),
		toy("toy/excl/reboot", toyExcl(), again, claim(me, Holds), claim(scenarios.ForeignRelease, Holds)),
		toy("toy/stat/reboot", toyStatThenWrite(), again, claim(me, Broken)),
		toy("toy/excl-wait/reboot", toyExclWait(), reboot, claim(me, Holds)),
		toy("toy/excl-wait/power", toyExclWait(), scenarios.Setting{Processes: 1, PowerLosses: 1}, claim(wedge, Broken)),
		programs("toy/flock-twice/reboot", scenarios.Setting{Processes: 3, PowerLosses: 1, Reboot: []int{2}}, toyFlockTwice, claim(scenarios.Deadlock, Broken)),
	}
}

func TestPowerLossVerdicts(t *testing.T) {
	smallest := map[string]string{
		"toy/save/power torn-read":             "A4 *1 B3",
		"toy/save-file-synced/power torn-read": "A5 *1 B3",
		"toy/save-dir-synced/power torn-read":  "A4 *1 B3",
		"toy/guarded/power lost-update":        "A3 *1 B4",
		"toy/excl/power wedge":                 "A1 *0",
		"toy/excl-wait/power wedge":            "A1 *0",
		"toy/stat/reboot mutual-exclusion":     "A1 B4 A3",
		"toy/flock-twice/reboot deadlock":      "A3 B4 A1",
	}
	for _, sc := range lossToys() {
		for _, c := range sc.Claims {
			id := sc.ID + " " + c.Property.ID
			t.Run(id, func(t *testing.T) {
				r, err := Check(context.Background(), sc, c.Property, Options{Workers: 1})
				require.NoError(t, err)
				require.Equal(t, c.Verdict, r.Verdict, r.Why)
				if c.Verdict != Broken {
					require.Empty(t, smallest[id])
					return
				}
				require.Equal(t, smallest[id], r.Counterexample.Schedule.String())
				again, err := Replay(sc, c.Property, r.Counterexample.Schedule)
				require.NoError(t, err)
				require.True(t, again.Broken)
			})
		}
	}
}

func TestEnginesAgreeOnPowerLoss(t *testing.T) {
	for _, sc := range lossToys() {
		for _, c := range sc.Claims {
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				if c.Property.Judgement() == scenarios.ByHistory {
					crossCheck(t, sc, c.Property, 10_000, 300)
				} else {
					crossVerdict(t, sc, c.Property, 10_000)
				}
			})
		}
	}
}

func TestLockstepOnPowerLoss(t *testing.T) {
	for _, sc := range lossToys() {
		for _, p := range lockstepProperties(sc) {
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, *sc, p, 1000) })
		}
		t.Run(sc.ID+"/with crashes", func(t *testing.T) {
			more := *sc
			more.Setting.Crashes++
			lockstepRuns(t, more, sc.Claims[0].Property, 1000)
		})
	}
}

// The trace of the empty file after a rename, step by step.
func TestPowerLossTrace(t *testing.T) {
	sc := lossToys()[0]
	s, err := sched.ParseSchedule("A4 *1 B3")
	require.NoError(t, err)
	r, err := Replay(sc, scenarios.TornRead, s)
	require.NoError(t, err)
	var b strings.Builder
	for _, st := range trace.NewWalk(sc, r.Counterexample.Trace).Steps {
		fmt.Fprintf(&b, "%d %s", st.N, st.Choice)
		for _, c := range st.Calls {
			fmt.Fprintf(&b, " %s", c.Op)
		}
		fmt.Fprintf(&b, ": %s %q, %d running\n", toyWord, st.After.Files[0].Content, len(st.After.Procs))
	}
	for _, op := range r.Counterexample.History {
		fmt.Fprintf(&b, "%d: %v %v\n", op.ClientId, op.Input, op.Output)
	}
	require.Equal(t, cut(`
		1 A1 open /word.new O_WRONLY|O_CREAT|O_EXCL: /word "old", 1 running
		2 A1 write fd 3 "new": /word "old", 1 running
		3 A1 close fd 3: /word "old", 1 running
		4 A1 rename /word.new /word: /word "new", 1 running
		5 *1: /word "", 1 running
		6 B1 open /word: /word "", 1 running
		7 B1 read fd 3: /word "", 1 running
		8 B1 close fd 3: /word "", 1 running
		0: write("new") written
		2: crash(A) dead
		1: read "empty"
	`), b.String())
	require.Equal(t, trace.Cost{Crashes: 1, Steps: 7}, r.Counterexample.Cost)
	require.Equal(t, "The power was lost at step 5, before all was synced: word (inode 2) was empty after that.", explain.Cause(sc, r.Counterexample))

	_, err = Replay(sc, scenarios.TornRead, append(s[:4:4], sched.Choice{Action: sched.PowerLoss, State: 5}))
	require.ErrorContains(t, err, "step 5 of the schedule (*5) cannot happen: the disk has 5 legal states then")
	_, err = Replay(sc, scenarios.TornRead, sched.Schedule{{Action: sched.Run, Task: sched.Task{Process: 1, N: 1}}})
	require.ErrorContains(t, err, "cannot happen")
}

func cut(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(text, "\n\t"), "\t", "")
}

func TestPowerLossSettings(t *testing.T) {
	for want, st := range map[string]scenarios.Setting{
		"power-losses 2: choose 0 to 1":      {Processes: 2, PowerLosses: 2},
		"PowerLosses is 0":                   {Processes: 2, Reboot: []int{1}},
		"nobody runs before":                 {Processes: 1, PowerLosses: 1, Reboot: []int{0}},
		"process number 2, which is out":     {Processes: 2, PowerLosses: 1, Reboot: []int{2}},
		"process number 1, which is out of ": {Processes: 3, PowerLosses: 1, Reboot: []int{1, 1}},
	} {
		require.ErrorContains(t, toy("toy/excl/bad", toyExcl(), st).Validate(), want)
	}
	sc := lossToys()[0]
	_, err := sc.WithProcesses(3)
	require.Error(t, err)
	m := sc.NewMachine()
	require.Equal(t, []int{1, 101}, m.Pids())
	sc.LosePower(m, 0)
	require.Equal(t, []int{1, 102}, m.Pids())
}
