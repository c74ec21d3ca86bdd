package checker

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// byNumber is a takeover that compares a lock by its inode number alone, with nothing open:
// whoever finds a stale lock at two looks removes it. A lock that somebody else has put
// there in between has the same number where numbers come back.
func byNumber(t *scenarios.Task) (scenarios.Hold, error) {
	const old = "/lock.old"
	judged, err := t.Stat("/lock")
	if err == nil {
		if text, err := t.ReadFile("/lock"); err == nil && string(text) == "dead" {
			if now, err := t.Stat("/lock"); err == nil && fsfake.SameFile(judged, now) {
				_ = t.Rename("/lock", old)
				is, err := t.Stat(old)
				if err == nil && !fsfake.SameFile(judged, is) {
					_ = t.Link(old, "/lock") // not the one judged: it goes back
				}
				_ = t.Unlink(old)
			}
		}
	}
	return create(t)
}

func create(t *scenarios.Task) (scenarios.Hold, error) {
	f, err := t.OpenFile("/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{}, f.Close()
}

// byTime is a cache that is believed as long as the file's time is the one remembered:
// lost-update is broken by a change that does not show.
func byTime(t *scenarios.Task) {
	scenarios.Record(t, "read", func() bool {
		before, err := t.Stat("/state")
		if err != nil {
			return false
		}
		text, _ := t.ReadFile("/state")
		after, err := t.Stat("/state")
		if err == nil && before.ModTime().Equal(after.ModTime()) {
			now, _ := t.ReadFile("/state")
			again, err := t.Stat("/state")
			if err == nil && again.ModTime().Equal(after.ModTime()) {
				t.Assert(string(now) == string(text), "the file is as it was while its time is")
			}
		}
		return true
	})
}

// looking is a scenario with one property that may depend on what is looked at.
func looking(name string, p *scenarios.Property, v scenarios.Verdict, where scenarios.Assumptions, programs ...scenarios.Program) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "toy/" + name + "/cases", Setting: scenarios.Setting{Processes: len(programs), Fixed: true},
		Setup: func(m *fsfake.Machine) {
			_ = m.Proc(1).WriteFile("/lock", []byte("dead"), 0o666)
			_ = m.Proc(1).WriteFile("/state", []byte("0"), 0o666)
			_ = m.Proc(1).Chmod("/state", 0o666)
		},
		Program: func(process, _ int) scenarios.Program { return programs[process] },
		Claims:  []scenarios.Claim{{Property: p, Verdict: v, Where: where}},
	}
}

func takeover(t *scenarios.Task) {
	_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) { return byNumber(t) })
}

func write(text string) scenarios.Program {
	return func(t *scenarios.Task) {
		if f, err := t.OpenFile("/state", os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteAt([]byte(text), 0)
		}
	}
}

var (
	reused = scenarios.Assumptions{Inodes: scenarios.InodesReused}
	shared = scenarios.Assumptions{Times: scenarios.TimesShared}
)

func numbers() *scenarios.Scenario {
	return looking("by-number", scenarios.MutualExclusion, Broken, reused, takeover, takeover)
}

func stamps() *scenarios.Scenario {
	return looking("by-time", scenarios.Assertion, Broken, shared, byTime, write("1"))
}

// Cases of processes that are taken for each other are explored so at once, where the space was not small before it was
// known that there are cases; each says what it says otherwise.
func TestCasesUpToSymmetry(t *testing.T) {
	fixtures.OnlyAnswers(t)
	whole, err := Check(t.Context(), numbers(), scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	alike := numbers()
	alike.Setting.Interchangeable = true
	less, err := Check(t.Context(), alike, scenarios.MutualExclusion, Options{changes: changes{monitors: 50}})
	require.NoError(t, err)
	require.Equal(t, "inodes-not-reused holds, inodes-reused broken", casesText(&less))
	require.Equal(t, whole.Counterexample.Schedule.String(), less.Counterexample.Schedule.String())
	require.True(t, less.Stats.Symmetry)
	require.Less(t, less.Stats.States, whole.Stats.States)
}

// A verdict says what it depends on, where a program looks at inode numbers or file times.
// Before, numbers never came back and changes shared a time, and nothing was said.
func TestVerdictsDependOnWhatIsLookedAt(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for _, c := range []struct {
		sc       *scenarios.Scenario
		depends  string
		verdicts string
	}{
		{numbers(), "broken where inode numbers are reused (ext4, xfs; not tmpfs, btrfs)", "inodes-not-reused holds, inodes-reused broken"},
		{stamps(), "holds if a change after a look always shows in the time stamp (Linux ≥ 6.13; before that not within 4 ms)", "times-shared broken, times-show holds"},
	} {
		engines := []oracle{nil}
		if c.sc.Claims[0].Property == scenarios.Assertion { // the other has too many schedules
			engines = append(engines, reference)
		}
		for _, engine := range engines {
			p := c.sc.Claims[0].Property
			r, err := Check(t.Context(), c.sc, p, Options{oracle: engine})
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict, c.sc.ID)
			require.Equal(t, []string{c.depends}, r.Conditions())
			require.False(t, r.Unconditional())
			require.Equal(t, c.verdicts, casesText(&r))
			require.True(t, r.AsClaimed())

			// The counterexample belongs to a case, and its setting says to which.
			require.NotEqual(t, scenarios.Assumptions{}, r.Scenario.Setting.Assume)
			ran, err := Replay(r.Scenario, p, r.Counterexample.Schedule)
			require.NoError(t, err)
			require.True(t, ran.Broken)

			// A claim that forgets the condition, or names another, is not met.
			for _, where := range []scenarios.Assumptions{{}, {Inodes: scenarios.InodesNotReused}, {Times: scenarios.TimesShow}} {
				wrong := *c.sc
				wrong.Claims = []scenarios.Claim{{Property: p, Verdict: Broken, Where: where}}
				r, err := Check(t.Context(), &wrong, p, Options{oracle: engine})
				require.NoError(t, err)
				require.False(t, r.AsClaimed(), where.String())
			}
		}
	}
}

