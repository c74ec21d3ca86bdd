package model

import "fmt"

// Inc adds one to the counter. It returns the new [Value].
type Inc struct{}

// String renders the operation.
func (Inc) String() string { return "inc" }

// Get reads the counter. It returns its [Value].
type Get struct{}

// String renders the operation.
func (Get) String() string { return "get" }

// Value is the answer to [Inc] and [Get].
type Value struct{ N int }

// String renders the number.
func (v Value) String() string { return fmt.Sprint(v.N) }

// CounterState is the value of a counter.
type CounterState struct{ N int }

// String renders the number.
func (s CounterState) String() string { return fmt.Sprint(s.N) }

// Counter is a counter that starts at 0: every increment counts, and answers
// with a number that no other increment answers with.
func Counter() Spec {
	return Define("counter", CounterState{}, On(CounterState.Inc), On(CounterState.Get))
}

// Inc adds one and answers with the sum.
func (s CounterState) Inc(Inc) []Next[CounterState, Value] {
	return Only(CounterState{s.N + 1}, Value{s.N + 1})
}

// Get answers with the number.
func (s CounterState) Get(Get) []Next[CounterState, Value] {
	return Only(s, Value(s))
}
