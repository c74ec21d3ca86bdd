package anynumber

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/toys"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
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

// A delaying is a program that makes each call of one kind after the call that comes next, as if it had gone well.
type delaying struct {
	learn.Code
	late fsfake.Call
	kept *fsfake.Op // it comes after the next answer
	due  bool       // it comes now
	made bool       // it was made, and its answer is dropped
}

// Next implements learn.Code.
func (d *delaying) Next() (op fsfake.Op, more bool, notes []any, err error) {
	if d.due {
		op, d.kept, d.due, d.made = *d.kept, nil, false, true
		return op, true, nil, nil
	}
	op, more, now, err := d.Code.Next()
	if err != nil || !more || op.Call != d.late {
		return op, more, now, err
	}
	notes = slices.Clone(now)
	if err := d.Answer(fsfake.Result{N: int64(len(op.Data))}); err != nil {
		return op, more, notes, err
	}
	next, more, now, err := d.Code.Next()
	if notes = append(notes, slices.Clone(now)...); err != nil || !more || next.Call == d.late {
		d.Code.Stop()
		return op, false, nil, errors.Join(err, errNoNext)
	}
	d.kept = &op
	return next, more, notes, nil
}

var errNoNext = errors.New("after the call comes none that it can come after")

// Answer implements learn.Code.
func (d *delaying) Answer(r fsfake.Result) error {
	if d.made {
		d.made = false
		return nil
	}
	d.due = d.kept != nil
	return d.Code.Answer(r)
}

// A mutation changes what a program does.
type mutation struct {
	name string
	of   func(learn.Code) learn.Code
}

// mutations leave out each call of one kind, or make it one call later.
func mutations() (all []mutation) {
	for _, c := range []fsfake.Call{fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallMkdir, fsfake.CallUnlink,
		fsfake.CallRmdir, fsfake.CallWrite, fsfake.CallFtruncate, fsfake.CallClose, fsfake.CallSymlink} {
		all = append(all,
			mutation{"without " + c.String(), func(p learn.Code) learn.Code { return &leaving{p, c} }},
			mutation{"with a late " + c.String(), func(p learn.Code) learn.Code { return &delaying{Code: p, late: c} }})
	}
	return all
}

// mutant is the system of a scenario whose program is changed; nil where it is no program then.
func mutant(t *testing.T, sc *scenarios.Scenario, how mutation) *System {
	s, err := New(sc)
	require.NoError(t, err)
	start := s.start
	s.start = func(process, n int) (learn.Code, error) {
		code, err := start(process, n)
		if err != nil {
			return nil, err
		}
		return how.of(code), nil
	}
	if s.a, err = learn.New(sc, s.start, 0, 1); err != nil {
		return nil
	}
	s.names, s.sizes = true, true
	s.told[s.a.First()] = 0
	return s
}

// What is proved of the catalogue, of toys and of the protocols here is not proved any more with a call left
// out or made late, where two, three or four processes break it then.
func TestNoBrokenMutantIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it takes seconds; go test ./checker/internal/anynumber runs it")
	}
	proved, broken := 0, 0
	asked := provable()
	if !testmain.Long() {
		asked = slices.DeleteFunc(asked, func(q question) bool {
			return !slices.Contains([]string{"gofrs-flock/keep-file/contend", "protocol/create or fail"}, q.sc.ID)
		})
	}
	for _, q := range asked {
		if s, _ := first(t, q.sc, q.property, 0); s == nil {
			continue
		}
		for _, m := range mutations() {
			if mutant(t, q.sc, m) == nil {
				continue
			}
			holds := false
			for _, how := range Hows()[:3] {
				how.Names = true
				_, is, err := mutant(t, q.sc, m).search(context.Background(), q.property, how, budget, 0)
				holds = holds || err == nil && is == Proved
			}
			bad := breaks(t, q, m)
			require.False(t, holds && bad, "%s %s %s is proved, and broken", q.sc.ID, q.property, m.name)
			if holds {
				proved++
			} else if bad {
				broken++
			}
		}
	}
	t.Logf("%d mutants proved, %d broken", proved, broken)
	require.GreaterOrEqual(t, broken, len(asked)/2)
	require.Positive(t, proved)
}

// breaks reports whether two to four processes break a mutant, as far as it is no other one that is refused.
func breaks(t *testing.T, q question, m mutation) (bad bool) {
	defer func() {
		if r := recover(); r != nil {
			_, ok := r.(refusal)
			require.True(t, ok, r)
		}
	}()
	for n := 2; n <= 4 && !bad; n++ {
		s := mutant(t, q.sc, m)
		bad = s.reach(n, q.property, func(*Config) {})
	}
	return bad
}

// A question is what is asked of any number.
type question struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
}

// provable lists the questions that may be proved: of the catalogue, the toys, and the protocols here.
func provable() (qs []question) {
	for _, sc := range slices.Concat(all.All(), toys.All(), toys.Locks(), toys.Properties()) {
		if strings.HasPrefix(sc.ID, "toy/") {
			sc.Setting.Interchangeable = !sc.Setting.Fixed && sc.Setting.Tasks == nil
		}
		for _, c := range sc.Claims {
			if sc.Setting.Interchangeable && c.Verdict == scenarios.Holds && Asks(c.Property) {
				qs = append(qs, question{&sc, c.Property})
			}
		}
	}
	for _, c := range protocolCases() {
		if c.proved {
			qs = append(qs, question{c.scenario(), c.property()})
		}
	}
	return qs
}
