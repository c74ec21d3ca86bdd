package checker

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/aside"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/flockfile"
	"lockpick/scenarios/pidfile"
)

// subject finds the protocol of a variant.
func subject(t *testing.T, list []scenarios.Scenario, id string) scenarios.Subject {
	t.Helper()
	for _, sc := range list {
		if sc.Subject != nil && sc.Subject.ID == id {
			return *sc.Subject
		}
	}
	require.FailNow(t, "no subject", id)
	return scenarios.Subject{}
}

// A survey finds what is known of a lock, and everything that it calls broken replays.
func TestSurvey(t *testing.T) {
	testmain.Slow(t, "it decides whole surveys", "./checker")
	fixtures.OnlyAnswers(t)
	t.Parallel()
	for _, c := range []struct {
		subject scenarios.Subject
		broken  map[string]string
	}{
		{subject(t, flockfile.Scenarios(), "gofrs-flock/keep-file"), nil},
		{subject(t, flockfile.Scenarios(), "gofrs-flock/unlink-after-unlock"), map[string]string{
			"contention": "mutual-exclusion", "threads": "mutual-exclusion", "crash": "mutual-exclusion",
			"exit": "mutual-exclusion", "pid-namespace": "mutual-exclusion",
		}},
		{subject(t, ctx.Scenarios(), "ctx/excl"), map[string]string{
			"dead-owner": "wedge", "crash": "wedge", "exit": "wedge", "pid-reuse": "wedge", "power-loss": "wedge",
		}},
		{subject(t, aside.Scenarios(), "noodle/rename-old"), map[string]string{
			"dead-owner": "mutual-exclusion", "stall": "mutual-exclusion", "pid-reuse": "mutual-exclusion",
			"clock": "mutual-exclusion",
		}},
		{subject(t, pidfile.Scenarios(), "emacs/unlink-dead"), map[string]string{
			"threads": "mutual-exclusion", "dead-owner": "mutual-exclusion", "crash": "mutual-exclusion",
			"exit": "mutual-exclusion", "pid-reuse": "wedge", "pid-namespace": "mutual-exclusion",
		}},
	} {
		studies, err := scenarios.Survey(c.subject)
		require.NoError(t, err)
		lines := surveyed(t, studies, Options{SkipOdds: true})
		broken := map[string]string{}
		for i := range lines {
			l := &lines[i]
			require.Empty(t, l.Unknown, "%s %s", c.subject.ID, l.Hazard.ID)
			for _, r := range l.Broken {
				broken[l.Hazard.ID] = r.Property.ID
				ran, err := Replay(r.Scenario, r.Property, r.Counterexample.Schedule)
				require.NoError(t, err)
				require.True(t, ran.Broken, "%s %s", r.Scenario.ID, r.Counterexample.Schedule)
			}
		}
		if c.broken == nil {
			c.broken = map[string]string{}
		}
		require.Equal(t, c.broken, broken, c.subject.ID)
	}
}

func surveyed(t *testing.T, studies []scenarios.Study, o Options) (lines []Surveyed) {
	t.Helper()
	for _, study := range studies {
		lines = append(lines, Survey(t.Context(), study, o))
	}
	return lines
}

// A survey that is stopped says so of what it had under way, and of what it had no time for.
func TestSurveyStopped(t *testing.T) {
	studies, err := scenarios.Survey(subject(t, flockfile.Scenarios(), "gofrs-flock/keep-file"))
	require.NoError(t, err)
	ends := &endsAfter{Context: t.Context()}
	ends.left.Store(1)
	line := Survey(ends, studies[0], Options{SkipOdds: true})
	require.Equal(t, Unknown, line.Verdict())
	require.Empty(t, line.NotAsked)
	require.Equal(t, Stopped, line.Unknown[0].Why)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, Surveyed{Hazard: studies[0].Hazard, NotAsked: Stopped}, Survey(ctx, studies[0], Options{}))
}

