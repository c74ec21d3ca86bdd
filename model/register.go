package model

import "fmt"

// Write replaces the value of the register. It returns [Written].
type Write struct{ Value string }

// String renders the operation: write("v").
func (w Write) String() string { return fmt.Sprintf("write(%q)", w.Value) }

// Written is the answer to [Write].
type Written struct{}

// String renders the answer.
func (Written) String() string { return "written" }

// Read asks for the value of the register. It returns [ReadValue].
type Read struct{}

// String renders the operation.
func (Read) String() string { return "read" }

// ReadValue is the answer to [Read].
type ReadValue struct{ Value string }

// String renders the answer, quoted.
func (r ReadValue) String() string { return fmt.Sprintf("%q", r.Value) }

// RegisterState is the value of a register.
type RegisterState struct{ Value string }

// String renders the value, quoted.
func (s RegisterState) String() string { return fmt.Sprintf("%q", s.Value) }

// Register is a register that is empty at first: a read answers with the last
// value written, whole. A file that is truncated and then written in place is
// read empty or in part in between, which is a torn read.
func Register() Spec { return RegisterWith("") }

// RegisterWith is [Register] with another value at first.
func RegisterWith(value string) Spec {
	return Define("register", RegisterState{value}, On(RegisterState.Write), On(RegisterState.Read))
}

// Write replaces the value.
func (RegisterState) Write(in Write) []Next[RegisterState, Written] {
	return Only(RegisterState(in), Written{})
}

// Read answers with the value.
func (s RegisterState) Read(Read) []Next[RegisterState, ReadValue] {
	return Only(s, ReadValue(s))
}

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
