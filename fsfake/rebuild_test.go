package fsfake

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A machine that is made from the key of another answers as that does, whatever happens to both.
func TestRebuilt(t *testing.T) {
	rebuilt, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := genOptions.Draw(t, "options")
		start := trioOf(o)
		m, r := start.Clone(), NewRebuilder(start)
		for _, d := range genDeeds.Draw(t, "deeds") {
			d.apply(m)
			if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
				id, _ := m.LookupName("/tmp/a")
				m.Mark(d.task, "lock", "/tmp/a", id)
			}
			all++
			if !r.Rebuilds(m) {
				continue
			}
			rebuilt++
			again, ok := r.Machine(m.AppendKey(nil))
			if !ok {
				t.Fatalf("not rebuilt after %s", d)
			}
			if err := check(again); err != nil {
				t.Fatalf("after %s: %v", d, err)
			}
			other := m.Clone()
			for _, d := range genDeeds.Draw(t, "further") {
				if x, y := d.apply(other), d.apply(again); x != y {
					t.Fatalf("%s answered %v, and %v to what was rebuilt", d, x, y)
				}
				if string(other.AppendKey(nil)) != string(again.AppendKey(nil)) {
					t.Fatalf("keys differ after %s", d)
				}
			}
		}
	})
	require.Greater(t, 2*rebuilt, all, "hardly any machine was rebuilt")
}
