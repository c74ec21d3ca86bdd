package checker

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A property that nothing in a scenario could violate gets no verdict, from no engine:
// "holds" would say nothing.
func TestNothingToJudge(t *testing.T) {
	fixtures.OnlyAnswers(t)
	ctx := context.Background()
	lock := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	lock.Probe = nil
	silent := fixtures.New("toy/silent/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	silent.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) { _, _ = t.Stat("/lock") }
	}
	for _, c := range []struct {
		sc   *scenarios.Scenario
		want map[*scenarios.Property]string
	}{
		{lock, map[*scenarios.Property]string{
			scenarios.LostUpdate: "no operation whose answer could violate it", scenarios.Duplicate: "no operation",
			scenarios.TornRead: "no operation", scenarios.OwnerInfo: "no operation", scenarios.Wedge: "no Probe",
		}},
		{silent, map[*scenarios.Property]string{
			scenarios.MutualExclusion: "no operation", scenarios.SpuriousFailure: "no operation",
			scenarios.ForeignRelease: "no task notes that it holds a lock",
			scenarios.Starvation:     "no operation that could starve",
		}},
	} {
		for _, p := range scenarios.Properties() {
			want, vacuous := c.want[p]
			if !vacuous {
				continue
			}
			_, err := Check(ctx, c.sc, p, Options{})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			require.ErrorContains(t, err, want)
			if p == scenarios.Starvation {
				continue
			}
			_, err = Check(ctx, c.sc, p, Options{oracle: reference})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			all := 100
			_, err = Check(ctx, c.sc, p, Options{Preemptions: &all})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			s, err := Sample(ctx, c.sc, p, SampleOptions{Runs: 5})
			if p != scenarios.Wedge {
				require.NoError(t, err)
				require.Contains(t, s.Why, want)
			}
		}
	}
}

// A lock whose name nobody knows is nobody's to remove.
func TestHoldsWithoutAName(t *testing.T) {
	sc := fixtures.New("toy/nameless/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Acquire("", func() (scenarios.Hold, error) { _, err := t.Stat("/"); return scenarios.Hold{}, err })
			_ = t.Release(func() error { _, err := t.Stat("/"); return err })
		}
	}
	_, err := Check(context.Background(), sc, scenarios.ForeignRelease, Options{})
	require.ErrorIs(t, err, ErrNothingToJudge)
}

