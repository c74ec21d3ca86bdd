package history

import (
	"bytes"
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
