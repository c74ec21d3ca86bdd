package model

import "fmt"

// ReadCursor asks how far the log has been read. It returns [Cursor].
type ReadCursor struct{}

// String renders the operation.
func (ReadCursor) String() string { return "read cursor" }

// Cursor is the answer to [ReadCursor]: entries 1 to N are in the log.
type Cursor struct{ N int }

// String renders the number.
func (c Cursor) String() string { return fmt.Sprint(c.N) }

// Advance records that entries 1 to To are in the log. It returns [Advanced].
type Advance struct{ To int }

// String renders the operation: "advance(3)".
func (a Advance) String() string { return fmt.Sprintf("advance(%d)", a.To) }

// Advanced is the answer to [Advance].
type Advanced struct{}

// String renders the answer.
func (Advanced) String() string { return "advanced" }

// CursorLogState is what has been appended, and the cursor.
type CursorLogState struct {
	Entries Entries
	Cursor  int
}

// String renders the state: "[1 2] cursor 1".
func (s CursorLogState) String() string { return fmt.Sprintf("%v cursor %d", s.Entries, s.Cursor) }

// CursorLog is a [Log] with a cursor, the number of the last entry known to be in
// it. Entries are numbered from 1, and cursor 0 says that none is known (an entry
// 0 may exist; the cursor never speaks of it). The cursor moves only forward and
// only over entries that have been appended, and a reader is told where it is.
func CursorLog() Spec {
	return Define("cursor-log", CursorLogState{},
		On(CursorLogState.Append), On(CursorLogState.Advance), On(CursorLogState.ReadCursor))
}

// Append appends an entry that is not there yet; another it cannot append.
func (s CursorLogState) Append(in Append) []Next[CursorLogState, Appended] {
	if s.Entries.Has(in.Entry) {
		return nil
	}
	s.Entries |= bit(in.Entry)
	return Only(s, Appended{})
}

// Advance moves the cursor forward, or leaves it, if every entry up to the new
// cursor has been appended. It cannot move it otherwise.
func (s CursorLogState) Advance(in Advance) []Next[CursorLogState, Advanced] {
	if in.To < s.Cursor {
		return nil
	}
	for n := s.Cursor + 1; n <= in.To; n++ {
		if !s.Entries.Has(n) {
			return nil
		}
	}
	s.Cursor = in.To
	return Only(s, Advanced{})
}

// ReadCursor answers with the cursor.
func (s CursorLogState) ReadCursor(ReadCursor) []Next[CursorLogState, Cursor] {
	return Only(s, Cursor{s.Cursor})
}
