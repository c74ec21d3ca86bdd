package anynumber

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/certificate"
	"lockpick/scenarios"
)

// What a search finds that leaves out a rule of the gluing, or does not look whether a configuration is bad, is no
// proof: the verifier shares nothing with it and notices.
func TestWrongProofsAreNotVerified(t *testing.T) {
	refused := func(s *System, proof *Proof) string {
		text, err := s.Certificate(scenarios.MutualExclusion, proof)
		require.NoError(t, err)
		f, err := certificate.Read(text)
		require.NoError(t, err)
		return f.Verify(context.Background(), s.sc, scenarios.MutualExclusion).Why
	}
	sc := row(t, "simpleflock/unlink-before-unlock/contend")
	for _, without := range []int{1, 3} {
		s, proof := first(t, sc, scenarios.MutualExclusion, without)
		require.Contains(t, refused(s, proof), "a step leads to a view that the certificate has not")
	}

	blind := *scenarios.MutualExclusion
	blind.Shows = scenarios.InAStep // of assertions, which it has none of
	s, proof := first(t, sc, &blind, 0)
	require.NotNil(t, proof, "all views are known, and nothing is asked of them")
	require.Contains(t, refused(s, proof), "mutual-exclusion is broken in it")

	s, err := New(sc)
	require.NoError(t, err)
	proof, _, err = s.prove(t.Context(), &blind, How{K: 1, Inside: true}, budget, 0)
	require.NoError(t, err)
	require.Contains(t, refused(s, proof), "a view is bad")
	dropped := 0
	for key, v := range proof.Views { // order does not matter: each is looked at for itself
		if together(&v) {
			delete(proof.Views, key)
			dropped++
		}
	}
	require.Positive(t, dropped)
	require.Regexp(t, "is broken in it|a step leads to a view that the certificate has not", refused(s, proof),
		"what is bad cannot be left out: steps lead there")
}
