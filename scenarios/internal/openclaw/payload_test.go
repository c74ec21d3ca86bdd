package openclaw

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Payloads are written and read as package encoding/json does it, whatever the text.
func TestPayloadsAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Payload{Pid: rapid.IntRange(-2, 200).Draw(t, "pid"), CreatedAt: rapid.SampledFrom([]string{"", "2026-03-29T00:00:00Z"}).Draw(t, "created"), StartTime: rapid.Int64Range(-1, 3).Draw(t, "start")}
		text, err := json.Marshal(p)
		require.NoError(t, err)
		require.Equal(t, string(text), string(p.Text()))
		require.Equal(t, p, Parse(text))
		for range rapid.IntRange(0, 3).Draw(t, "changes") { // cut, doubled or changed somewhere
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := rapid.IntRange(from, len(text)).Draw(t, "to")
			put := rapid.SampledFrom([]string{"", "0", "-", "{", "}", ",", `"`, `\n`, "\"", "\n", "é", "\xff", "<", "null"}).Draw(t, "put")
			text = []byte(string(text[:from]) + put + string(text[to:]))
		}
		var want Payload
		if json.Unmarshal(text, &want) != nil {
			want = Payload{}
		}
		require.Equal(t, want, Parse(text), "%q", text)
	})
}
