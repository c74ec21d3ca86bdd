package checker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// exclusively is an acquisition by O_EXCL: a try.
func exclusively(t *scenarios.Task, path string) error {
	_, err := t.Acquire(path, func() (scenarios.Hold, error) {
		f, err := t.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
		return scenarios.Hold{File: f}, err
	})
	return err
}

// takers is a scenario in which each takes some locks.
func takers(p *scenarios.Property, paths ...[]string) *scenarios.Scenario {
	sc := fixtures.Programs("toy/two-locks/contend", scenarios.Setting{Processes: len(paths)}, func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			for _, path := range paths[process] {
				if exclusively(t, path) != nil {
					return
				}
			}
			t.Work()
		}
	}, scenarios.Claim{Property: p, Verdict: Holds})
	sc.Watch = []string{"/x", "/y"}
	return sc
}

// A way is one in which a scenario is decided.
type way struct {
	name string
	o    Options
}

// engines are those that decide a property, each by default. Under the race detector the reference engine is
// left out: it is one goroutine.
func engines(t *testing.T) []oracle {
	t.Helper()
	if race.Detector {
		t.Log("SKIPPED under the race detector: the reference engine, which is one goroutine; go test ./checker asks it")
		return []oracle{nil}
	}
	return []oracle{nil, reference}
}

// ways are the ways in which a property is decided; the reference engine may not come to an end. Under the
// race detector those are left out in which one goroutine does everything.
func ways(t *testing.T, p *scenarios.Property) []way {
	t.Helper()
	all := 1000
	out := []way{{"graph", Options{}}, {"monitors", Options{Memory: RememberMonitors}}}
	if race.Detector {
		t.Log("SKIPPED under the race detector: the reference engine and bounded preemptions, which are one goroutine each; go test ./checker asks them")
		return out
	}
	if !p.OfCycles() {
		out = append(out, way{"reference", Options{oracle: referenceOf(300)}})
	}
	if p.Question == scenarios.NoQuestion { // whether somebody goes on in vain has no such bound
		out = append(out, way{"preemptions", Options{Preemptions: &all}})
	}
	return out
}

// Every toy with several locks is decided by every engine as it is claimed to be, with the same
// smallest counterexample.
func TestSeveralLocks(t *testing.T) {
	testmain.Slow(t, "it asks every engine about several locks", "./checker")
	fixtures.OnlyAnswers(t)
	t.Parallel()
	for _, sc := range toys.Locks() {
		for _, c := range sc.Claims {
			t.Run(sc.ID+" "+c.Property.ID, func(t *testing.T) {
				var smallest sched.Schedule
				for _, w := range ways(t, c.Property) {
					r, err := Check(t.Context(), &sc, c.Property, w.o)
					require.NoError(t, err, w.name)
					if w.o.oracle != nil && (r.Verdict == Unknown || c.Verdict == Broken) {
						continue
					}
					require.Equal(t, c.Verdict, r.Verdict, w.name)
					if r.Counterexample == nil {
						continue
					}
					if smallest == nil {
						smallest = r.Counterexample.Schedule
					}
					require.Equal(t, smallest, r.Counterexample.Schedule, w.name)
				}
			})
		}
	}
}

// A's lock is not B's, and where nobody but one task ever acquires a lock there is no evidence.
func TestLocksOfTheirOwn(t *testing.T) {
	sc := takers(scenarios.MutualExclusion, []string{"/x"}, []string{"/y"})
	for _, w := range ways(t, scenarios.MutualExclusion) {
		_, err := Check(t.Context(), sc, scenarios.MutualExclusion, w.o)
		require.ErrorIs(t, err, ErrNothingToJudge, w.name)
		require.EqualError(t, err, "checker: toy/two-locks/contend cannot be judged by mutual-exclusion: no lock was ever acquired by two tasks", w.name)
	}
	for _, w := range ways(t, scenarios.MutualExclusion) {
		r, err := Check(t.Context(), takers(scenarios.MutualExclusion, []string{"/x", "/y"}, []string{"/y", "/x"}), scenarios.MutualExclusion, w.o)
		require.NoError(t, err, w.name)
		require.Equal(t, Holds, r.Verdict, w.name)
	}
}

