package report

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"strings"
	"time"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// How much of file data is shown: in a call, and at a name.
const (
	dataInCall = 14
	dataAtName = 18
)

// call shortens one call and its answer: names relative to the watched directory, data
// clipped, inodes by the numbers of the chart, times told.
func (c *charter) call(st *trace.Walked, i int) CallText {
	op, r := st.Calls[i].Op, st.Calls[i].Result
	op.Path, op.Path2 = c.short(op.Path), c.short(op.Path2)
	op = withoutMode(op)
	t := CallText{Failed: r.Errno != 0 || r.Blocked || op.Call == fsfake.CallCellCAS && r.N == 0,
		Answer: c.answer(st, i)}
	switch {
	case op.Call == fsfake.CallWrite:
		t.Call = fmt.Sprintf("write fd %d %s", op.FD, c.walk.Quote(op.Data, dataInCall))
	case op.Call == fsfake.CallPwrite:
		t.Call = fmt.Sprintf("pwrite fd %d %s at %d", op.FD, c.walk.Quote(op.Data, dataInCall), op.Off)
	case op.Call.Is(fsfake.SetsTimes):
		t.Call = op.String() + " to now"
		if op.Time2 != fsfake.UTIME_NOW {
			t.Call = op.String() + " to " + c.walk.TimeText(time.Unix(0, op.Time2))
		}
	case op.Call == fsfake.CallExit && c.byChild(st, i):
		t.Call = "a child exits"
	case op.Call == fsfake.CallCellStore:
		t.Call = fmt.Sprintf("store %s = %s", op.Cell, CellText(op.Value))
	case op.Call == fsfake.CallCellCAS:
		swap, _ := op.Value.(fsfake.Swap)
		t.Call = fmt.Sprintf("%s %s %s → %s", op.Call, op.Cell, CellText(swap.Old), CellText(swap.New))
	case op.Call.Is(fsfake.Flagged):
		t.Call = op.String()
		t.Terse = terse(t.Call)
	default:
		t.Call = op.String()
	}
	if t.Terse == "" {
		t.Terse = t.Call
	}
	return t
}

// byChild reports whether a child of the task's program makes a call.
func (c *charter) byChild(st *trace.Walked, i int) bool {
	_, child := c.walk.ChildOf(st.Calls[i].By.Pid)
	return child
}

// terse shortens the flags at the end of a call: "open a O_CREAT|O_EXCL" to "open a
// CREAT|EXCL".
func terse(call string) string {
	at := strings.LastIndexByte(call, ' ') + 1
	flags := strings.Split(call[at:], "|")
	for i := range flags {
		flags[i] = strings.TrimPrefix(strings.TrimPrefix(flags[i], "O_"), "LOCK_")
	}
	return call[:at] + strings.Join(flags, "|")
}

// withoutMode leaves out the access mode of an open that has other flags to show.
func withoutMode(op fsfake.Op) fsfake.Op {
	const modes = os.O_WRONLY | os.O_RDWR
	if op.Call == fsfake.CallOpen && op.Flags&^(modes|fsfake.O_CLOEXEC) != 0 {
		op.Flags &^= modes
	}
	return op
}

// inodeOf finds the inode that a call works on, when it stands at a watched name at some
// time.
func (c *charter) inodeOf(st *trace.Walked, i int) (int, bool) {
	if len(st.Targets[i]) == 0 {
		return 0, false
	}
	n := c.walk.Inodes.Of(st.Targets[i][0].ID)
	return n, n > 0
}

func (c *charter) answer(st *trace.Walked, i int) string {
	call := &st.Calls[i]
	r := &call.Result
	text := r.Describe(call.Op)
	if !r.OK() {
		return text
	}
	switch is := call.Op.Call; {
	case is.Is(fsfake.Reads) || is == fsfake.CallReadlink:
		return "= " + c.walk.Quote(r.Data, dataInCall)
	case is.Is(fsfake.Stats):
		return c.statText(st, i)
	case is == fsfake.CallNow:
		return "= " + c.walk.TimeText(time.Unix(0, r.N))
	case is == fsfake.CallCellLoad:
		return "= " + CellText(r.Value)
	}
	return text
}

// statText is what a stat told: which file it is, and where that matters how old, and by
// which number the program knows it.
func (c *charter) statText(st *trace.Walked, i int) string {
	stat := &st.Calls[i].Result.Stat
	words := []string{"ok"}
	if n, ok := c.inodeOf(st, i); ok {
		words[0] = fmt.Sprintf("#%d", n)
		if c.renumbered {
			words = append(words, fmt.Sprintf("ino %d", stat.Ino))
		}
		if c.aging {
			words = append(words, c.walk.OldText(st.Before.Clock, time.Unix(0, stat.Mtime)))
		}
	} else if stat.Mode.IsDir() {
		words[0] = "dir"
	}
	return strings.Join(words, " ")
}

// short is a path's short name; a temporary name keeps its last part only.
func (c *charter) short(p string) string {
	if p == "" {
		return ""
	}
	s := c.walk.Names.Short(p)
	if strings.HasPrefix(s, "/") && strings.Count(s, "/") > 2 {
		return "…/" + path.Base(s)
	}
	return s
}

// CellText renders the value of a memory cell; of a struct, the fields that are not zero.
func CellText(v any) string {
	if v == nil {
		return "∅"
	}
	s := reflect.ValueOf(v)
	if s.Kind() != reflect.Struct {
		return fmt.Sprintf("%+v", v)
	}
	var kept []string
	for i := range s.NumField() {
		name, f := s.Type().Field(i).Name, s.Field(i)
		switch {
		case f.IsZero():
		case f.Kind() == reflect.Bool:
			kept = append(kept, name)
		default:
			kept = append(kept, fmt.Sprintf("%s:%+v", name, f))
		}
	}
	return "{" + strings.Join(kept, " ") + "}"
}
