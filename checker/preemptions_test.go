package checker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is known of an unknown verdict names the bound, the places and the faults that were left out.
func TestWithinIsTold(t *testing.T) {
	t.Parallel()
	r := Result{Why: "it was stopped", Within: &Within{Preemptions: 1, Places: 214}}
	require.Equal(t, "holds with up to 1 preemption (all 214 places), unknown beyond; it was stopped", r.Known())
	r.Within = &Within{Preemptions: 2, Places: 900, Faultless: true}
	require.Equal(t, "holds with up to 2 preemptions (the last at any of 900 places) and no fault, unknown beyond; it "+
		"was stopped", r.Known())
	r.Verdict = Broken
	require.Equal(t, "it was stopped", r.Known())
}
