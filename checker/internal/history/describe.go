package history

import (
	"bytes"
	"crypto/sha256"
	"fmt"
)

// Describe writes a history down by its values, not by their numbers.
func (t *Table) Describe(id uint32) []byte {
	var b bytes.Buffer
	for c, row := range t.Rows(id) {
		for i := range row {
			op := &row[i]
			fmt.Fprintf(&b, "%d %#v %d %v", c, t.values.Values[op.In], op.State, op.Before)
			if op.State == Return {
				fmt.Fprintf(&b, " %#v", t.values.Values[op.Out])
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// Fingerprint names what a state remembers of its past by its contents. Without histories there
// is nothing to remember.
func (t *Table) Fingerprint(id uint32) (f [16]byte) {
	if t == nil {
		return f
	}
	var text []byte
	if t.MonitorsOnly {
		t.mu.Lock()
		text = append(text, t.monitors.keys.Key(id)...)
		t.mu.Unlock()
	} else {
		text = t.Describe(id)
	}
	sum := sha256.Sum256(text)
	copy(f[:], sum[:])
	return f
}
