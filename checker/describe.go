package checker

import (
	"bytes"
	"fmt"
)

// describe writes a past down by its values, not by their numbers.
func (t *pastTable) describe(id uint32) []byte {
	var b bytes.Buffer
	for c, row := range t.rows(id) {
		for i := range row {
			op := &row[i]
			fmt.Fprintf(&b, "%d %#v %d %v", c, t.values.values[op.in], op.state, op.before)
			if op.state == pastReturn {
				fmt.Fprintf(&b, " %#v", t.values.values[op.out])
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
