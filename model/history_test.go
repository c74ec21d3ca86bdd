package model

import (
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// An event of a test history: client calls value, or returns it.
type event struct {
	client int
	ret    bool
	value  any
}

func invoke(client int, input any) event { return event{client, false, input} }
func ret(client int, output any) event   { return event{client, true, output} }

// seq is a history without overlap, of inputs and outputs in turn.
func seq(values ...any) []event {
	history := make([]event, len(values))
	for i, v := range values {
		history[i] = event{0, i%2 == 1, v}
	}
	return history
}

// operations writes a history for porcupine; what never returns returns at the
// end of time.
func operations(history []event) []porcupine.Operation {
	var ops []porcupine.Operation
	open := map[int]int{} // by client
	for i, e := range history {
		if !e.ret {
			open[e.client] = len(ops)
			ops = append(ops, porcupine.Operation{
				ClientId: e.client, Input: e.value, Call: int64(i),
				Output: Pending{}, Return: math.MaxInt64,
			})
			continue
		}
		ops[open[e.client]].Output = e.value
		ops[open[e.client]].Return = int64(i)
	}
	return ops
}

// events writes a history as porcupine's events.
func events(history []event) []porcupine.Event {
	var events []porcupine.Event
	open := map[int]int{}
	for i, e := range history {
		kind := porcupine.ReturnEvent
		if !e.ret {
			kind = porcupine.CallEvent
			open[e.client] = i
		}
		events = append(events, porcupine.Event{ClientId: e.client, Kind: kind, Value: e.value, Id: open[e.client]})
	}
	return events
}

func linearizable(spec Spec, history []event) bool {
	return porcupine.CheckOperations(spec.Porcupine(), operations(history))
}

// watch tells a monitor of the history.
func watch(spec Spec, history []event) Monitor {
	m := NewMonitor(spec)
	for _, e := range history {
		m.tell(e)
	}
	return m
}

func (m *Monitor) tell(e event) {
	if e.ret {
		m.Return(e.client, e.value)
	} else {
		m.Invoke(e.client, e.value)
	}
}

// with returns the specification with some operations replaced.
func with(spec Spec, replaced ...Operation) Spec {
	apply := spec.Apply
	spec.Name += "-wrong"
	spec.Apply = func(state, input any) []Outcome {
		i := slices.IndexFunc(replaced, func(o Operation) bool { return o.accepts(input) })
		if i < 0 {
			return apply(state, input)
		}
		return replaced[i].apply(state, input)
	}
	return spec
}
