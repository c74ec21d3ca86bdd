package checker

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// Many tests ask what the graph engine says of a claim of a toy or a row, and compare something
// else with it. Each of these questions is decided once in a run of the tests, when it is first
// asked.

// A question is one that a single worker decides. histories says that states remember
// histories, however many there are.
type question struct {
	scenario, property string
	histories          bool
}

// options are how the question is asked.
func (q question) options() Options {
	o := Options{Workers: 1}
	if q.histories {
		o.Memory = RememberHistories
	}
	return o
}

// answers has an answer for each claim of the toys and the rows. Nobody may change a Result that
// it was given, for others are given the same.
var answers = sync.OnceValue(func() map[question]func() (Result, error) {
	list := allToys()
	for _, sc := range all.Core() {
		list = append(list, &sc)
	}
	out := map[question]func() (Result, error){}
	for _, sc := range list {
		for _, c := range sc.Claims {
			for _, histories := range []bool{false, true} {
				q := question{sc.ID, c.Property.ID, histories}
				out[q] = sync.OnceValues(func() (Result, error) {
					return Check(context.Background(), sc, c.Property, q.options())
				})
			}
		}
	}
	return out
})

// A tryout names what a Tried is of.
type tryout struct {
	scenario string
	code     uintptr
}

// everTried is a *Tried for each program.
var everTried sync.Map

// tried is what was tried out of a toy or a row, for all tests that do not ask whether programs
// keep their promises: each promise is looked at once in a run of the tests. It is not for programs
// that a test makes, which may have one name and not be the same, nor where it matters how often
// programs were run, since that depends on who asked first.
func tried(sc *scenarios.Scenario) *Tried {
	v, _ := everTried.LoadOrStore(tryout{sc.ID, reflect.ValueOf(sc.Program).Pointer()}, &Tried{})
	t := v.(*Tried)
	if err := t.For(sc); err != nil {
		panic(err)
	}
	return t
}

// ask returns what one worker says. What no toy or row claims is decided here and now.
func ask(sc *scenarios.Scenario, p *scenarios.Property, histories bool) (Result, error) {
	q := question{sc.ID, p.ID, histories}
	decide, ok := answers()[q]
	if !ok {
		return Check(context.Background(), sc, p, q.options())
	}
	r, err := decide()
	if err == nil && !reflect.DeepEqual(r.Scenario.Setting, sc.Setting) {
		err = fmt.Errorf("%s is the name of two scenarios: %s, and %s", sc.ID, r.Scenario.Setting.Format(), sc.Setting.Format())
	}
	return r, err
}

// decided is what one worker says of a claim.
func decided(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) Result {
	t.Helper()
	r, err := ask(sc, p, false)
	require.NoError(t, err, "%s %s", sc.ID, p)
	return r
}
