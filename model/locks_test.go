package model

import (
	"reflect"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// of names the lock of an operation.
func of(lock string, input any) any {
	v := reflect.New(reflect.TypeOf(input)).Elem()
	v.Set(reflect.ValueOf(input))
	v.FieldByName("Lock").SetString(lock)
	return v.Interface()
}

// both is the state of two locks.
type both struct{ X, Y any }

// jointly is a specification of two locks, x and y, as one object: an operation changes one of
// them, and what names none changes both at once.
func jointly(spec Spec) Spec {
	joint := spec
	joint.PerLock, joint.Init = false, both{spec.Init, spec.Init}
	joint.Apply = func(state, input any) (out []Outcome) {
		s := state.(both)
		lock, ofLock := LockOf(input)
		for _, x := range spec.Apply(s.X, input) {
			switch {
			case ofLock && lock == "x":
				out = append(out, Outcome{both{x.State, s.Y}, x.Output})
			case !ofLock:
				for _, y := range spec.Apply(s.Y, input) {
					out = append(out, Outcome{both{x.State, y.State}, x.Output})
				}
			}
		}
		if lock == "y" {
			for _, y := range spec.Apply(s.Y, input) {
				out = append(out, Outcome{both{s.X, y.State}, y.Output})
			}
		}
		return out
	}
	return joint
}

// Lock by lock, porcupine and the monitor say of a history what is said of both locks as one
// object, which nobody divides; deaths are between two steps.
func TestLocksAreJudgedEachForItself(t *testing.T) {
	for _, f := range fixtures() {
		if !f.spec.PerLock {
			continue
		}
		t.Run(f.spec.Name, func(t *testing.T) {
			two := f
			two.spec, two.inputs = jointly(f.spec), nil
			for _, in := range f.inputs {
				if _, ofLock := LockOf(in); ofLock {
					two.inputs = append(two.inputs, of("x", in), of("y", in))
				}
			}
			dies := f.spec.Accepts(Crash{})
			verdicts := map[bool]int{}
			agree := func(t *rapid.T) {
				history := drawHistory(t, two, rapid.IntRange(2, 7).Draw(t, "calls")) // short ones are seldom violated
				if dies && rapid.Bool().Draw(t, "a death") {
					at := rapid.IntRange(0, len(history)).Draw(t, "when")
					history = slices.Insert(history, at, invoke(9, Crash{"A"}), ret(9, Crashed{}))
				}
				m := NewMonitor(f.spec)
				for i, e := range history {
					m.tell(e)
					if e.client == 9 && !e.ret {
						continue
					}
					want := linearizable(two.spec, history[:i+1])
					if linearizable(f.spec, history[:i+1]) != want || porcupine.CheckEvents(f.spec.Porcupine(), whole(history[:i+1])) != want {
						t.Fatalf("as one object linearizable=%t, lock by lock not so: %v", want, history[:i+1])
					}
					if m.Violated() == want {
						t.Fatalf("monitor says violated=%t: %v", m.Violated(), history[:i+1])
					}
				}
				verdicts[m.Violated()]++
			}
			for n := 0; n < 10 && len(verdicts) < 2; n++ { // one of them may be rare
				rapid.Check(t, agree)
			}
			require.Len(t, verdicts, 2, "no vacuous agreement")
		})
	}
}

// whole writes a history as porcupine's events; what has not returned does at the end.
func whole(history []event) []porcupine.Event {
	open := map[int]bool{}
	for _, e := range history {
		open[e.client] = !e.ret
	}
	for client := range 10 {
		if open[client] {
			history = append(slices.Clip(history), ret(client, Pending{}))
		}
	}
	return events(history)
}

// A lock that is free again is as one that never came up, in the key as well; and operations that
// name no lock are of the only one.
func TestLocksInKeys(t *testing.T) {
	key := func(history ...event) string { return string(watch(Mutex(), history).AppendKey(nil)) }
	x, y := Acquire{"A", "x"}, Acquire{"A", "y"}
	held := key(invoke(0, x), ret(0, ok))
	require.NotEqual(t, held, key(invoke(0, y), ret(0, ok)))
	require.Equal(t, held, key(invoke(1, y), ret(1, ok), invoke(0, x), ret(0, ok), invoke(1, Release{"A", "y"}), ret(1, Released{})))
	require.Equal(t, key(), key(invoke(0, x), ret(0, ok), invoke(0, y), ret(0, ok), invoke(9, Crash{"A"}), ret(9, Crashed{})))

	named := []event{invoke(0, x), ret(0, ok), invoke(1, Release{Owner: "A"}), ret(1, Released{}), invoke(2, Acquire{"B", "x"}), ret(2, ok)}
	require.True(t, linearizable(Mutex(), named))
	require.False(t, watch(Mutex(), named).Violated())
	m := watch(Mutex(), []event{invoke(0, x), ret(0, ok), invoke(1, Acquire{"B", "y"}), ret(1, ok)})
	require.Equal(t, "x: A; y: B", m.String())
}

// Where a lock is named, operations show its name; where none is they do not.
func TestNamesOfLocks(t *testing.T) {
	for _, c := range []struct {
		input       any
		named, bare string
	}{
		{Acquire{Owner: "A"}, "acquire(A, x)", "acquire(A)"}, {Release{Owner: "A"}, "release(A, x)", "release(A)"},
		{RAcquire{Owner: "A"}, "racquire(A, x)", "racquire(A)"}, {RRelease{Owner: "A"}, "rrelease(A, x)", "rrelease(A)"},
		{WAcquire{Owner: "A"}, "wacquire(A, x)", "wacquire(A)"}, {WRelease{Owner: "A"}, "wrelease(A, x)", "wrelease(A)"},
		{Grant{Owner: "A"}, "grant(A, x)", "grant(A)"}, {Use{Token: 2}, "use(2, x)", "use(2)"},
		{WhoHolds{}, "who holds x?", "who holds?"}, {IsHeld{}, "held x?", "held?"},
	} {
		named := of("x", c.input)
		require.Equal(t, c.named, Mutex().DescribeOperation(named, "")[:len(c.named)])
		require.Equal(t, c.bare, Mutex().DescribeOperation(c.input, "")[:len(c.bare)])
		require.Equal(t, c.input, Unnamed(named))
		lock, ok := LockOf(named)
		require.Equal(t, "x", lock)
		require.True(t, ok)
	}
	for _, in := range []any{Crash{"A"}, Add{"k"}, Read{}} {
		_, ok := LockOf(in)
		require.False(t, ok)
		require.Equal(t, in, Unnamed(in))
	}
}
