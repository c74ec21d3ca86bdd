package table

// An Interner gives equal comparable values one small number, in order of arrival.
type Interner struct {
	ids    map[any]uint32
	Values []any
}

// NewInterner returns an interner that has seen nothing.
func NewInterner() *Interner { return &Interner{ids: map[any]uint32{}} }

// ID returns the number of a value, from 0.
func (t *Interner) ID(v any) uint32 {
	if id, ok := t.ids[v]; ok {
		return id
	}
	id := uint32(len(t.Values))
	t.ids[v] = id
	t.Values = append(t.Values, v)
	return id
}
