package model

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// Three processes contend: two are refused, one holds; all overlap.
func contention() []event {
	return []event{
		invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"}), invoke(2, Acquire{Owner: "C"}),
		ret(1, ok), ret(0, locked), invoke(1, Release{Owner: "B"}), ret(2, locked), invoke(0, Acquire{Owner: "A"}),
		ret(1, Released{}), ret(0, ok), invoke(0, Release{Owner: "A"}), ret(0, Released{}),
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
