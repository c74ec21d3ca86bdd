package model

import "fmt"

// A Next is an [Outcome] with its types: the state after an operation and what
// the operation returned. The specifications are written with it, so that the
// compiler checks them, and adapted to Spec in one place, here.
type Next[S, O comparable] struct {
	State     S
	Output    O
	AnyOutput bool // every output is legal; Output is ignored
}

// Only is the answer of a deterministic operation.
func Only[S, O comparable](state S, output O) []Next[S, O] {
	return []Next[S, O]{{State: state, Output: output}}
}

// An Operation is one kind of input and its behaviour, with the types erased: see [On].
type Operation struct {
	accepts func(input any) bool
	apply   func(state, input any) []Outcome
}

// On is an operation of a specification, given as a pure function from a state and an
// input to every legal answer. An empty list says that the operation cannot happen there. A
// method expression fits: On(MutexState.Acquire).
func On[S, I, O comparable](f func(S, I) []Next[S, O]) Operation {
	return Operation{
		accepts: func(input any) bool {
			_, ok := input.(I)
			return ok
		},
		apply: func(state, input any) []Outcome {
			next := f(state.(S), input.(I))
			if len(next) == 0 {
				return nil
			}
			outcomes := make([]Outcome, len(next))
			for i, n := range next {
				outcomes[i] = Outcome{State: n.State, Output: n.Output}
				if n.AnyOutput {
					outcomes[i].Output = Any{}
				}
			}
			return outcomes
		},
	}
}

// Define makes a specification of its operations, each with an input of its own type, all
// over the state S. States, inputs and outputs are comparable values without pointers,
// channels and floats; they name themselves in reports by their String methods.
func Define[S comparable](name string, init S, ops ...Operation) Spec {
	find := func(input any) *Operation {
		for i := range ops {
			if ops[i].accepts(input) {
				return &ops[i]
			}
		}
		return nil
	}
	return Spec{
		Name:    name,
		Init:    init,
		Accepts: func(input any) bool { return find(input) != nil },
		Apply: func(state, input any) []Outcome {
			found := find(input)
			if found == nil {
				panic(fmt.Sprintf("model: %s does not accept %T", name, input))
			}
			return found.apply(state, input)
		},
		DescribeOperation: describeOperation,
		DescribeState:     describeState,
	}
}
