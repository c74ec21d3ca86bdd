package report

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// call shortens one call and its answer: names relative to the watched directory, data
// clipped, inodes by the numbers of the chart.
func (c *charter) call(st *trace.Walked, i int) CallText {
	op, r := st.Calls[i].Op, st.Calls[i].Result
	t := CallText{Failed: r.Errno != 0 || r.Blocked}
	op.Path, op.Path2 = c.short(op.Path), c.short(op.Path2)
	switch op.Call {
	case fsfake.CallWrite:
		t.Call = fmt.Sprintf("write fd %d %s", op.FD, quoteData(op.Data, 14))
	case fsfake.CallPwrite:
		t.Call = fmt.Sprintf("pwrite fd %d %s at %d", op.FD, quoteData(op.Data, 14), op.Off)
	case fsfake.CallCellStore:
		t.Call = fmt.Sprintf("store %s = %s", op.Cell, CellText(op.Value))
	default:
		t.Call = dropMode(op.String())
	}
	t.Answer = c.answer(st, i)
	return t
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
	switch call.Op.Call {
	case fsfake.CallRead, fsfake.CallPread:
		return "= " + quoteData(r.Data, 14)
	case fsfake.CallStat, fsfake.CallLstat, fsfake.CallFstat:
		// A process sees inode numbers of its own; a person sees the chart's.
		if n, ok := c.inodeOf(st, i); ok {
			return fmt.Sprintf("#%d", n)
		}
		if r.Stat.Mode.IsDir() {
			return "dir"
		}
		return "ok"
	case fsfake.CallCellLoad:
		return "= " + CellText(r.Value)
	}
	return text
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

// dropMode leaves out the access mode of an open that has other flags to show.
func dropMode(call string) string {
	for _, mode := range []string{"O_WRONLY|", "O_RDWR|"} {
		if before, after, ok := strings.Cut(call, " "+mode); ok {
			return before + " " + after
		}
	}
	return call
}

// quoteData quotes file data, clipped to about n columns.
func quoteData(data string, n int) string {
	cut := ""
	if r := []rune(data); len(r) > n {
		data, cut = string(r[:n-1]), "…"
	}
	q := strconv.Quote(data)
	if strings.Contains(data, `"`) && !strings.Contains(data, "'") {
		q = "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + "'"
	}
	return q[:len(q)-1] + cut + q[len(q)-1:]
}

// CellText renders the value of a memory cell; of a struct, the fields that are not
// zero.
func CellText(v any) string {
	if v == nil {
		return "∅"
	}
	text := fmt.Sprintf("%+v", v)
	inner, isStruct := strings.CutPrefix(text, "{")
	if !isStruct {
		return text
	}
	var kept []string
	for _, field := range strings.Fields(strings.TrimSuffix(inner, "}")) {
		name, value, ok := strings.Cut(field, ":")
		switch {
		case ok && (value == "" || value == "0" || value == "false"):
		case ok && value == "true":
			kept = append(kept, name)
		default:
			kept = append(kept, field)
		}
	}
	return "{" + strings.Join(kept, " ") + "}"
}