// Only the graph shows whether somebody starves: other engines must not call it a day.
func TestOnlyTheGraphDecidesStarvation(t *testing.T) {
	poll := fixtures.New("toy/poll/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: 1})
	r, err := Check(context.Background(), poll, scenarios.Starvation, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	_, err = Check(context.Background(), poll, scenarios.Starvation, Options{oracle: reference})
	require.ErrorContains(t, err, "no single schedule shows")
	_, err = Sample(context.Background(), poll, scenarios.Starvation, SampleOptions{})
	require.ErrorContains(t, err, "check it instead")
}

// refusing returns a scenario of two processes that can never acquire: the directory of the
// lock is not there, or the open has no O_CREAT.
func refusing(t *testing.T, how string) *scenarios.Scenario {
	t.Helper()
	name, flags := "/run/app.lock", os.O_CREATE|os.O_EXCL|os.O_RDWR
	if how == "no O_CREAT" {
		name, flags = "/app.lock", os.O_RDWR
	}
	return fixtures.New("toy/refusing/contend", scenarios.Protocol{
		Path: name,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if _, err := t.Stat(name); how == "looks first" && err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			f, err := t.OpenFile(name, flags, 0o644)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}, scenarios.Setting{Processes: 2})
}

// A lock that nobody ever gets keeps everybody apart. No engine calls that "holds", and each
// names the call that went wrong.
func TestWhoeverIsAlwaysRefusedProvesNothing(t *testing.T) {
	for how, want := range map[string]string{
		"looks first":  "nobody ever acquired: stat /run/app.lock: ENOENT at step 1 (A); make /run in Setup",
		"no directory": "nobody ever acquired: stat /run/app.lock: ENOENT at step 1 (A); make /run in Setup",
		"no O_CREAT": "nobody ever acquired: open /app.lock O_RDWR: ENOENT at step 2 (A); open it with O_CREAT, " +
			"or make /app.lock in Setup",
	} {
		t.Run(how, func(t *testing.T) {
			requireNoVerdict(t, refusing(t, how), scenarios.MutualExclusion, want)
		})
	}
}

// requireNoVerdict asks every engine.
func requireNoVerdict(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, want string) {
	t.Helper()
	ctx, all := context.Background(), 100
	for name, o := range map[string]Options{
		"graph": {}, "monitors": {Memory: RememberMonitors}, "preemptions": {Preemptions: &all},
		"reference": {oracle: reference},
	} {
		if p.OfCycles() && (o.oracle != nil || o.Preemptions != nil) {
			continue
		}
		_, err := Check(ctx, sc, p, o)
		require.ErrorIs(t, err, ErrNothingToJudge, name)
		require.ErrorContains(t, err, want, name)
	}
	if p.OfCycles() {
		return
	}
	s, err := Sample(ctx, sc, p, SampleOptions{Runs: 5})
	require.NoError(t, err)
	require.Equal(t, Unknown, s.Verdict)
	require.Contains(t, s.Why, want)
	r, err := NewRunner(sc, p)
	require.NoError(t, err)
	_, err = r.Run(sched.NewRandom(1), false)
	require.NoError(t, err)
	require.ErrorContains(t, r.Lacking(), want)
}

// What each property must have seen.
func TestWhatIsNoEvidence(t *testing.T) {
	fixtures.OnlyAnswers(t)
	of := func(programs ...scenarios.Program) *scenarios.Scenario {
		sc := fixtures.New("toy/own/contend", fixtures.Excl(), scenarios.Setting{Processes: len(programs), Fixed: true})
		sc.Program = func(process, _ int) scenarios.Program { return programs[process] }
		return sc
	}
	look := func(t *scenarios.Task) error { _, err := t.Stat("/"); return err }
	acquire := func(t *scenarios.Task) {
		_, _ = t.Acquire(fixtures.Lock, func() (scenarios.Hold, error) { return scenarios.Hold{}, look(t) })
		_ = t.Release(func() error { return look(t) })
	}
	inVain := func(t *scenarios.Task) {
		_, _ = t.Acquire(fixtures.Lock, func() (scenarios.Hold, error) {
			_, err := t.Open("/none")
			return scenarios.Hold{}, err
		})
	}
	record := func(input, output any) scenarios.Program {
		return func(t *scenarios.Task) {
			scenarios.Record(t, input, func() any { _ = look(t); return output })
		}
	}
	then := func(ps ...scenarios.Program) scenarios.Program {
		return func(t *scenarios.Task) {
			for _, p := range ps {
				p(t)
			}
		}
	}
	reader := func(t *scenarios.Task) {
		_, _ = t.AcquireRead(fixtures.Lock, func() (scenarios.Hold, error) { return scenarios.Hold{}, look(t) })
	}
	add := record(model.Add{Key: "a"}, model.Added{})
	for _, c := range []struct {
		sc   *scenarios.Scenario
		p    *scenarios.Property
		want string
	}{
		{of(acquire, inVain), scenarios.MutualExclusion, "nobody but A ever acquired: open /none: ENOENT at step"},
		{of(then(acquire, acquire), looks), scenarios.MutualExclusion, "nobody but A ever acquired"},
		{of(acquire), scenarios.SpuriousFailure, "nobody was ever refused"},
		{of(reader, reader), scenarios.RWExclusion, "nobody ever acquired to write"},
		{of(then(add, record(model.Contains{Key: "b"}, model.Found{}))), scenarios.LostUpdate,
			"nobody ever asked for what had been added"},
		{of(record(model.Read{}, model.ReadValue{})), scenarios.TornRead, "no read ever saw what somebody wrote"},
		{of(record(model.Inc{}, model.Value{N: 1})), scenarios.LostIncrement,
			"nobody ever saw another's increment: only A counted"},
		{of(then(inVain, record(model.WhoHolds{}, model.Holder{}))), scenarios.OwnerInfo,
			"nobody ever acquired: open /none: ENOENT"},
		{of(record(model.Grant{Owner: "A"}, model.Granted{Refused: true})), scenarios.Fencing,
			"no lease was ever granted"},
		{of(inVain, inVain), scenarios.Starvation, "nobody ever acquired: open /none: ENOENT at step 1 (A)"},
	} {
		t.Run(c.p.ID, func(t *testing.T) { requireNoVerdict(t, c.sc, c.p, c.want) })
	}
}

func looks(t *scenarios.Task) { _, _ = t.Stat("/") }

// Half a disk would be judged wrongly.
func TestSetupThatFails(t *testing.T) {
	for _, c := range []struct {
		setup func(m *fsfake.Machine)
		want  string
	}{
		{func(m *fsfake.Machine) { _ = m.Proc(1).Mkdir("/run/app", 0o755) },
			"scenarios: the Setup of toy/excl/contend fails: fsfake: mkdir /run/app: ENOENT; make first what it needs"},
		{func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/run/pid", nil, 0o644) },
			"open /run/pid O_WRONLY|O_CREAT|O_TRUNC: ENOENT"},
		{func(*fsfake.Machine) { panic(errors.New("no disk")) }, "the Setup of toy/excl/contend fails: no disk"},
		{func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll("/tmp/a/b", 0o755); _ = m.Proc(1).Mkdir("/tmp", 0o755) }, ""},
		{func(m *fsfake.Machine) { _, _ = m.Proc(1).Stat("/none"); _ = m.Proc(1).RemoveAll("/tmp") }, ""},
	} {
		sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
		sc.Setup = c.setup
		_, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
		_, sampled := Sample(context.Background(), sc, scenarios.MutualExclusion, SampleOptions{Runs: 1})
		if c.want == "" {
			require.NoError(t, err)
			require.NoError(t, sampled)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, sampled, c.want)
	}
}

// A verdict that holds says so when nobody was ever in anybody's way.
func TestUncontended(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	r, err := Check(context.Background(), sc, scenarios.Deadlock, Options{})
	require.NoError(t, err)
	require.Empty(t, r.Uncontended())
	sc.Program = func(int, int) scenarios.Program { return looks }
	r, err = Check(context.Background(), sc, scenarios.Deadlock, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.Equal(t, "in no schedule did a task ever meet another's lock", r.Uncontended())
}

// Who finds another's lock by a look, and is refused, has met it.
func TestARefusalByALookIsContention(t *testing.T) {
	look := fixtures.StatThenWrite()
	look.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		if text, _ := t.ReadFile("/owner"); string(text) != "" {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, t.WriteFile("/owner", []byte("x"), 0o644)
	}
	look.Release = func(t *scenarios.Task, _ scenarios.Hold) error { return t.WriteFile("/owner", nil, 0o644) }
	sc := fixtures.New("toy/read/contend", look, scenarios.Setting{Processes: 2})
	r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.Zero(t, r.Stats.Contended)
	require.Empty(t, r.Uncontended())
}
