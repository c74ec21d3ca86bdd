// Package parameterized asks a property of any number of equal processes. It looks for a proof (see package
// lockpick/checker/internal/anynumber), and where there is none decides a few processes by package checker. It must
// not know how a proof is found, nor how an answer is reported.
package parameterized

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker"
	"lockpick/checker/internal/anynumber"
	"lockpick/scenarios"
)

// An Answer is what is known of a property for every number of equal processes, with every number of kills where the
// setting has kills.
type Answer struct {
	Scenario *scenarios.Scenario
	Property *scenarios.Property
	// Asked is false where the question makes no sense; Why says why.
	Asked bool
	// Proved: it holds for any number. K is how many processes a view has, Views and Configurations how many there are.
	Proved bool
	// Timed: the program looks at the clock or at file times, so it holds as long as nobody is delayed.
	Timed                    bool
	K, Views, Configurations int
	// Certificate writes the proof down; nil where there is none.
	Certificate func() ([]byte, error)
	// Why says why it is not proved. Where the program did what is not asked of any number, Call is the call of process
	// A, and Source where it stands.
	Why, Call string
	Source    scenarios.Source
	// Broken is the result of the smallest number of processes that break it; nil where none is known.
	Broken *checker.Result
	// UpTo is the largest number of processes with which it was decided, and holds; 0 for none.
	UpTo int
}

// The bounds of a search for a proof, in configurations, and of deciding a few processes, in states.
const (
	anyConfigurations = 20_000
	fewConfigurations = 1_500
	anyProcesses      = 5
	anyStates         = 100_000
)

// Check asks a property of any number of processes. Where there is no proof, it decides 2 to 5 processes as package
// checker does, each with as many kills as processes where the setting has kills: a search for a proof that fails is
// no counterexample.
func Check(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o checker.Options) (Answer, error) {
	a, err := Prove(ctx, sc, p)
	if err != nil || !a.Asked || a.Proved {
		return a, err
	}
	return a, a.decide(ctx, o)
}

// Asks reports whether a property is asked of any number of processes.
func Asks(p *scenarios.Property) bool { return anynumber.Asks(p) }

// Prove looks for a proof, and decides nothing.
func Prove(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property) (Answer, error) {
	a := Answer{Scenario: sc, Property: p}
	if !sc.Setting.Alike() {
		a.Why = "the processes have roles of their own, so \"one more\" says nothing"
		return a, nil
	}
	if !anynumber.Asks(p) {
		a.Why = "it is about a history or an end, not about what a few processes see at one moment"
		return a, nil
	}
	a.Asked = true
	return a, a.prove(ctx, anyConfigurations)
}

// Extend looks further where a verdict is that a property holds, as far as that is cheap, and notes what it finds: a
// proof for any number of processes, or that one process more than two breaks it. The verdict stands where it finds
// neither, for any reason.
func Extend(ctx context.Context, sc *scenarios.Scenario, r *checker.Result) {
	if r.Verdict != checker.Holds || !sc.Setting.Alike() {
		return
	}
	a := Answer{Scenario: sc, Property: r.Property}
	if anynumber.Asks(r.Property) {
		if err := a.prove(ctx, fewConfigurations); err == nil && a.Proved {
			r.AnyNumber = a.Numbers()
			return
		}
	}
	if three, ok := r.WithThree(ctx); ok && three.Verdict == checker.Broken {
		r.BrokenWith = 3
	}
}

// Numbers says of what a proof is.
func (a *Answer) Numbers() string {
	switch kills := a.Scenario.Setting.Crashes > 0; {
	case kills && a.Timed:
		return "any number of processes and kills; nobody is delayed"
	case kills:
		return "any number of processes and kills"
	case a.Timed:
		return "any number of processes; nobody is killed or delayed"
	}
	return "any number of processes; nobody is killed"
}

// prove tries views of one process, then with what they may remember beside, then views of two.
func (a *Answer) prove(ctx context.Context, budget int) error {
	a.Why = "a configuration of views is bad that perhaps no run leads to"
	for _, how := range anynumber.Hows() {
		s, err := anynumber.New(a.Scenario)
		var proof *anynumber.Proof
		var out anynumber.Outcome
		if err == nil {
			proof, out, err = s.Prove(ctx, a.Property, how, budget)
		}
		var refused anynumber.Refused
		switch {
		case errors.As(err, &refused):
			if a.Why = refused.Why; s != nil {
				a.Call, a.Source = s.Met()
			}
			return nil
		case err != nil:
			return err
		case out == anynumber.Exhausted:
			a.Why = fmt.Sprintf("the search for a proof was given up after %d configurations", budget)
			return nil
		case out == anynumber.Proved:
			a.Proved, a.Timed, a.Why = true, proof.Timed, ""
			property := a.Property
			a.Certificate = func() ([]byte, error) { return s.Certificate(property, proof) }
			a.K, a.Views, a.Configurations = how.K, len(proof.Views), proof.Configurations
			return nil
		}
	}
	return nil
}

// decide decides few processes, one number after the other, where the setting allows for other numbers.
func (a *Answer) decide(ctx context.Context, o checker.Options) error {
	o.SkipOdds, o.States = true, anyStates
	for n := 2; n <= anyProcesses; n++ {
		st := a.Scenario.Setting
		if st.Processes = n; st.Crashes > 0 {
			st.Crashes = n
		}
		sc, err := a.Scenario.In(st)
		if err != nil {
			return nil // what is said of threads, users or clocks is said of each process
		}
		r, err := checker.Check(ctx, &sc, a.Property, o)
		if err != nil {
			return err
		}
		switch r.Verdict {
		case checker.Broken:
			a.Broken = &r
			return nil
		case checker.Holds:
			a.UpTo = n
		default:
			return nil
		}
	}
	return nil
}