func casesText(r *Result) string {
	var words []string
	for _, c := range r.Cases {
		words = append(words, c.Assume.String()+" "+c.Verdict.String())
	}
	return strings.Join(words, ", ")
}

// What is assumed is not explored otherwise.
func TestAssumeFixesACase(t *testing.T) {
	for sc, want := range map[*scenarios.Scenario]map[string]Verdict{
		numbers(): {"inodes-reused": Broken, "inodes-not-reused": Holds},
		stamps():  {"times-shared": Broken, "times-show": Holds, "times-show,inodes-reused": Holds},
	} {
		for text, verdict := range want {
			a, err := scenarios.ParseAssumptions(text)
			require.NoError(t, err)
			st := sc.Setting
			st.Assume = a
			in, err := sc.In(st)
			require.NoError(t, err)
			r, err := Check(t.Context(), &in, sc.Claims[0].Property, Options{})
			require.NoError(t, err)
			require.Equal(t, verdict, r.Verdict, "%s %s", sc.ID, text)
			require.Empty(t, r.Cases)
			require.True(t, r.AsClaimed(), text)
		}
	}
}

// Where both are looked at there are four cases; and what only one case leads to is
// noticed.
func TestCasesAreTheProductOfWhatIsLookedAt(t *testing.T) {
	sc := looking("both", scenarios.Assertion, Broken, scenarios.Assumptions{Inodes: scenarios.InodesReused, Times: scenarios.TimesShared},
		func(t *scenarios.Task) {
			before, err := t.Stat("/lock")
			if err != nil {
				return
			}
			after, err := t.Stat("/lock")
			if err != nil || !fsfake.SameFile(before, after) { // the times are looked at only then
				return
			}
			same := before.ModTime().Equal(after.ModTime())
			text, err := t.ReadFile("/lock")
			t.Assert(!same || err != nil || string(text) == "dead", "the same number and time are the same file")
		},
		func(t *scenarios.Task) {
			_ = t.Unlink("/lock")
			_ = t.WriteFile("/lock", []byte("new"), 0o600)
			_, _ = t.Stat("/lock")
		})
	r, err := Check(t.Context(), sc, scenarios.Assertion, Options{})
	require.NoError(t, err)
	require.Len(t, r.Cases, 4)
	require.NotEmpty(t, r.Conditions())
}

// A program that does not look has no cases, whatever its calls show it.
func TestNobodyLooksNothingDepends(t *testing.T) {
	sc := looking("size", scenarios.MutualExclusion, Broken, scenarios.Assumptions{}, func(t *scenarios.Task) {
		_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) {
			if fi, err := t.Stat("/lock"); err == nil && fi.Size() > 0 {
				_ = t.Unlink("/lock")
			}
			return create(t)
		})
	}, takeoverBySize)
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Empty(t, r.Cases)
	require.Empty(t, r.Conditions())
	require.True(t, r.AsClaimed())
}

func takeoverBySize(t *scenarios.Task) {
	_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) {
		if fi, err := t.Stat("/lock"); err == nil && fi.Size() > 0 {
			_ = t.Unlink("/lock")
		}
		return create(t)
	})
}

// Who reads the clock where it stands still is told what that assumes.
func TestReadingTheClockAssumesThatNobodyIsDelayed(t *testing.T) {
	polite := func(t *scenarios.Task) {
		_, _ = t.Acquire("/new", func() (scenarios.Hold, error) {
			start := t.Now()
			f, err := t.OpenFile("/new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil && t.Now().Sub(start) > time.Minute {
				_ = t.Unlink("/new")
				f, err = t.OpenFile("/new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			}
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{}, f.Close()
		})
	}
	sc := looking("clock", scenarios.MutualExclusion, Holds, scenarios.Assumptions{}, polite, polite)
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.Equal(t, []string{"assumes that nobody is delayed: the clock is read, and no stall is allowed"}, r.Conditions())
	sc.Setting.Stalls, sc.Setting.StallFor = 1, time.Hour
	r, err = Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	require.Empty(t, r.Conditions())
}

// A schedule of a case that is not assumed drifts or breaks nothing: it is not taken for one
// of another file system.
func TestCounterexamplesBelongToTheirCase(t *testing.T) {
	sc := numbers()
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	st := sc.Setting
	st.Assume = scenarios.Assumptions{Inodes: scenarios.InodesNotReused}
	in, err := sc.In(st)
	require.NoError(t, err)
	ran, err := Replay(&in, scenarios.MutualExclusion, r.Counterexample.Schedule)
	if err != nil {
		var drift *sched.DriftError
		require.ErrorAs(t, err, &drift)
	}
	require.False(t, ran.Broken)
}

// A result that came with an error says nothing of a scenario, and can be asked all the same.
func TestConditionsOfNoResult(t *testing.T) {
	r, err := Check(t.Context(), &scenarios.Scenario{}, scenarios.MutualExclusion, Options{})
	require.Error(t, err)
	require.Empty(t, r.Conditions())
}
