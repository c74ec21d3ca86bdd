package model_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"lockpick/model"
)

// Two processes are told that the lock is theirs while neither has given it back.
func ExampleSpec_Porcupine() {
	history := []porcupine.Operation{
		{ClientId: 0, Input: model.Acquire{Owner: "A"}, Call: 1, Output: model.Acquired{OK: true}, Return: 4},
		{ClientId: 1, Input: model.Acquire{Owner: "B"}, Call: 2, Output: model.Acquired{OK: true}, Return: 3},
	}
	fmt.Println(porcupine.CheckOperations(model.Mutex().Porcupine(), history))
	// Output: false
}

// A killed acquisition may have succeeded or not; nobody can tell yet.
func ExampleMonitor() {
	m := model.NewMonitor(model.Mutex())
	m.Invoke(0, model.Acquire{Owner: "A"})
	m.Return(0, model.Pending{})
	fmt.Println(m)

	m.Invoke(1, model.Acquire{Owner: "B"})
	m.Return(1, model.Acquired{OK: true})
	fmt.Println(m)

	m.Invoke(2, model.Acquire{Owner: "C"})
	m.Return(2, model.Acquired{OK: true})
	fmt.Println(m, m.Violated())
	// Output:
	// A | free
	// B
	// violated true
}

func ExampleMutex() {
	mutex := model.Mutex()
	state := model.MutexState{Owner: "A", Count: 1}
	for _, input := range []any{model.Acquire{Owner: "A"}, model.Acquire{Owner: "B"}, model.Crash{Owner: "A"}} {
		for _, o := range mutex.Apply(state, input) {
			fmt.Printf("%v; then %v\n", mutex.DescribeOperation(input, o.Output), mutex.DescribeState(o.State))
		}
	}
	// Output:
	// acquire(A) -> shared; then A x2
	// acquire(A) -> locked; then A
	// acquire(B) -> locked; then A
	// crash(A) -> dead; then free
}

// The record may say anything while nobody holds.
func ExampleOwnerRecord() {
	record := model.OwnerRecord()
	for _, state := range []model.Holders{{}, {Names: model.BagOf("A", "B")}} {
		for _, o := range record.Apply(state, model.WhoHolds{}) {
			fmt.Printf("%v: %v\n", state, record.DescribeOperation(model.WhoHolds{}, o.Output))
		}
	}
	// Output:
	// free: who holds? -> anything
	// A, B: who holds? -> "A"
	// A, B: who holds? -> "B"
}
