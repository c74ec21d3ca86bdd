package checker

import (
	"errors"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/model"
	"lockpick/scenarios"
)

var trials = flag.Int("impure.trials", 2, "how many checks are made of each family of programs that are no functions, in percent of those that were counted once")

// drawn records what is drawn, and reads.
func drawn(draw func() string) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "toy/lots/contend", Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				scenarios.Record(t, model.Write{Value: draw()}, func() model.Written { t.Work(); return model.Written{} })
				scenarios.Record(t, model.Read{}, func() model.ReadValue { t.Work(); return model.ReadValue{Value: "x"} })
			}
		},
		Claims: []scenarios.Claim{{Property: scenarios.TornRead, Verdict: Holds}},
	}
}

// Families of programs that are no functions of their calls: how many of so many checks gave a
// verdict all the same. All of these did once: 213 of 300, 203 of 300, 20 of 20, 20 of 20, 50 of 50 and
// 41 of 200.
//
//	go test ./checker -run TestImpureFamilies -impure.trials 100 -v
func TestImpureFamilies(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: what some of these programs do is a data race, and it says so; go test ./checker runs it")
	}
	for _, f := range []struct {
		name   string
		trials int
		most   int // verdicts in a hundred trials, where luck may have it
		make   func(rng *rand.Rand) *scenarios.Scenario
	}{
		{"a range over a map decides an input", 300, 0, func(*rand.Rand) *scenarios.Scenario {
			keys := map[string]bool{"x": true, "y": true, "z": true}
			return drawn(func() string {
				for k := range keys {
					return k
				}
				return ""
			})
		}},
		{"lots, one in a hundred", 300, 2, func(rng *rand.Rand) *scenarios.Scenario {
			return drawn(func() string {
				if rng.IntN(100) == 0 {
					return "y"
				}
				return "x"
			})
		}},
		{"deadlines by the real clock", 20, 0, func(*rand.Rand) *scenarios.Scenario {
			return plain(scenarios.MutualExclusion, func(t *scenarios.Task) (scenarios.Hold, error) {
				for deadline := time.Now().Add(50 * time.Microsecond); time.Now().Before(deadline); {
					if h, err := create(t); err == nil {
						return h, nil
					}
					t.Sleep(time.Millisecond)
				}
				return scenarios.Hold{}, scenarios.ErrLocked
			})
		}},
		{"a variable that processes share", 20, 0, func(*rand.Rand) *scenarios.Scenario {
			held := false
			return plain(scenarios.MutualExclusion, func(t *scenarios.Task) (scenarios.Hold, error) {
				t.Work()
				if held {
					return scenarios.Hold{}, scenarios.ErrLocked
				}
				held = true
				t.Work()
				return scenarios.Hold{}, nil
			})
		}},
		{"a probe that counts", 50, 0, func(rng *rand.Rand) *scenarios.Scenario {
			sc := plain(scenarios.Wedge, create)
			n, every := 0, 2+rng.IntN(3)
			sc.Probe = func(t *scenarios.Task) error {
				_, _ = t.Stat("/lock")
				if n++; n%every == 0 {
					return errors.New("not today")
				}
				return nil
			}
			return sc
		}},
		{"a Setup that draws lots", 200, 2, func(rng *rand.Rand) *scenarios.Scenario {
			sc := plain(scenarios.MutualExclusion, create)
			sc.Setup = func(m *fsfake.Machine) {
				if rng.IntN(3) == 0 {
					_ = m.Proc(1).Mkdir("/new", 0o777)
				}
			}
			return sc
		}},
	} {
		verdicts, all := 0, max(f.trials**trials/100, 1)
		for seed := range all {
			sc := f.make(rand.New(rand.NewPCG(uint64(seed), 11)))
			if r, err := Check(t.Context(), sc, sc.Claims[0].Property, Options{Workers: 1}); err == nil && r.Verdict != Unknown {
				verdicts++
			}
		}
		t.Logf("%s: %d of %d got a verdict", f.name, verdicts, all)
		require.LessOrEqual(t, verdicts, max((all*f.most+99)/100, 0), f.name)
	}
}
