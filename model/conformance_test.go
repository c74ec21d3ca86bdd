package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fixture is what a specification must be: its table, histories it accepts and
// rejects, and wrong specifications that these must tell from it.
type fixture struct {
	spec    Spec
	rows    []row
	accepts []named
	rejects []named
	wrong   []wrong
	// For random histories: inputs, and answers that some input might get.
	inputs  []any
	outputs []any
}

type row struct {
	state, input any
	want         []Outcome
}

type named struct {
	name    string
	history []event
}

type wrong struct {
	how  string
	spec Spec
}

func fixtures() []fixture {
	return []fixture{
		mutexFixture(), strictMutexFixture(), ownerRecordFixture(),
		setFixture(), counterFixture(), logFixture(), cursorLogFixture(), registerFixture(),
		rwLockFixture(), leaseFixture(),
	}
}

// conforms checks a specification against a fixture; nil says that it passes.
func (f fixture) conforms(spec Spec) error {
	var errs []error
	for _, r := range f.rows {
		if got := spec.Apply(r.state, r.input); !slices.Equal(got, r.want) {
			errs = append(errs, fmt.Errorf("%v in %v: %v, want %v", r.input, r.state, got, r.want))
		}
	}
	for _, h := range f.accepts {
		if !linearizable(spec, h.history) || watch(spec, h.history).Violated() {
			errs = append(errs, fmt.Errorf("%s: rejected", h.name))
		}
	}
	for _, h := range f.rejects {
		if linearizable(spec, h.history) || !watch(spec, h.history).Violated() {
			errs = append(errs, fmt.Errorf("%s: accepted", h.name))
		}
	}
	return errors.Join(errs...)
}

func TestEverySpecificationConforms(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.spec.Name, func(t *testing.T) {
			require.NotEmpty(t, f.rows)
			require.NotEmpty(t, f.accepts)
			require.NotEmpty(t, f.rejects)
			require.NoError(t, f.conforms(f.spec))
		})
	}
}

func TestEveryWrongSpecificationIsCaught(t *testing.T) {
	for _, f := range fixtures() {
		require.NotEmpty(t, f.wrong, f.spec.Name)
		for _, w := range f.wrong {
			t.Run(f.spec.Name+"/"+w.how, func(t *testing.T) {
				require.Error(t, f.conforms(w.spec), "by the table or the histories")
				f.rows = nil
				require.Error(t, f.conforms(w.spec), "by the histories alone")
			})
		}
	}
}

func TestAllListsEverySpecification(t *testing.T) {
	var fixed, all []string
	for _, f := range fixtures() {
		fixed = append(fixed, f.spec.Name)
	}
	for _, spec := range All() {
		all = append(all, spec.Name)
	}
	require.Equal(t, fixed, all)
}

// Comparable values, no outcome twice, the same answer every time, a name for
// everything: over every state that the inputs reach in four steps.
func TestOutcomesAreWellFormed(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.spec.Name, func(t *testing.T) {
			states := []any{f.spec.Init}
			for range 4 {
				var next []any
				for _, state := range states {
					require.NotEmpty(t, f.spec.DescribeState(state))
					for _, input := range f.inputs {
						outcomes := f.spec.Apply(state, input)
						require.Equal(t, outcomes, f.spec.Apply(state, input))
						for i, o := range outcomes {
							require.True(t, reflect.TypeOf(o.State).Comparable())
							require.True(t, reflect.TypeOf(o.Output).Comparable())
							require.NotContains(t, outcomes[:i], o)
							next = append(next, o.State)
							require.NotContains(t, f.spec.DescribeOperation(input, o.Output), "{")
						}
					}
				}
				states = distinct(next)
			}
		})
	}
}

func distinct(values []any) []any {
	var kept []any
	for _, v := range values {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}
