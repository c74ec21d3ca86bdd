package site

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// stepped replays a schedule of a toy and returns what the page would show.
func stepped(t *testing.T, sc *scenarios.Scenario, schedule string) *player {
	t.Helper()
	s, err := sched.ParseSchedule(schedule)
	require.NoError(t, err)
	r, err := checker.Replay(sc, scenarios.MutualExclusion, s)
	require.NoError(t, err)
	return newPlayer(r.Counterexample, report.NewChart(sc, r.Counterexample))
}

// unlinker flocks a file, takes its name away and keeps it open.
func unlinker() *scenarios.Scenario {
	sc := toys.All()[0]
	sc.Setting = scenarios.Setting{Processes: 2, Crashes: 1, Stalls: 1, StallFor: 90e9}
	held := fsfake.Cell[int]{Name: "held"}
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			f, err := t.OpenFile(toys.Lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return
			}
			_ = f.Flock(fsfake.LOCK_EX)
			held.Store(t.Proc, 7)
			_ = t.Unlink(toys.Lock)
			t.Work()
		}
	}
	return &sc
}

func TestStatesShowTheMachine(t *testing.T) {
	p := stepped(t, unlinker(), "A2 B2 ~ A2 A!")
	require.Len(t, p.States, 9)

	first := p.States[0]
	require.False(t, first.Files[0].Exists)
	require.Empty(t, first.FDs)
	require.Equal(t, "+0s", first.Clock)
	require.Equal(t, "Nobody holds the lock", first.HoldersText())

	locked := p.States[2]
	require.Equal(t, text{"#1", false}, locked.Files[0].Inode)
	require.Equal(t, text{"flock exclusive A fd 3", true}, locked.Files[0].Locked)
	require.Equal(t, "exclusive", locked.FDs[0].Lock)
	require.True(t, locked.FDs[0].New)

	waits := p.States[4]
	require.Equal(t, "A fd 3, B fd 3", waits.Files[0].Openers.Text)
	require.Len(t, waits.FDs, 2)
	require.Equal(t, "waits", p.Steps[3].Cells[1].Calls[0].Answer)

	require.Equal(t, "+1m30s", p.States[5].Clock)
	require.Contains(t, p.Steps[4].Clock, "1m30s")
	require.Equal(t, []memory{{"A", "held", text{"7", true}}}, p.States[6].Cells)

	unlinked := p.States[7]
	require.False(t, unlinked.Files[0].Exists)
	require.True(t, unlinked.FDs[0].Unnamed)
	require.Equal(t, "#1", unlinked.FDs[0].Inode, "the inode goes on under the number that it had")

	killed := p.States[8]
	require.Equal(t, []processEnd{{"A", "killed"}}, killed.Gone)
	require.Len(t, killed.FDs, 1)
	require.Equal(t, "B", killed.FDs[0].Owner)
	require.True(t, p.Steps[7].Fault)
}

func TestEveryStepIsSaid(t *testing.T) {
	r := resultOf(t, "toy/look/contend", scenarios.MutualExclusion)
	chart := report.NewChart(r.Scenario, r.Counterexample)
	p := newPlayer(r.Counterexample, chart)
	for i, s := range p.Steps {
		require.Equal(t, i+1, s.N)
		require.Contains(t, s.Say, " the lock.")
		require.Equal(t, i == len(p.Steps)-1, s.Wrong)
	}
	last := p.Steps[len(p.Steps)-1]
	require.Contains(t, last.Say, "A and B both hold the lock. Broken here")
	require.True(t, p.States[len(p.Steps)].Clash)
}

// What a wedge or a deadlock leaves is marked at its last step, with who waits for what.
func TestEndsAreMarked(t *testing.T) {
	for _, c := range []struct {
		id       string
		property *scenarios.Property
	}{{"toy/excl/crash", scenarios.Wedge}, {"toy/abba/contend", scenarios.Deadlock}} {
		r := resultOf(t, c.id, c.property)
		chart := report.NewChart(r.Scenario, r.Counterexample)
		p := newPlayer(r.Counterexample, chart)
		last := p.Steps[len(p.Steps)-1]
		require.True(t, last.Wrong)
		require.NotEmpty(t, p.States[len(p.Steps)].Wrong)
		require.Contains(t, last.Say, "Broken here: ")
	}
}