// The cause names the lock, whichever it is, and says "the lock" where there is one.
func TestCauseNamesTheLock(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for id, want := range map[string]string{
		"toy/first-removed/contend":  "first",
		"toy/second-removed/contend": "second",
	} {
		sc := toy(t, id)
		r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
		require.NoError(t, err)
		cx := r.Counterexample
		clash := trace.Clashing(cx.Trace[len(cx.Trace)-1].Holders)
		require.Len(t, clash, 2)
		require.Equal(t, "/run/"+want, clash[0].Lock)
		again, err := Replay(sc, scenarios.MutualExclusion, cx.Schedule)
		require.NoError(t, err)
		require.Equal(t, cx.Cause, again.Counterexample.Cause)
		require.Equal(t, cx.History, again.Counterexample.History)
	}
	r, err := Check(t.Context(), toy(t, "toy/look/contend"), scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(r.Counterexample.History), "acquire(A)")

	r, err = Check(t.Context(), toy(t, "toy/twice/contend"), scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, "A held the lock already, since step 2. It took the lock with fcntl-setlk fd 4 F_WRLCK 0+0 at step 4: a record lock belongs to its process, whose tasks it does not keep apart.", r.Counterexample.Cause)
}

// What is done under one name does not count under another: where two names are one lock on the
// machine there is no verdict, whichever way they are one, and in every engine.
func TestTwoNamesOfOneLock(t *testing.T) {
	fixtures.OnlyAnswers(t)
	makeLink := func(m *fsfake.Machine) error { return m.Proc(1).Symlink("/x", "/y") }
	for name, c := range map[string]struct {
		paths [2]string
		setup func(m *fsfake.Machine) error
		want  string // empty: it is judged as one lock
	}{
		"relative":          {paths: [2]string{"/x", "x"}},
		"not clean":         {paths: [2]string{"/x", "/.//x"}},
		"dots":              {paths: [2]string{"/x", "/d/../x"}, setup: func(m *fsfake.Machine) error { return m.Proc(1).Mkdir("/d", 0o755) }, want: "one name in one directory"},
		"symlink":           {paths: [2]string{"/x", "/y"}, setup: makeLink, want: "names of one file"},
		"symlink to a lock": {paths: [2]string{"/x", "/y"}, setup: func(m *fsfake.Machine) error { return errors.Join(m.Proc(1).WriteFile("/x", nil, 0o644), makeLink(m)) }, want: "names of one file"},
		"hard link": {paths: [2]string{"/x", "/y"}, setup: func(m *fsfake.Machine) error {
			return errors.Join(m.Proc(1).WriteFile("/x", nil, 0o644), m.Proc(1).Link("/x", "/y"))
		}, want: "names of one file"},
		"directory": {paths: [2]string{"/a/x", "/b/x"}, setup: func(m *fsfake.Machine) error {
			return errors.Join(m.Proc(1).Mkdir("/a", 0o755), m.Proc(1).Symlink("a", "/b"))
		}, want: "one name in one directory"},
	} {
		sc := fixtures.Programs("toy/names/contend", scenarios.Setting{Processes: 2, Fixed: true}, func(process, _ int) scenarios.Program {
			return func(t *scenarios.Task) {
				path := c.paths[process]
				_, err := t.Acquire(path, func() (scenarios.Hold, error) {
					f, err := t.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
					if err != nil {
						return scenarios.Hold{}, err
					}
					return scenarios.Hold{File: f}, nil
				})
				if err == nil {
					t.Work()
				}
			}
		}, scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken})
		sc.Setup = func(m *fsfake.Machine) {
			if c.setup != nil && c.setup(m) != nil {
				panic("setup")
			}
		}
		for _, w := range ways(t, scenarios.MutualExclusion) {
			r, err := Check(t.Context(), sc, scenarios.MutualExclusion, w.o)
			if c.want == "" {
				require.NoError(t, err, "%s %s", name, w.name)
				require.Equal(t, Broken, r.Verdict, "%s %s", name, w.name)
				continue
			}
			require.ErrorIs(t, err, ErrNothingToJudge, "%s %s", name, w.name)
			require.ErrorContains(t, err, c.want, "%s %s", name, w.name)
		}
		if c.want == "" {
			continue
		}
		_, err := Sample(t.Context(), sc, scenarios.MutualExclusion, SampleOptions{Runs: 10})
		require.ErrorContains(t, err, c.want, name)
		s, err := sched.ParseSchedule("A1 B1")
		require.NoError(t, err)
		_, err = Replay(sc, scenarios.MutualExclusion, s)
		require.ErrorContains(t, err, c.want, name)
	}
}

