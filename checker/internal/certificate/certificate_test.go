package certificate_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker/internal/anynumber"
	"lockpick/checker/internal/certificate"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

func row(t *testing.T, id string) *scenarios.Scenario {
	rows := all.All()
	at := slices.IndexFunc(rows, func(sc scenarios.Scenario) bool { return sc.ID == id })
	require.NotEqual(t, -1, at, id)
	return &rows[at]
}

// proof returns a certificate of mutual exclusion, and how many views it has.
func proof(t *testing.T, sc *scenarios.Scenario) ([]byte, int) {
	for _, how := range anynumber.Hows() {
		s, err := anynumber.New(sc)
		require.NoError(t, err)
		proof, out, err := s.Prove(context.Background(), scenarios.MutualExclusion, how, 150_000)
		require.NoError(t, err)
		if out == anynumber.Proved {
			text, err := s.Certificate(scenarios.MutualExclusion, proof)
			require.NoError(t, err)
			return text, len(proof.Views)
		}
	}
	t.Fatal("it is not proved")
	return nil, 0
}

// why is what a certificate of these lines is refused for; empty where it is a proof.
func why(sc *scenarios.Scenario, lines []string) string {
	text := []byte(strings.Join(lines, ""))
	f, err := certificate.Read(append(text, certificate.Seal(text)...))
	if err != nil {
		return err.Error()
	}
	return f.Verify(context.Background(), sc, scenarios.MutualExclusion).Why
}

// lines are those of a certificate, without the seal.
func lines(text []byte) []string {
	all := strings.SplitAfter(string(text), "\n")
	return all[:len(all)-2]
}

// Every row that is proved has a certificate that verifies.
func TestProvedRowsVerify(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"ctx/excl/contend", "ctx/excl/crash", "openclaw-takeover/guarded/dead-owner",
		"openclaw-takeover/flock/dead-owner", "dev3/mkdir-plain/contend", "dpkg/fcntl-permanent/contend",
		"fasteners/lockf/contend", "gofrs-flock/keep-file/contend", "nix/unlink-then-mark/contend",
		"portalocker/verify-and-unlink-held/contend", "rubygems/keep-file/contend", "sqlite-dotfile/mkdir/crash",
		"fslock/lockf/contend", "agentwire/flock-only/crash",
		"freebsd-pidfile/flopen/contend", "nightlyone-lockfile/link-samefile/daemons",
		"phantombot-runlock/unlink-then-create/contend", "celo-rewards/overwrite-old/contend",
		"git-gc-pid/guard-rejudge-replace/dead-owner", "npm-lockfile/stale-guard/dead-owner",
		"systemd/make-lock-file/contend"} {
		if !testmain.Long() && strings.HasPrefix(id, "openclaw-takeover/guarded") || testing.Short() &&
			strings.Contains("nix/unlink-then-mark/contend portalocker/verify-and-unlink-held/contend "+
				"freebsd-pidfile/flopen/contend", id) {
			continue // these take seconds
		}
		sc := row(t, id)
		text, views := proof(t, sc)
		f, err := certificate.Read(text)
		require.NoError(t, err)
		r := f.Verify(context.Background(), sc, scenarios.MutualExclusion)
		require.Empty(t, r.Why, id)
		require.Equal(t, views, r.Views, id)
		require.Positive(t, r.Configurations, id)
	}
}

// A certificate of which a byte has changed is refused as broken.
func TestChangedByteIsRefused(t *testing.T) {
	t.Parallel()
	text, _ := proof(t, row(t, "gofrs-flock/keep-file/contend"))
	rapid.Check(t, func(t *rapid.T) {
		changed := bytes.Clone(text)
		changed[rapid.IntRange(0, len(text)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		_, err := certificate.Read(changed)
		require.Error(t, err)
	})
}

// A change by somebody who makes the last line anew is refused, or changes the case of a field's name only.
func TestChangedMeaningIsRefused(t *testing.T) {
	t.Parallel()
	sc := row(t, "gofrs-flock/keep-file/contend")
	text, _ := proof(t, sc)
	was := lines(text)
	rapid.Check(t, func(t *rapid.T) {
		is := slices.Clone(was)
		at := rapid.IntRange(1, len(is)-1).Draw(t, "line") // the header is looked at below
		line := []byte(is[at])
		line[rapid.IntRange(0, len(line)-2).Draw(t, "at")] = byte(rapid.IntRange(' ', '~').Draw(t, "byte"))
		is[at] = string(line)
		if why(sc, is) == "" {
			require.Equal(t, strings.ToLower(was[at]), strings.ToLower(is[at]))
		}
	})
}

// Views and edges that are left out are noticed, each of them, and edges that are claimed to lead elsewhere.
func TestMutantsAreRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"gofrs-flock/keep-file/contend", "sqlite-dotfile/mkdir/crash", "fslock/lockf/contend",
		"dev3/mkdir-plain/contend"} {
		sc := row(t, id)
		text, _ := proof(t, sc)
		was := lines(text)
		require.Empty(t, why(sc, was))
		for i := range was {
			require.NotEmpty(t, why(sc, slices.Delete(slices.Clone(was), i, i+1)), was[i])
			to := regexp.MustCompile(`"To":\d+`)
			for node := 1; to.MatchString(was[i]) && node < 20; node++ {
				is := slices.Clone(was)
				is[i] = to.ReplaceAllString(was[i], fmt.Sprintf(`"To":%d`, node))
				require.Equal(t, is[i] != was[i], why(sc, is) != "", is[i])
			}
		}
		for _, c := range []struct{ old, new, why string }{
			{`"To":1}`, `"To":2}`, "leads elsewhere"},
			{`"Errno":`, `"Errno":1`, ""},
			{`"Start":2`, `"Start":3`, ""},
			{`"Start":1000`, `"Start":2000`, "start time"},
		} {
			at := slices.IndexFunc(was, func(l string) bool { return strings.Contains(l, c.old) })
			if at < 0 {
				continue
			}
			is := slices.Clone(was)
			is[at] = strings.Replace(is[at], c.old, c.new, 1)
			got := why(sc, is)
			require.NotEmpty(t, got, is[at])
			require.Contains(t, got, c.why)
		}
	}
}

// A certificate of another program proves nothing of this one.
func TestOtherProgramIsNoticed(t *testing.T) {
	t.Parallel()
	text, _ := proof(t, row(t, "gofrs-flock/keep-file/contend"))
	require.NotEmpty(t, why(row(t, "gofrs-flock/unlink-after-unlock/contend"), lines(text)))
}

// Nobody has to declare that all processes run the same program: each of them is looked at, by who looks for a proof
// and by who checks one.
func TestOneProcessThatDiffersIsNoticed(t *testing.T) {
	t.Parallel()
	sc := row(t, "hermit/keep-file/contend")
	require.False(t, sc.Setting.Interchangeable)
	text, _ := proof(t, sc)
	require.Empty(t, why(sc, lines(text)))
	for differs := range scenarios.MaxProcesses {
		other := *sc
		other.Program = func(process, task int) scenarios.Program {
			if process != differs {
				return sc.Program(process, task)
			}
			return func(t *scenarios.Task) {
				_, _ = t.Stat("/")
				sc.Program(process, task)(t)
			}
		}
		require.NotEmpty(t, why(&other, lines(text)), "process %d", differs)
		s, err := anynumber.New(&other)
		if err == nil {
			_, _, err = s.Prove(t.Context(), scenarios.MutualExclusion, anynumber.Hows()[0], 150_000)
		}
		require.ErrorContains(t, err, "the program does something else as another process", "process %d", differs)
	}
}
