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

// only is the answer of a deterministic operation.
func only[S, O comparable](state S, output O) []Next[S, O] {
	return []Next[S, O]{{State: state, Output: output}}
}

// An operation is one kind of input and its behaviour, with the types erased.
type operation struct {
	accepts func(input any) bool
	apply   func(state, input any) []Outcome
}

// op erases the types of one operation of a specification. A method expression
// fits: op(MutexState.Acquire).
func op[S, I, O comparable](f func(S, I) []Next[S, O]) operation {
	return operation{
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

// typed makes a specification of its typed operations, all over the state S.
func typed[S comparable](name string, init S, ops ...operation) Spec {
	find := func(input any) *operation {
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
