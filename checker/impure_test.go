package checker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/model"
	"lockpick/scenarios"
)

// plain is a scenario of two processes that take a lock by creating it.
func plain(p *scenarios.Property, acquire func(t *scenarios.Task) (scenarios.Hold, error)) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "toy/impure/contend", Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) { return acquire(t) })
			}
		},
		Claims: []scenarios.Claim{{Property: p, Verdict: Holds}},
	}
}

// A Setup that makes another disk each time gets no verdict. Before, one that drew lots got one
// in 41 of 200 checks.
func TestSetupsThatDifferGetNoVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	calls := 0
	for name, setup := range map[string]func(m *fsfake.Machine){
		"draws lots": func(m *fsfake.Machine) {
			if rng.IntN(2) == 0 {
				_ = m.Proc(1).Mkdir("/new", 0o777)
			}
		},
		"counts": func(m *fsfake.Machine) {
			calls++
			_ = m.Proc(1).Mkdir(fmt.Sprintf("/new%d", calls), 0o777)
		},
	} {
		sc := plain(scenarios.MutualExclusion, create)
		sc.Setup = setup
		for _, engine := range engines(t) {
			_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{oracle: engine})
			require.ErrorContains(t, err, "the Setup of toy/impure/contend makes another machine each time", name)
		}
	}
}

// A probe that counts gets no verdict. Before, it got one in 50 of 50 checks.
func TestProbesThatCountGetNoVerdict(t *testing.T) {
	sc := plain(scenarios.Wedge, create)
	n := 0
	sc.Probe = func(t *scenarios.Task) error {
		_, _ = t.Stat("/lock")
		if n++; n%2 == 0 {
			return errors.New("not today")
		}
		return nil
	}
	_, err := Check(t.Context(), sc, scenarios.Wedge, Options{})
	require.ErrorContains(t, err, "the probe of toy/impure/contend is not a function of its calls")
}

// What a program tells its history is compared wherever it is run again: an input that falls
// otherwise once in a hundred runs is noticed. Before, 203 of 300 checks gave a verdict.
func TestRareLotsGetNoVerdict(t *testing.T) {
	verdicts := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		sc := &scenarios.Scenario{
			ID: "toy/lots/contend", Setting: scenarios.Setting{Processes: 2},
			Program: func(int, int) scenarios.Program {
				return func(t *scenarios.Task) {
					value := "x"
					if rng.IntN(100) == 0 {
						value = "y"
					}
					scenarios.Record(t, model.Write{Value: value}, func() model.Written { t.Work(); return model.Written{} })
					scenarios.Record(t, model.Read{}, func() model.ReadValue { t.Work(); return model.ReadValue{Value: "x"} })
				}
			},
			Claims: []scenarios.Claim{{Property: scenarios.TornRead, Verdict: Holds}},
		}
		_, err := Check(t.Context(), sc, scenarios.TornRead, Options{Workers: 1})
		if err == nil {
			verdicts++
			continue
		}
		require.ErrorContains(t, err, "is not a function of its calls")
	}
	require.LessOrEqual(t, verdicts, 2)
}

// A panic of the protocol is an assertion that fails, with its schedule and its line, where
// assertions are judged. Before, it was an error, and no verdict told on which schedule.
func TestPanicsAreFindings(t *testing.T) {
	sc := plain(scenarios.Assertion, func(t *scenarios.Task) (scenarios.Hold, error) {
		if _, err := t.Stat("/lock"); err == nil {
			return create(t)
		}
		f, err := t.OpenFile("/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil { // somebody came in between
			var none []int
			_ = none[len(t.Process)]
		}
		return scenarios.Hold{}, f.Close()
	})
	sc.Claims = []scenarios.Claim{{Property: scenarios.Assertion, Verdict: Broken}}
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.Assertion, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)
		require.Equal(t, "A1 B4 A1", r.Counterexample.Schedule.String())
		require.Regexp(t, `^the program panics at .*/impure_test\.go:\d+ .*index out of range \[1\] with length 0`, r.Counterexample.Said)
	}

	// Where nobody would hear of it, it is an error.
	sc.Claims[0].Property = scenarios.MutualExclusion
	_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.ErrorContains(t, err, "index out of range")
	require.ErrorContains(t, err, "task B of toy/impure/contend")
}

