package checker

// An interner gives equal comparable values one small number, in order of arrival.
type interner struct {
	ids    map[any]uint32
	values []any
}

func newInterner() *interner { return &interner{ids: map[any]uint32{}} }

func (t *interner) id(v any) uint32 {
	if id, ok := t.ids[v]; ok {
		return id
	}
	id := uint32(len(t.values))
	t.ids[v] = id
	t.values = append(t.values, v)
	return id
}
