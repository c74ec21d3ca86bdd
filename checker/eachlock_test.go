package checker

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// Of a lock that nobody ever gets, or one task alone, a verdict says nothing, and says so: that
// other locks gave evidence does not help.
func TestEachLockNeedsItsEvidence(t *testing.T) {
	t.Parallel()
	at := func(path string, flags int) scenarios.Protocol {
		return scenarios.Protocol{
			Path: path,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(path, flags, 0o644)
				if err != nil {
					return scenarios.Hold{}, errors.Join(scenarios.ErrLocked, err)
				}
				return scenarios.Hold{}, f.Close()
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(path) },
		}
	}
	const create = os.O_CREATE | os.O_EXCL | os.O_WRONLY
	for _, c := range []struct {
		name   string
		second scenarios.Protocol
		alone  bool // B does not take it
		want   []string
	}{
		{"both", at("/b", create), false, nil},
		{"O_CREAT is forgotten", at("/b", os.O_WRONLY), false, []string{"says nothing of /b: nobody ever acquired"}},
		{"one task alone", at("/b", create), true, []string{"says nothing of /b: nobody but A ever acquired"}},
	} {
		first := at("/a", create)
		sc := fixtures.Programs("toy/two/contend", scenarios.Setting{Processes: 2, Fixed: true}, func(process, _ int) scenarios.Program {
			return func(t *scenarios.Task) {
				_ = scenarios.Locked(t, first, func() { t.Work() })
				if process == 0 || !c.alone {
					_ = scenarios.Locked(t, c.second, func() { t.Work() })
				}
			}
		}, scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Holds})
		r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
		require.NoError(t, err, c.name)
		require.Equal(t, Holds, r.Verdict, c.name)
		require.Equal(t, c.want, r.Conditions(), c.name)
	}
}
