package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func logFixture() fixture {
	none, one := LogState{}, LogState{EntriesOf(1)}
	return fixture{
		spec: Log(),
		rows: []row{
			{none, Append{1}, []Outcome{{one, Appended{}}}},
			{one, Append{1}, nil},
			{one, Append{0}, []Outcome{{LogState{EntriesOf(0, 1)}, Appended{}}}},
			{one, Append{63}, []Outcome{{LogState{EntriesOf(1, 63)}, Appended{}}}},
		},
		accepts: []named{
			{"each once", seq(Append{2}, Appended{}, Append{1}, Appended{}, Append{0}, Appended{})},
			{"again, after a death that undid it", []event{invoke(0, Append{1}), ret(0, Pending{}), invoke(1, Append{1}), ret(1, Appended{})}},
			{"twice, but the second never returned", []event{invoke(0, Append{1}), ret(0, Appended{}), invoke(1, Append{1})}},
		},
		rejects: []named{
			{"twice", seq(Append{1}, Appended{}, Append{1}, Appended{})},
			{"twice, much later", seq(Append{1}, Appended{}, Append{2}, Appended{}, Append{3}, Appended{}, Append{1}, Appended{})},
			{"twice at once", []event{invoke(0, Append{1}), invoke(1, Append{1}), ret(0, Appended{}), ret(1, Appended{})}},
		},
		wrong: []wrong{
			{"appends twice", with(Log(), On(func(s LogState, in Append) []Next[LogState, Appended] {
				return Only(LogState{s.Entries | EntriesOf(in.Entry)}, Appended{})
			}))},
			{"only upwards", with(Log(), On(func(s LogState, in Append) []Next[LogState, Appended] {
				if s.Entries > EntriesOf(in.Entry) {
					return nil
				}
				return s.Append(in)
			}))},
		},
		inputs:  []any{Append{0}, Append{1}, Append{2}, Append{63}},
		outputs: []any{Appended{}},
	}
}

func cursorLogFixture() fixture {
	none, one := CursorLogState{}, CursorLogState{EntriesOf(1), 1}
	two := CursorLogState{EntriesOf(1, 2), 1}
	return fixture{
		spec: CursorLog(),
		rows: []row{
			{none, Append{1}, []Outcome{{CursorLogState{EntriesOf(1), 0}, Appended{}}}},
			{one, Append{1}, nil},
			{none, Advance{0}, []Outcome{{none, Advanced{}}}},
			{none, Advance{1}, nil},
			{one, Advance{1}, []Outcome{{one, Advanced{}}}},
			{one, Advance{0}, nil},
			{two, Advance{2}, []Outcome{{CursorLogState{EntriesOf(1, 2), 2}, Advanced{}}}},
			{two, Advance{3}, nil},
			{two, ReadCursor{}, []Outcome{{two, Cursor{1}}}},
		},
		accepts: []named{
			{"append, then advance", seq(Append{1}, Appended{}, Append{2}, Appended{}, Advance{2}, Advanced{}, ReadCursor{}, Cursor{2})},
			{"advanced by a dead one", []event{invoke(0, Append{1}), ret(0, Appended{}), invoke(0, Advance{1}), ret(0, Pending{}),
				invoke(1, ReadCursor{}), ret(1, Cursor{1})}},
		},
		rejects: []named{
			{"twice", seq(Append{1}, Appended{}, Append{1}, Appended{})},
			{"over a gap", seq(Append{2}, Appended{}, Advance{2}, Advanced{})},
			{"backward", seq(Append{1}, Appended{}, Advance{1}, Advanced{}, Advance{0}, Advanced{})},
			{"misread", seq(Append{1}, Appended{}, Advance{1}, Advanced{}, ReadCursor{}, Cursor{0})},
		},
		wrong: []wrong{
			{"goes anywhere", with(CursorLog(), On(func(s CursorLogState, in Advance) []Next[CursorLogState, Advanced] {
				return Only(CursorLogState{s.Entries, in.To}, Advanced{})
			}))},
			{"goes back", with(CursorLog(), On(func(s CursorLogState, in Advance) []Next[CursorLogState, Advanced] {
				s.Cursor = min(s.Cursor, in.To)
				return s.Advance(in)
			}))},
		},
		inputs:  []any{Append{1}, Append{2}, Advance{1}, Advance{2}, ReadCursor{}},
		outputs: []any{Appended{}, Advanced{}, Cursor{0}, Cursor{1}, Cursor{2}},
	}
}

func TestEntriesOutOfRangeAreRefused(t *testing.T) {
	for _, n := range []int{-1, 64} {
		require.Panics(t, func() { Log().Apply(LogState{}, Append{n}) })
	}
	require.Equal(t, "[0 1 63]", EntriesOf(63, 1, 0).String())
}
