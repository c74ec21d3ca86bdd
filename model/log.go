package model

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxEntry is the largest number of an entry of a [Log].
const MaxEntry = 63

// Append puts an entry, 0 to [MaxEntry], at the end of the log. It returns
// [Appended].
type Append struct{ Entry int }

// String renders the operation: "append(3)".
func (a Append) String() string { return fmt.Sprintf("append(%d)", a.Entry) }

// Appended is the answer to [Append].
type Appended struct{}

// String renders the answer.
func (Appended) String() string { return "appended" }

// Entries is a set of entry numbers, bit n for entry n.
type Entries uint64

// EntriesOf returns the set of the given entries.
func EntriesOf(entries ...int) Entries {
	var e Entries
	for _, n := range entries {
		e |= bit(n)
	}
	return e
}

// Has reports whether entry n is in the set.
func (e Entries) Has(n int) bool { return e&bit(n) != 0 }

// String renders the set: "[1 2 3]".
func (e Entries) String() string {
	var names []string
	for rest := uint64(e); rest != 0; rest &= rest - 1 {
		names = append(names, fmt.Sprint(bits.TrailingZeros64(rest)))
	}
	return "[" + strings.Join(names, " ") + "]"
}

func bit(n int) Entries {
	e, err := entry(n)
	if err != nil {
		panic(err)
	}
	return e
}

func entry(n int) (Entries, error) {
	if n < 0 || n > MaxEntry {
		return 0, fmt.Errorf("model: the log has entries 0 to %d, not %d", MaxEntry, n)
	}
	return 1 << n, nil
}

// LogState is what has been appended.
type LogState struct{ Entries Entries }

// String renders the state: "[1 2]".
func (s LogState) String() string { return s.Entries.String() }

// Log is a log to which every entry is appended at most once. A history is wrong
// exactly if some entry was appended twice. In which order does not matter, nor
// does what is said of the cursor: that is [CursorLog].
func Log() Spec {
	return Define("log", LogState{}, On(LogState.Append))
}

// Append appends an entry that is not there yet; another it cannot append.
func (s LogState) Append(in Append) []Next[LogState, Appended] {
	if s.Entries.Has(in.Entry) {
		return nil
	}
	return Only(LogState{s.Entries | bit(in.Entry)}, Appended{})
}

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
