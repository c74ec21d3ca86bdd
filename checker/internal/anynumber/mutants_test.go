package anynumber

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A leaving is a program that leaves out each call of one kind, as if it had gone well.
type leaving struct {
	learn.Code
	out fsfake.Call
}

// Next implements learn.Code.
func (l *leaving) Next() (op fsfake.Op, more bool, notes []any, err error) {
	for {
		op, more, now, err := l.Code.Next()
		notes = append(notes, slices.Clone(now)...)
		if err != nil || !more || op.Call != l.out {
			return op, more, notes, err
		}
		if err := l.Answer(fsfake.Result{N: int64(len(op.Data))}); err != nil {
			return op, more, notes, err
		}
	}
}

// mutant is the system of a scenario whose program leaves out calls of one kind; nil where it is no program then.
func mutant(t *testing.T, sc *scenarios.Scenario, out fsfake.Call) *System {
	s, err := New(sc)
	require.NoError(t, err)
	start := s.start
	s.start = func(process, n int) (learn.Code, error) {
		code, err := start(process, n)
		return &leaving{code, out}, err
	}
	if s.a, err = learn.New(sc, s.start, 0, 1); err != nil {
		return nil
	}
	s.a.Intern, s.names, s.sizes = s.intern, true, true
	s.told[s.a.First()] = 0
	return s
}

// A proved row of which calls are left out is not proved where two, three or four processes break it.
func TestNoBrokenMutantIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it takes seconds; go test ./checker/internal/anynumber runs it")
	}
	proved, broken := 0, 0
	rows := []string{"gofrs-flock/keep-file/contend", "fslock/lockf/contend", "ctx/excl/crash",
		"openclaw-takeover/flock/dead-owner", "dev3/mkdir-plain/contend",
		"nix/unlink-then-mark/contend", "portalocker/verify-and-unlink-held/contend",
		"rubygems/keep-file/contend", "sqlite-dotfile/mkdir/crash", "fasteners/lockf/contend", "dpkg/fcntl-permanent/contend"}
	if !testmain.Long() {
		rows = rows[:2]
	}
	for _, id := range rows {
		sc := row(t, id)
		for _, out := range []fsfake.Call{fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallMkdir, fsfake.CallUnlink,
			fsfake.CallRmdir, fsfake.CallWrite, fsfake.CallFtruncate, fsfake.CallClose} {
			if mutant(t, sc, out) == nil {
				continue
			}
			holds := false
			for _, how := range Hows()[:3] {
				how.Names = true
				_, is, err := mutant(t, sc, out).search(context.Background(), scenarios.MutualExclusion, how, budget, 0)
				holds = holds || err == nil && is == Proved
			}
			bad := false
			func() {
				defer func() {
					if r := recover(); r != nil {
						_, ok := r.(refusal)
						require.True(t, ok, r)
					}
				}()
				for n := 2; n <= 4 && !bad; n++ {
					bad = mutant(t, sc, out).reach(n, together, func(*Config) {})
				}
			}()
			require.False(t, holds && bad, "%s without %s is proved, and broken", id, out)
			if holds {
				proved++
			} else if bad {
				broken++
			}
		}
	}
	t.Logf("%d mutants proved, %d broken", proved, broken)
	require.GreaterOrEqual(t, broken, len(rows)/2)
	require.Positive(t, proved)
}
