package search

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/model"
	"lockpick/scenarios"
)

// explored returns the error of an exploration whose monitor follows a specification of
// its own, while porcupine keeps to the property's.
func explored(t *testing.T, id string, monitor func(*model.Spec), workers int) error {
	t.Helper()
	x, err := NewExplorer(fixtures.Row(t, id, 2), scenarios.MutualExclusion)
	require.NoError(t, err)
	spec := scenarios.MutualExclusion.Spec
	monitor(&spec)
	x.Histories.Follow(spec)
	_, err = x.Explore(context.Background(), Limits{Workers: workers}, x.Initial)
	return err
}

// blind makes every acquisition right.
func blind(s *model.Spec) {
	s.Apply = func(state, _ any) []model.Outcome { return []model.Outcome{{State: state, Output: model.Any{}}} }
}

// severe makes everything wrong.
func severe(s *model.Spec) {
	s.Apply = func(any, any) []model.Outcome { return nil }
}

// A monitor that lets a violation pass is found out by porcupine, and so is one that
// sees a violation where there is none.
func TestPorcupineHasTheLastWord(t *testing.T) {
	t.Parallel()
	for workers := 1; workers <= 2; workers++ {
		err := explored(t, "ctx/stat-then-write/contend", blind, workers)
		require.ErrorContains(t, err, "the monitor of mutex calls a history linearizable, porcupine calls it a violation: this is a fault of lockpick")
		err = explored(t, "ctx/excl/contend", severe, workers)
		require.ErrorContains(t, err, "the monitor of mutex calls a history a violation, porcupine calls it linearizable: this is a fault of lockpick")
		require.NoError(t, explored(t, "ctx/excl/contend", func(*model.Spec) {}, workers))
	}
}

// Every history is judged, or begins one that is.
func TestLastWordCoversEveryHistory(t *testing.T) {
	t.Parallel()
	x, err := NewExplorer(fixtures.Row(t, "gateguard/flock-rmw/crash", 2), scenarios.LostUpdate)
	require.NoError(t, err)
	_, err = x.Explore(context.Background(), Limits{}, x.Initial)
	require.NoError(t, err)
	begins := func(a, b [][]history.Operation) bool { // every operation of a is one of b's, further on there perhaps
		for c := range a {
			if len(a[c]) > len(b[c]) {
				return false
			}
			for i, op := range a[c] {
				of := b[c][i]
				same := op.In == of.In && slices.Equal(op.Before, of.Before)
				if !same || op.State != history.Invoke && (op.State != of.State || op.Out != of.Out) {
					return false
				}
			}
		}
		return true
	}
	var judged [][][]history.Operation
	for id := range x.Histories.Len() {
		if !x.Histories.Continued(uint32(id)) {
			judged = append(judged, x.Histories.Rows(uint32(id)))
		}
	}
	require.Less(t, len(judged), x.Histories.Len()/2)
	for id := range x.Histories.Len() {
		covered := false
		for i := 0; i < len(judged) && !covered; i++ {
			covered = begins(x.Histories.Rows(uint32(id)), judged[i])
		}
		require.True(t, covered, "history %d", id)
	}
}
