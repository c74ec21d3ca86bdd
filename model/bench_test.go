package model

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// Three processes contend: two are refused, one holds; all overlap.
func contention() []event {
	return []event{
		invoke(0, Acquire{"A"}), invoke(1, Acquire{"B"}), invoke(2, Acquire{"C"}),
		ret(1, ok), ret(0, locked), invoke(1, Release{"B"}), ret(2, locked), invoke(0, Acquire{"A"}),
		ret(1, Released{}), ret(0, ok), invoke(0, Release{"A"}), ret(0, Released{}),
	}
}

func BenchmarkPorcupine(b *testing.B) {
	spec, ops := Mutex().Porcupine(), operations(contention())
	for b.Loop() {
		porcupine.CheckOperations(spec, ops)
	}
}

func BenchmarkMonitor(b *testing.B) {
	spec, history := Mutex(), contention()
	for b.Loop() {
		watch(spec, history)
	}
}
