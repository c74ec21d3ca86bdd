package history

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each event makes a history with another form, also where there are more than fit a byte, and leaves the one before as
// it is.
func TestFormsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.IntRange(1, 5).Draw(t, "clients")
		number := rapid.OneOf(rapid.Uint32Range(0, 5), rapid.Uint32Range(0, 100_000))
		p, forms := make(past, clients), map[string]bool{}
		for range rapid.IntRange(0, 400).Draw(t, "events") {
			form := string(p.appendForm(nil))
			require.False(t, forms[form])
			forms[form] = true
			c := rapid.IntRange(0, clients-1).Draw(t, "client")
			kinds := []Kind{Invoke, Crash}
			if p.pending(c) {
				kinds = []Kind{Return, Cut}
			}
			next := p.with(c, rapid.SampledFrom(kinds).Draw(t, "kind"), number.Draw(t, "value"), 7)
			require.Equal(t, form, string(p.appendForm(nil)))
			p = next
		}
	})
}