// A release that does not say of which of two locks it is, and a property that cannot tell one
// from another, give no verdict; what is about no lock is decided.
func TestLocksThatCannotBeTold(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := takers(scenarios.MutualExclusion, []string{"/x", "/y"}, []string{"/x", "/y"})
	take := sc.Program
	sc.Program = func(process, task int) scenarios.Program {
		return func(t *scenarios.Task) {
			take(process, task)(t)
			_ = t.Release(func() error { return t.Unlink("/y") })
		}
	}
	own := &scenarios.Property{ID: "own", Meaning: "Nobody holds twice.", Spec: model.Define("own", model.MutexState{}, model.On(model.MutexState.Acquire))}
	alone := &scenarios.Property{ID: "alone", Meaning: "One task holds.", OfHolders: true, Invariant: func(v scenarios.View) string {
		n := 0
		for range v.Holders() {
			n++
		}
		return strings.Repeat("several hold", min(1, max(0, n-1)))
	}}
	for _, w := range ways(t, scenarios.MutualExclusion) {
		for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.ForeignRelease} {
			_, err := Check(t.Context(), sc, p, w.o)
			require.ErrorIs(t, err, ErrNothingToJudge)
			require.ErrorContains(t, err, "its tasks ask for 2 locks, /x and /y, and release(A) by task A does not say which it is of: name it (Task.ReleaseOf", w.name)
		}
		for _, p := range []*scenarios.Property{own, alone} {
			_, err := Check(t.Context(), sc, p, w.o)
			require.ErrorIs(t, err, ErrNothingToJudge)
			require.ErrorContains(t, err, p.ID+" is said of one", w.name)
		}
		r, err := Check(t.Context(), sc, scenarios.Deadlock, w.o)
		require.NoError(t, err)
		require.NotEqual(t, Broken, r.Verdict)
	}
}

// Drawn schedules and replays know locks as well.
func TestSeveralLocksElsewhere(t *testing.T) {
	fixtures.OnlyAnswers(t)
	alike := toy(t, "toy/nested-flock/contend")
	alike.Setting.Interchangeable = true
	for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.ForeignRelease} {
		all, err := Check(t.Context(), alike, p, Options{})
		require.NoError(t, err)
		fewer, err := Check(t.Context(), alike, p, Options{Symmetry: true})
		require.NoError(t, err)
		require.Equal(t, Holds, fewer.Verdict)
		require.Less(t, fewer.Stats.States, all.Stats.States)
	}

	holds := toy(t, "toy/abba-flock/contend")
	_, err := Sample(t.Context(), holds, scenarios.MutualExclusion, SampleOptions{Runs: 200})
	require.NoError(t, err)
	hits, err := Sample(t.Context(), toy(t, "toy/first-removed/contend"), scenarios.ForeignRelease, SampleOptions{Runs: 200})
	require.NoError(t, err)
	require.NotZero(t, hits.Failures)
}

// toy finds a scenario of several locks.
func toy(t *testing.T, id string) *scenarios.Scenario {
	t.Helper()
	for _, sc := range slices.Concat(toys.Locks(), toys.All()) {
		if sc.ID == id {
			return &sc
		}
	}
	t.Fatal("no " + id)
	return nil
}

// What was done with one lock is no evidence of another: whoever asks about a name that nobody
// takes, and two leases of one task each, show nothing.
func TestEvidenceIsOfOneLock(t *testing.T) {
	for _, c := range []struct {
		p       *scenarios.Property
		program func(process int) scenarios.Program
		want    string
	}{
		{scenarios.OwnerInfo, func(process int) scenarios.Program {
			return func(t *scenarios.Task) {
				if process == 0 {
					_ = exclusively(t, "/x")
					return
				}
				scenarios.Record(t, model.WhoHolds{Lock: "/y"}, func() model.Holder {
					text, _ := t.ReadFile("/y")
					return model.Holder{Owner: string(text)}
				})
			}
		}, "nobody ever asked who holds a lock that anybody acquired"},
		{scenarios.Fencing, func(process int) scenarios.Program {
			return func(t *scenarios.Task) {
				_, _ = t.GrantOf([]string{"/x", "/y"}[process], func() (int, error) {
					t.Work()
					return 1, nil
				})
			}
		}, "of no lease was anything done after one task was granted it"},
	} {
		sc := fixtures.Programs("toy/evidence/contend", scenarios.Setting{Processes: 2, Fixed: true}, func(process, _ int) scenarios.Program { return c.program(process) },
			scenarios.Claim{Property: c.p, Verdict: Holds})
		for _, w := range ways(t, c.p) {
			_, err := Check(t.Context(), sc, c.p, w.o)
			require.ErrorIs(t, err, ErrNothingToJudge, w.name)
			require.ErrorContains(t, err, c.want, w.name)
		}
	}
}
