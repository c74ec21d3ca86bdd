package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

func TestHistorySpeaksOfSteps(t *testing.T) {
	r := resultOf(t, "toy/look/tasks", scenarios.MutualExclusion)
	w := &row{Scenario: r.Scenario}
	h, err := newHistory(w, r.Counterexample)
	require.NoError(t, err)
	page := string(h.page)
	require.Contains(t, page, `"OriginalStart":"step 1"`)
	require.Contains(t, page, "no order is left")
	require.Contains(t, page, "<title>toy/look/tasks · mutual-exclusion</title>")
	require.Contains(t, page, "<h1>toy/look/tasks · mutual-exclusion</h1>")
	require.Contains(t, page, `<main id="canvas">`)
	require.Equal(t, "0 is A, 1 is A.2 and 2 is B", h.Clients)
	for range 20 {
		again, err := newHistory(w, r.Counterexample)
		require.NoError(t, err)
		require.Equal(t, page, string(again.page))
	}
}

func TestNoHistoryWhereNoneDecides(t *testing.T) {
	r := resultOf(t, "toy/excl/crash", scenarios.Wedge)
	h, err := newHistory(&row{Scenario: r.Scenario}, r.Counterexample)
	require.NoError(t, err)
	require.Nil(t, h)
}

// A porcupine that writes another page is noticed.
func TestAnotherFormOfPageIsAnError(t *testing.T) {
	for _, page := range []string{"", "<html></html>", "const data = {]}\nrender(data)", "const data = {}\n\nrender(data)"} {
		_, err := settle([]byte(page), "x")
		require.Error(t, err, page)
	}
	require.Equal(t, "never", stepText("9223372036854775807"))
	require.Equal(t, "step 3", stepText("9"))
	require.Equal(t, "x", stepText("x"))
	require.False(t, strings.Contains(asset("history.css"), "url("))
}
