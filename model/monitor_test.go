package model

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn is a history in the making: an implementation that follows the
// specification, some of whose answers are then forged.
type drawn struct {
	f       fixture
	state   any
	clients []client
	history []event
	forge   int // how many answers of ten are forged
	limit   int // invocations
}

type client struct {
	pending bool
	input   any
	done    bool // the operation has taken effect, with output
	output  any
}

// drawHistory draws a history of up to limit operations of four clients: some
// take effect and return, some die before or after, some are cut off.
func drawHistory(t *rapid.T, f fixture, limit int) []event {
	d := drawn{f: f, state: f.spec.Init, clients: make([]client, 4), limit: limit}
	d.forge = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "forged of ten")
	for range rapid.IntRange(1, 4*limit).Draw(t, "steps") {
		d.step(t)
	}
	return d.history
}

func (d *drawn) step(t *rapid.T) {
	id := rapid.IntRange(0, len(d.clients)-1).Draw(t, "client")
	c := &d.clients[id]
	switch {
	case !c.pending && d.limit > 0:
		d.limit--
		*c = client{pending: true, input: rapid.SampledFrom(d.f.inputs).Draw(t, "input")}
		d.history = append(d.history, invoke(id, c.input))
	case !c.pending:
	case !c.done && rapid.IntRange(0, 9).Draw(t, "die before") == 0:
		d.end(id, Pending{})
	case !c.done:
		outcomes := d.f.spec.Apply(d.state, c.input)
		if len(outcomes) == 0 { // as wrong as can be
			d.end(id, rapid.SampledFrom(d.f.outputs).Draw(t, "impossible"))
			return
		}
		o := rapid.SampledFrom(outcomes).Draw(t, "outcome")
		d.state, c.done, c.output = o.State, true, o.Output
	case rapid.IntRange(0, 9).Draw(t, "die after") == 0:
		d.end(id, Pending{})
	case c.output == Any{} || rapid.IntRange(0, 9).Draw(t, "forge") < d.forge:
		d.end(id, rapid.SampledFrom(d.f.outputs).Draw(t, "forged"))
	default:
		d.end(id, c.output)
	}
}

func (d *drawn) end(id int, output any) {
	d.clients[id].pending = false
	d.history = append(d.history, ret(id, output))
}

func TestMonitorAgreesWithPorcupineOnEveryPrefix(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.spec.Name, func(t *testing.T) {
			verdicts := map[bool]int{}
			agrees := func(t *rapid.T) {
				history := drawHistory(t, f, 8)
				m := NewMonitor(f.spec)
				for i, e := range history {
					m.tell(e)
					if m.Violated() == linearizable(f.spec, history[:i+1]) {
						t.Fatalf("monitor says violated=%t, porcupine does not: %v", m.Violated(), history[:i+1])
					}
				}
				verdicts[m.Violated()]++
			}
			for range 10 { // few histories of some specifications are violations
				if rapid.Check(t, agrees); testing.Short() || min(verdicts[true], verdicts[false]) > 2 {
					return
				}
			}
			t.Fatalf("no vacuous agreement: %v", verdicts)
		})
	}
}

// With equal keys, the past may be forgotten: two histories that lead to one key
// have one verdict after every continuation.
func TestEqualKeysJudgeEveryContinuationAlike(t *testing.T) {
	met := 0
	for _, f := range fixtures() {
		t.Run(f.spec.Name, func(t *testing.T) {
			pasts := map[string][]event{}
			rapid.Check(t, func(t *rapid.T) {
				history := drawHistory(t, f, 7)
				cut := rapid.IntRange(0, len(history)).Draw(t, "cut")
				past, future := history[:cut], history[cut:]
				key := string(watch(f.spec, past).AppendKey(nil))
				other, known := pasts[key]
				if !known {
					pasts[key] = past
					return
				}
				if fmt.Sprint(other) != fmt.Sprint(past) {
					met++
				}
				if key == "\x00" {
					return // violated, whoever is pending
				}
				swapped := append(append([]event{}, other...), future...)
				if linearizable(f.spec, history) != linearizable(f.spec, swapped) {
					t.Fatalf("one key, two verdicts: %v and %v, then %v", past, other, future)
				}
			})
		})
	}
	require.Positive(t, met, "some key must have been reached in two ways")
}

// The key does not depend on the order in which the same facts came to be known.
func TestKeysForgetWhatNoLongerMatters(t *testing.T) {
	key := func(spec Spec, history ...event) string { return string(watch(spec, history).AppendKey(nil)) }
	a, b := invoke(0, Add{"x"}), invoke(1, Add{"y"})
	ra, rb := ret(0, Added{}), ret(1, Added{})
	done := key(Set(), a, ra, b, rb)
	require.Equal(t, done, key(Set(), b, rb, a, ra))
	require.Equal(t, done, key(Set(), b, a, rb, ra))
	require.Equal(t, done, key(Set(), a, b, rb, ra))
	require.NotEqual(t, done, key(Set(), a, b, ra))
	require.Equal(t,
		key(Mutex()), key(Mutex(), invoke(0, Acquire{Owner: "A"}), ret(0, ok), invoke(0, Release{Owner: "A"}), ret(0, Released{})))
	require.NotEqual(t, key(Mutex()), key(Mutex(), invoke(0, Acquire{Owner: "A"})))
	require.NotEqual(t, key(Mutex(), invoke(0, Acquire{Owner: "A"})), key(Mutex(), invoke(1, Acquire{Owner: "A"})))
}

func TestCopiesOfAMonitorAreIndependent(t *testing.T) {
	m := watch(Mutex(), []event{invoke(0, Acquire{Owner: "A"}), invoke(1, Acquire{Owner: "B"})})
	before := m.AppendKey(nil)
	won, lost := m.Clone(), m.Clone()
	won.Return(0, ok)
	lost.Return(0, locked)
	won.Return(1, ok)
	lost.Return(1, ok)
	require.True(t, won.Violated())
	require.Equal(t, "violated", won.String())
	require.False(t, lost.Violated())
	require.Equal(t, "B", lost.String())
	require.Equal(t, before, m.AppendKey(nil))
}

func TestMonitorRefusesWhatIsNoHistory(t *testing.T) {
	m := NewMonitor(Mutex())
	require.PanicsWithValue(t, "model: client 0 returns ok from no operation", func() { m.Return(0, ok) })
	require.PanicsWithValue(t, "model: mutex does not accept model.Read", func() { m.Invoke(0, Read{}) })
	m.Invoke(0, Acquire{Owner: "A"})
	require.PanicsWithValue(t, "model: client 0 invokes release(A) while acquire(A) is pending",
		func() { m.Invoke(0, Release{Owner: "A"}) })
}

// A history of several specifications, as operations and as events, is judged by
// each as if it were its own.
func TestPorcupineIgnoresWhatIsNotAccepted(t *testing.T) {
	mixed := []event{
		invoke(0, Acquire{Owner: "A"}), ret(0, ok), invoke(1, Read{}), ret(1, ReadValue{"torn"}),
		invoke(2, WhoHolds{}), ret(2, Holder{"B"}),
	}
	for _, c := range []struct {
		spec Spec
		want bool
	}{{Mutex(), true}, {StrictMutex(), true}, {Register(), false}, {OwnerRecord(), false}, {Set(), true}} {
		require.Equal(t, c.want, linearizable(c.spec, mixed), c.spec.Name)
		require.Equal(t, c.want, porcupine.CheckEvents(c.spec.Porcupine(), events(mixed)), c.spec.Name)
	}
}