// A retry loop whose rounds make no call would go round for ever. Before, the check hung.
func TestRoundsWithoutCallsAreTold(t *testing.T) {
	for _, acquire := range []func(t *scenarios.Task) (scenarios.Hold, error){
		func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if t.Process == "none" {
					break
				}
			}
			return create(t)
		},
		func(t *scenarios.Task) (scenarios.Hold, error) { // once refused, it asks no more
			h, err := create(t)
			for retry := t.Retry(); err != nil && retry.Next(); {
				t.Assert(err != nil, "nothing")
			}
			return h, err
		},
	} {
		sc := plain(scenarios.MutualExclusion, acquire)
		for _, engine := range engines(t) {
			_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{oracle: engine})
			require.ErrorContains(t, err, "let each round make a call")
			require.Regexp(t, `^checker: task [AB]\.?1? of toy/impure/contend: its retry loop at .*/impure_test\.go:\d+ .* goes round without a call`, err.Error())
		}
	}
}

// A goroutine of the program's own cannot be scheduled. Before, one that the program waited for
// got a verdict, and others ended the command with a panic.
func TestCallsFromGoroutinesAreTold(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: what these programs do is a data race, and it says so; go test ./checker runs it")
	}
	for name, body := range map[string]func(t *scenarios.Task){
		"waited for": func(t *scenarios.Task) {
			done := make(chan bool)
			go func() {
				defer close(done)
				_, _ = t.Stat("/lock")
			}()
			<-done
		},
		"two": func(t *scenarios.Task) {
			done := make(chan bool, 2)
			for range 2 {
				go func() {
					defer func() { done <- true }()
					_, _ = t.Stat("/lock")
				}()
			}
			<-done
			<-done
		},
		"beside": func(t *scenarios.Task) {
			done := make(chan bool)
			go func() {
				defer close(done)
				_, _ = t.Stat("/lock")
			}()
			t.Work()
			<-done
		},
	} {
		sc := plain(scenarios.MutualExclusion, func(t *scenarios.Task) (scenarios.Hold, error) {
			body(t)
			return create(t)
		})
		_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
		require.ErrorContains(t, err, "from a goroutine that the program has started", name)
		require.Regexp(t, `^checker: task A of toy/impure/contend: "(stat /lock|work)" is called at .*/impure_test\.go:\d+`, err.Error(), name)
	}
}

// The same of a call that a goroutine makes only when it was learned already what the program does: the
// panic that unwinds a program must not reach the goroutine, where nothing recovers from it.
func TestLateCallsFromGoroutinesAreTold(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: what these programs do is a data race, and it says so; go test ./checker runs it")
	}
	for late := range int32(12) {
		var runs atomic.Int32
		sc := plain(scenarios.MutualExclusion, func(t *scenarios.Task) (scenarios.Hold, error) {
			if runs.Add(1) <= late {
				t.Work()
				return create(t)
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				_, _ = t.Stat("/lock")
			}()
			<-done
			return create(t)
		})
		_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Workers: 1})
		require.ErrorContains(t, err, "from a goroutine that the program has started", "%d", late)
	}
}

// A program that recovers from everything, in a loop, swallows what unwinds it. Before, the
// check hung.
func TestRecoversInALoopAreTold(t *testing.T) {
	sc := plain(scenarios.MutualExclusion, func(t *scenarios.Task) (h scenarios.Hold, err error) {
		for {
			func() {
				defer func() {
					if r := recover(); r != nil {
						err = fmt.Errorf("%v", r)
					}
				}()
				h, err = create(t)
			}()
			if err == nil {
				return h, nil
			}
		}
	})
	_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.ErrorContains(t, err, `the program of task A of toy/impure/contend cannot be stopped: it recovers from every panic, in a loop, and makes "`)
}
