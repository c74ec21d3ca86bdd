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
