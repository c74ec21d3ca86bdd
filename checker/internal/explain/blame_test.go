package explain

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/scenarios"
)

// The last answer is the last straw: what is blamed is the first refusal without which
// there would be an order.
func TestBlamed(t *testing.T) {
	op := func(client int, in any, out any, from, to int) porcupine.Operation {
		return porcupine.Operation{
			ClientId: client, Input: in, Output: out,
			Call: trace.TimestampOf(from), Return: trace.TimestampOf(to) + trace.AtReturn,
		}
	}
	a, b := model.Acquire{Owner: "A"}, model.Acquire{Owner: "B"}
	got, refused := model.Acquired{OK: true}, model.Acquired{}
	for _, c := range []struct {
		name     string
		property *scenarios.Property
		history  []porcupine.Operation
		want     int
	}{
		{"refused while the other was still trying, which then was refused, too", scenarios.SpuriousFailure,
			[]porcupine.Operation{op(0, a, refused, 1, 5), op(1, b, refused, 2, 3)}, 3},
		{"refused while nobody held", scenarios.SpuriousFailure, []porcupine.Operation{op(1, b, refused, 2, 3)}, 3},
		{"a refusal that the other's hold explains", scenarios.SpuriousFailure, []porcupine.Operation{
			op(0, a, got, 1, 2), op(1, b, refused, 3, 4), op(0, model.Release{Owner: "A"}, model.Released{}, 5, 6), op(0, a, refused, 7, 8),
		}, 8},
		{"two hold", scenarios.MutualExclusion, []porcupine.Operation{op(0, a, got, 1, 2), op(1, b, got, 3, 9)}, 9},
		{"other operations do not count", scenarios.MutualExclusion,
			[]porcupine.Operation{op(0, a, got, 1, 2), op(1, b, got, 3, 9), op(0, model.Read{}, model.ReadValue{}, 10, 11)}, 9},
		{"nothing is judged by a history", scenarios.Wedge, []porcupine.Operation{op(0, a, got, 1, 2)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, blamed(&trace.Counterexample{Property: c.property, History: c.history}))
		})
	}
}
