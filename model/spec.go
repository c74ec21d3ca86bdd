package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Outcome is one legal answer of a specification: what the operation returns
// and the state after it. Both are comparable values.
type Outcome struct {
	State  any
	Output any // Any stands for every answer
}

// matches reports whether the outcome explains an operation that returned output.
func (o Outcome) matches(output any) bool {
	return o.Output == Any{} || o.Output == output
}

// Any, as the output of an [Outcome], says that whatever the operation returns
// is legal. No operation returns it.
type Any struct{}

// String says what Any is.
func (Any) String() string { return "anything" }

// Pending is the output of an operation that never returned: its process was
// killed, or the run was cut. It may have taken effect with any outcome, or not
// at all. An operation of a killed process can be given the instant of its death
// as its return, since the dead take no steps; one that the run cut off returns
// at the end of time.
type Pending struct{}

// String says what Pending is.
func (Pending) String() string { return "never returned" }

// A Spec is a sequential specification: from which state which operations may
// return what. It is a value; its functions are pure.
type Spec struct {
	// Name is the specification's name in reports, such as "mutex".
	Name string
	// Init is the initial state, comparable.
	Init any
	// Accepts reports whether an input belongs to this specification; a
	// history may hold operations of several.
	Accepts func(input any) bool
	// PerLock: it is of one lock, and a history with several is judged lock by lock; see
	// [LockByLock].
	PerLock bool
	// Apply lists every legal outcome of an accepted input in a state, always
	// in the same order. An empty list says that the operation cannot happen
	// in this state. It panics on an input that is not accepted.
	Apply func(state, input any) []Outcome
	// DescribeOperation renders an operation in one line; output may be
	// [Pending].
	DescribeOperation func(input, output any) string
	// DescribeState renders a state in one line.
	DescribeState func(state any) string
}

// All lists every specification of this package, each with its empty initial
// state, in a fixed order.
func All() []Spec {
	return []Spec{
		Mutex(), StrictMutex(), OwnerRecord(),
		Set(), Counter(), Log(), CursorLog(), Register(),
		RWLock(), Lease(),
	}
}

// Validate reports what is missing from the specification, or nil.
func (s Spec) Validate() (err error) {
	switch {
	case s.Name == "":
		return fmt.Errorf("model: the specification has no name")
	case s.Accepts == nil || s.Apply == nil || s.DescribeOperation == nil || s.DescribeState == nil:
		return fmt.Errorf("model: the specification %s lacks Accepts, Apply, DescribeOperation or DescribeState: make it with Define", s.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("model: the initial state of %s: %v", s.Name, r)
		}
	}()
	_ = appendTyped(nil, s.Init)
	return nil
}

// Porcupine returns the model by which porcupine judges a history. Operations
// that the specification does not accept are left out of the judgement. A
// pending operation is never illegal: it explores having had each outcome and
// having had none.
func (s Spec) Porcupine() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition:         s.partition,
		PartitionEvent:    s.partitionEvent,
		Init:              func() []any { return []any{s.Init} },
		Step:              s.step,
		DescribeOperation: s.DescribeOperation,
		DescribeState:     s.DescribeState,
	}
	return model.ToModel()
}

// step lists the states in which an operation that returned output may leave state.
func (s Spec) step(state, input, output any) []any {
	var after []any
	pending := output == Pending{}
	if pending {
		after = append(after, state)
	}
	for _, o := range s.Apply(state, input) {
		if pending || o.matches(output) {
			after = append(after, o.State)
		}
	}
	return after
}

// partition keeps the operations of this specification, as one partition, or as one for each
// lock.
func (s Spec) partition(history []porcupine.Operation) [][]porcupine.Operation {
	var inputs []any
	for _, op := range history {
		inputs = append(inputs, op.Input)
	}
	var parts [][]porcupine.Operation
	for _, lock := range s.parts(inputs) {
		kept := make([]porcupine.Operation, 0, len(history))
		for _, op := range history {
			if s.isOf(op.Input, lock) {
				kept = append(kept, op)
			}
		}
		parts = append(parts, kept)
	}
	return parts
}

// partitionEvent is partition for histories written as events.
func (s Spec) partitionEvent(history []porcupine.Event) [][]porcupine.Event {
	inputs := make(map[int]any, len(history)) // by operation id
	var all []any
	for _, e := range history {
		if e.Kind == porcupine.CallEvent {
			inputs[e.Id], all = e.Value, append(all, e.Value)
		}
	}
	var parts [][]porcupine.Event
	for _, lock := range s.parts(all) {
		kept := make([]porcupine.Event, 0, len(history))
		for _, e := range history {
			if s.isOf(inputs[e.Id], lock) {
				kept = append(kept, e)
			}
		}
		parts = append(parts, kept)
	}
	return parts
}

// describeOperation renders "acquire(A) -> ok"; operations name themselves.
func describeOperation(input, output any) string {
	return fmt.Sprintf("%v -> %v", input, output)
}

// describeState renders a state; states name themselves.
func describeState(state any) string { return fmt.Sprint(state) }