// A budget that ends first is unknown and nothing else, and so is a call that the machine
// does not know; the other hazards are decided all the same.
func TestSurveyIsHonest(t *testing.T) {
	studies, err := scenarios.Survey(subject(t, flockfile.Scenarios(), "gofrs-flock/keep-file"))
	require.NoError(t, err)
	lines := surveyed(t, studies[:1], Options{States: 10})
	require.Equal(t, Unknown, lines[0].Verdict())
	require.Empty(t, lines[0].Holds)

	odd := scenarios.Subject{ID: "app/lock", Lock: scenarios.Protocol{
		Path: "/run/lock",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if err := t.Mkdir("/run/lock", 0o777); err != nil {
				return scenarios.Hold{}, t.Kill(-1)
			}
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Remove("/run/lock") },
	}}
	studies, err = scenarios.Survey(odd)
	require.NoError(t, err)
	lines = surveyed(t, studies, Options{SkipOdds: true})
	require.Equal(t, Unknown, lines[0].Verdict())
	require.Contains(t, lines[0].Unknown[0].Why, "is not modelled")
	host := slices.IndexFunc(lines, func(l Surveyed) bool { return l.Hazard.ID == scenarios.HazardHostName })
	require.Contains(t, lines[host].NotAsked, "host names are constants of the protocol")
	require.Equal(t, Unknown, lines[host].Verdict())
}

// What is left of the files that a lock guards is asked where its subject says how they are changed, and the sentence
// names the file.
func TestSurveyOfData(t *testing.T) {
	fixtures.OnlyAnswers(t)
	rename := func(syncs ...string) func(*scenarios.Task) error {
		return func(t *scenarios.Task) error {
			f, err := t.OpenFile("/f.new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			_, err = f.WriteString("a new text\n")
			if err == nil && slices.Contains(syncs, "file") {
				err = f.Sync()
			}
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			if err := t.Rename("/f.new", "/f"); err != nil || !slices.Contains(syncs, "dir") {
				return err
			}
			d, err := t.Open("/")
			if err != nil {
				return err
			}
			return errors.Join(d.Sync(), d.Close())
		}
	}
	for name, c := range map[string]struct {
		update func(*scenarios.Task) error
		said   map[string]string // by hazard and property; what is not there holds
	}{
		"synced":     {rename("file", "dir"), nil},
		"dir-missed": {rename("file"), map[string]string{"power-loss durable": "/f: the old 12 bytes, not the new 11"}},
		"unsynced": {rename(), map[string]string{
			"power-loss atomic":  "/f: 0 bytes, neither the old 12 nor the new 11",
			"power-loss durable": "/f: 0 bytes, not the new 11"}},
		"truncated": {func(t *scenarios.Task) error { return t.WriteFile("/f", []byte("a new text\n"), 0o644) },
			map[string]string{
				"crash atomic":        "/f: 0 bytes, neither the old 12 nor the new 11",
				"power-loss atomic":   "/f: 0 bytes, neither the old 12 nor the new 11",
				"power-loss durable":  "/f: 0 bytes, not the new 11",
				"failing-call atomic": "/f: 0 bytes, neither the old 12 nor the new 11"}},
		"heedless": {func(t *scenarios.Task) error { _ = rename("file", "dir")(t); return nil }, map[string]string{
			"failing-call atomic": "/f: the old 12 bytes, not the new 11"}},
	} {
		t.Run(name, func(t *testing.T) {
			studies, err := scenarios.Survey(scenarios.Subject{
				ID: "toy/" + name, Lock: fixtures.Flock(), Update: c.update, Data: []string{"/f"},
				Setup: func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/f", []byte("an old text\n"), 0o644) },
			})
			require.NoError(t, err)
			said := map[string]string{}
			for _, study := range studies {
				study.Scenarios = slices.DeleteFunc(study.Scenarios, func(sc scenarios.Scenario) bool { return sc.Data == nil })
				if len(study.Scenarios) == 0 {
					continue
				}
				s := Survey(t.Context(), study, Options{Workers: 1})
				require.Empty(t, s.Unknown)
				for _, r := range s.Broken {
					said[study.Hazard.ID+" "+r.Property.ID] = r.Counterexample.Said
				}
				require.Len(t, slices.Concat(s.Broken, s.Holds), len(study.Scenarios[0].Claims))
			}
			require.Equal(t, len(c.said), len(said), said)
			for what, want := range c.said {
				require.Equal(t, want, said[what], what)
			}
		})
	}
	_, err := scenarios.Survey(scenarios.Subject{ID: "toy/x", Lock: fixtures.Flock(), Data: []string{"/f"}})
	require.ErrorContains(t, err, "give Update and Data together")
}
