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
func (c *charter) call(call trace.Call, st *trace.Step) CallText {
	op, r := call.Op, call.Result
	t := CallText{Failed: r.Errno != 0 || r.Blocked}
	op.Path, op.Path2 = c.short(op.Path), c.short(op.Path2)
	switch op.Call {
	case fsfake.CallWrite:
		t.Call = fmt.Sprintf("write fd %d %s", op.FD, quoteData(op.Data, 14))
	case fsfake.CallPwrite:
		t.Call = fmt.Sprintf("pwrite fd %d %s at %d", op.FD, quoteData(op.Data, 14), op.Off)
	case fsfake.CallCellStore:
		t.Call = fmt.Sprintf("store %s = %s", op.Cell, cellText(op.Value))
	default:
		t.Call = dropMode(op.String())
	}
	t.Answer = c.answer(call, st)
	c.follow(call, st)
	return t
}

// follow keeps track of the descriptors that are open on watched files.
func (c *charter) follow(call trace.Call, st *trace.Step) {
	op, process := call.Op, st.Choice.Task.Process
	if !call.Result.OK() {
		return
	}
	switch op.Call {
	case fsfake.CallOpen:
		if id, ok := c.inodeOf(op, st); ok {
			c.fds[openFD{process, int(call.Result.N)}] = id
		}
	case fsfake.CallClose:
		delete(c.fds, openFD{process, op.FD})
	}
}

// inodeOf finds the watched inode that a call works on, by name or by descriptor.
func (c *charter) inodeOf(op fsfake.Op, st *trace.Step) (fsfake.InodeID, bool) {
	if op.Path == "" {
		id, ok := c.fds[openFD{st.Choice.Task.Process, op.FD}]
		return id, ok
	}
	for i := range st.Files {
		if f := &st.Files[i]; f.Path == op.Path && f.Exists {
			return f.ID, true
		}
	}
	return 0, false
}

func (c *charter) answer(call trace.Call, st *trace.Step) string {
	r := call.Result
	text := r.Describe(call.Op)
	if !r.OK() {
		return text
	}
	switch call.Op.Call {
	case fsfake.CallRead, fsfake.CallPread:
		return "= " + quoteData(r.Data, 14)
	case fsfake.CallStat, fsfake.CallLstat, fsfake.CallFstat:
		// A process sees inode numbers of its own; a person sees the chart's.
		if id, ok := c.inodeOf(call.Op, st); ok {
			return fmt.Sprintf("#%d", c.inodes.Of(id))
		}
		if r.Stat.Mode.IsDir() {
			return "dir"
		}
		return "ok"
	case fsfake.CallCellLoad:
		return "= " + cellText(r.Value)
	}
	return text
}

// short is a path's short name; a temporary name keeps its last part only.
func (c *charter) short(p string) string {
	if p == "" {
		return ""
	}
	s := c.names.Short(p)
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

// cellText renders the value of a memory cell; of a struct, the fields that are not
// zero.
func cellText(v any) string {
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
