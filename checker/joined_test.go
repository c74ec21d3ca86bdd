package checker

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// A memory is what somebody who polls remembers of the rounds before.
type memory struct{ rounds, empty, gone int }

// stealing is a lock file with the owner's name in it. Whoever finds it there looks at it, and sleeps; what he then
// does may depend on what he remembers. steals says that he removes the file. He gives up after so many attempts, each after a
// longer sleep than the one before; 0 is never.
func stealing(attempts int, steals func(t *scenarios.Task, m *memory, text string) bool) scenarios.Protocol {
	const lock = "/tmp/lock"
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for m := (memory{}); attempts == 0 || m.rounds < attempts; m.rounds++ {
				f, err := t.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err == nil {
					_, err = f.WriteString("me")
					return scenarios.Hold{}, errors.Join(err, f.Close())
				}
				_, _ = t.Stat(lock)
				text, err := t.ReadFile(lock)
				if errors.Is(err, fs.ErrNotExist) {
					text = []byte("gone")
				}
				if steals(t, &m, string(text)) {
					_ = t.Unlink(lock)
				}
				switch string(text) {
				case "":
					m.empty++
				case "gone":
					m.gone++
				}
				t.Sleep(time.Second * time.Duration(1+min(m.rounds, attempts)))
			}
			return scenarios.Hold{}, scenarios.ErrLocked
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

// Rounds of polling that carry nothing over are one place, and so are those that would do so only in an order in which
// they never come. What a program does remember is noticed, and followed.
func TestJoinedRounds(t *testing.T) {
	fixtures.OneWorker(t)
	never := func(*scenarios.Task, *memory, string) bool { return false }
	for name, c := range map[string]struct {
		steals  func(t *scenarios.Task, m *memory, text string) bool
		verdict Verdict
		joined  bool
	}{
		"nothing": {never, Holds, true},
		"what comes only once": {func(t *scenarios.Task, m *memory, text string) bool {
			if text == "gone" && m.gone > 0 {
				_, _ = t.Stat("/tmp")
			}
			return false
		}, Holds, true},
		"the round before": {func(_ *scenarios.Task, m *memory, text string) bool {
			was := m.empty
			m.empty = 0
			return was > 0 && text == "me"
		}, Broken, false},
		"any round before": {func(_ *scenarios.Task, m *memory, text string) bool {
			return m.rounds > 1 && m.empty > 0 && text == "me"
		}, Broken, false},
		"the first round": {func(_ *scenarios.Task, m *memory, text string) bool {
			return m.rounds > 2 && m.empty > 0 && text == "me"
		}, Broken, false},
		"how many, and nobody follows it so far": {func(t *scenarios.Task, m *memory, text string) bool {
			return m.rounds > 20 && text == "me"
		}, Unknown, false},
		"how many, in vain": {func(t *scenarios.Task, m *memory, text string) bool {
			if m.rounds == 2 {
				_, _ = t.Stat("/tmp")
			}
			return false
		}, Holds, false},
		"how many of one kind, in vain": {func(t *scenarios.Task, m *memory, _ string) bool {
			if m.empty == 20 {
				_, _ = t.Stat("/tmp")
			}
			return false
		}, Holds, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := external(stealing(0, c.steals), true)
			joined, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Workers: 1, SkipOdds: true, changes: changes{executions: 1}})
			if c.verdict == Unknown {
				require.ErrorContains(t, err, "carries something over")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.verdict, joined.Verdict, joined.Why)
			require.Equal(t, c.joined, joined.looks.Joined)
			for _, clean := range []bool{false, true} {
				require.Equal(t, c.joined, joins(t, sc, clean), "only while nothing has changed: %v", clean)
			}
			whole, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Workers: 1, SkipOdds: true, changes: changes{executions: 1e9}})
			require.NoError(t, err)
			require.Equal(t, c.verdict, whole.Verdict, whole.Why)
			if c.joined {
				require.Less(t, 2*joined.Stats.States, whole.Stats.States)
				require.Contains(t, joined.Conditions(), "assumes that a program that polls forgets what it saw when it sleeps, as it did wherever that was tried out")
				return
			}
			require.Equal(t, whole.Stats.States, joined.Stats.States)
			require.NotContains(t, joined.Conditions(), "forgets")
			if c.verdict == Broken {
				require.Equal(t, whole.Counterexample.Schedule, joined.Counterexample.Schedule)
			}
		})
	}
}

// joins reports whether one attempt with rounds of polling joined is accepted.
func joins(t *testing.T, sc *scenarios.Scenario, clean bool) bool {
	tester, err := search.NewTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	g := &decision{t: tester, o: Options{Workers: 1, Tried: &Tried{}}, space: &space{}}
	defer func() { g.keep(nil, nil) }()
	a := attempt{memory: RememberHistories, limits: search.Limits{Workers: 1, Executions: 1}}
	_, err = g.make(t.Context(), &a)
	require.NoError(t, err)
	a.joined, a.clean, a.limits.Executions = true, clean, 0
	why, err := g.make(t.Context(), &a)
	return err == nil && why == ""
}

// Programs that sleep longer after each attempt have a top for each, and what they remember shows attempts later.
func TestJoinedAttempts(t *testing.T) {
	fixtures.OneWorker(t)
	for name, c := range map[string]struct {
		steals  func(t *scenarios.Task, m *memory, text string) bool
		verdict Verdict
	}{
		"nothing": {func(*scenarios.Task, *memory, string) bool { return false }, Holds},
		"the attempt before": {func(_ *scenarios.Task, m *memory, text string) bool {
			return m.rounds == 2 && m.empty == 2 && text == "me"
		}, Broken},
		"an attempt long ago": {func(_ *scenarios.Task, m *memory, text string) bool {
			return m.rounds == 2 && m.empty == 1 && text == "me"
		}, Broken},
		"no attempt": {func(_ *scenarios.Task, m *memory, text string) bool { return m.rounds == 2 && text == "me" }, Broken},
	} {
		t.Run(name, func(t *testing.T) {
			sc := external(stealing(4, c.steals), true)
			joined, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Workers: 1, SkipOdds: true, changes: changes{executions: 1}})
			require.NoError(t, err)
			require.Equal(t, c.verdict, joined.Verdict, joined.Why)
			require.Equal(t, c.verdict == Holds, joined.looks.Joined)
		})
	}
}
