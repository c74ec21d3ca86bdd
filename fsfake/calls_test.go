package fsfake

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// callConstants lists the constants of type Call in calls.go, in their order. A constant
// that has no row has no other name than the one in the source.
func callConstants(t *testing.T) []string {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "calls.go", nil, 0)
	require.NoError(t, err)
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Call") {
			names = append(names, v.Names[0].Name)
		}
		return true
	})
	require.Equal(t, "CallNone", names[0])
	require.Len(t, names, int(numCalls), "the constants of type Call are all in calls.go")
	return names[1:]
}

// TestEveryCallHasARow: what is missing is named.
func TestEveryCallHasARow(t *testing.T) {
	names := map[string]bool{}
	for i, constant := range callConstants(t) {
		k := Call(i + 1).row()
		if k.name == "" && k.do == nil {
			t.Errorf("%s has no row in the table of fsfake/calls.go", constant)
			continue
		}
		for _, piece := range []struct {
			name    string
			missing bool
		}{
			{"name", k.name == ""},
			{"group", k.group == 0},
			{"do (who carries it out)", k.do == nil},
			{"text (how the call reads)", k.text == nil},
			{"answer (how its success reads)", k.answer == nil},
		} {
			if piece.missing {
				t.Errorf("the row of %s in fsfake/calls.go lacks %s", constant, piece.name)
			}
		}
		if names[k.name] {
			t.Errorf("the name of %s, %q, is that of another call", constant, k.name)
		}
		names[k.name] = true
	}
}

// allOperands is an Op that uses every field.
var allOperands = Op{
	Wait: true, Flags: 1, FD: 3, Mode: 1, Off: 1, Len: 1, Path: "/f", Path2: "/g", Data: "x", Pid: 1, Time: 1, Time2: 1, Cell: "c", Value: 1, FD2: 5,
}

// only returns o with the fields of a set, the others zero.
func only(o Op, set Operand) Op {
	for _, f := range []struct {
		operand Operand
		clear   func()
	}{
		{OperandFlags, func() { o.Flags = 0 }}, {OperandFD, func() { o.FD = 0 }}, {OperandMode, func() { o.Mode = 0 }},
		{OperandOff, func() { o.Off = 0 }}, {OperandLen, func() { o.Len = 0 }}, {OperandPath, func() { o.Path = "" }},
		{OperandPath2, func() { o.Path2 = "" }}, {OperandData, func() { o.Data = "" }}, {OperandPid, func() { o.Pid = 0 }},
		{OperandTime, func() { o.Time = 0 }}, {OperandTime2, func() { o.Time2 = 0 }}, {OperandWait, func() { o.Wait = false }},
		{OperandCell, func() { o.Cell = "" }}, {OperandValue, func() { o.Value = nil }},
		{OperandFD2, func() { o.FD2 = 0 }},
	} {
		if f.operand&set == 0 {
			f.clear()
		}
	}
	return o
}

// TestOperands: a call that is given what it does not use says so, and does nothing.
func TestOperands(t *testing.T) {
	const all = Operand(1)<<len(operandNames) - 1
	require.Equal(t, all, allOperands.operands())
	for i, name := range operandNames {
		bit := Operand(1) << i
		require.Equal(t, name, bit.String())
		o := only(allOperands, bit)
		require.Equal(t, bit, o.operands(), name)
	}
	for _, c := range Calls() {
		m, _, _ := pair()
		before := string(m.AppendKey(nil))
		op := only(allOperands, c.row().uses)
		op.Call = c
		for i, name := range operandNames {
			extra := Operand(1) << i
			if c.Uses(extra) {
				continue
			}
			bad := only(allOperands, c.row().uses|extra)
			bad.Call = c
			r := m.Do(Task{101, 1}, bad)
			require.Equal(t, c.String()+" with "+name+", which it does not use, is not modelled", r.Unmodelled)
		}
		require.Equal(t, before, string(m.AppendKey(nil)), c)
		r := m.Do(Task{101, 1}, op)
		require.NotContains(t, r.Unmodelled, "does not use", c)
	}
}

// TestNoCall: what has no row is not modelled.
func TestNoCall(t *testing.T) {
	for c, want := range map[Call]string{CallNone: "none", numCalls: "call(" + numCalls.String()[5:]} {
		m, _, _ := pair()
		require.Equal(t, want+" is not modelled", m.Do(Task{101, 1}, Op{Call: c}).Unmodelled)
	}
}

// TestCallsDoNotAllocate: neither a call nor its answer is moved to the heap (see hide).
func TestCallsDoNotAllocate(t *testing.T) {
	m := small()
	for _, op := range []Op{
		{Call: CallStat, Path: "/hub/lock"}, {Call: CallUnlink, Path: "/hub/none"}, {Call: CallPread, FD: 3, Len: 5}, {Call: CallKill, Pid: 102},
	} {
		require.Zero(t, testing.AllocsPerRun(100, func() { m.Do(Task{101, 1}, op) }), op.String())
	}
}

// A machine refuses to change what a file holds once a shared mapping shows it, other than through the description that
// was mapped, and says so in its key.
func TestSharedMappingsShowNoChange(t *testing.T) {
	task := Task{Pid: 101, N: 1}
	m := New(Options{})
	m.AddProc(ProcSpec{Pid: 101, Parent: 1, Cwd: "/"})
	fd := int(m.Do(task, Op{Call: CallOpen, Path: "f", Flags: O_CREAT | O_RDWR, Mode: 0o600}).N)
	require.True(t, m.Do(task, Op{Call: CallWrite, FD: fd, Data: "ab"}).OK())
	before := m.AppendKey(nil)
	require.Equal(t, "ab", m.Do(task, Op{Call: CallPread, FD: fd, Len: 4, Flags: Shares}).Data)
	require.NotEqual(t, before, m.AppendKey(nil))
	require.True(t, m.Clone().Do(task, Op{Call: CallWrite, FD: fd, Data: "x"}).OK())
	open := Op{Call: CallOpen, Path: "/f", Flags: O_RDWR}
	other := int(m.Do(task, open).N)
	refused := func(m *Machine, fd int) {
		for _, op := range []Op{
			{Call: CallWrite, FD: fd, Data: "x"}, {Call: CallPwrite, FD: fd, Data: "x"},
			{Call: CallFtruncate, FD: fd, Len: 1},
			{Call: CallFtruncate, FD: fd, Len: 9, Flags: AtLeast}, {Call: CallTruncate, Path: "f", Len: 1},
			{Call: CallOpen, Path: "f", Flags: O_TRUNC | O_WRONLY},
		} {
			require.Contains(t, m.Clone().Do(task, op).Unmodelled, SharedChange, op)
		}
	}
	refused(m, other)
	for _, op := range []Op{
		{Call: CallWrite, FD: fd, Data: "x"}, {Call: CallPwrite, FD: fd, Data: "x"},
		{Call: CallFtruncate, FD: fd, Len: 1}, {Call: CallFtruncate, FD: fd, Len: 9, Flags: AtLeast},
	} {
		require.True(t, m.Clone().Do(task, op).OK(), op)
	}
	several := m.Clone()
	require.True(t, several.Do(task, Op{Call: CallPread, FD: other, Len: 4, Flags: Shares}).OK())
	require.True(t, several.Do(task, Op{Call: CallPread, FD: fd, Flags: Unshares}).OK())
	refused(several, other)
	refused(several, fd)
	closed := m.Clone()
	require.True(t, closed.Do(task, Op{Call: CallClose, FD: fd}).OK())
	refused(closed, other)
	none := m.Clone()
	require.True(t, none.Do(task, Op{Call: CallPread, FD: fd, Flags: Unshares}).OK())
	require.True(t, none.Do(task, Op{Call: CallWrite, FD: other, Data: "x"}).OK())
	forked := m.Clone() // the mapping lives on in the child
	child := int(forked.Do(task, Op{Call: CallFork}).N)
	forked.KillProc(101)
	require.Contains(t, forked.Do(Task{child, 1}, Op{Call: CallWrite, FD: other, Data: "x"}).Unmodelled, SharedChange)
	killed := m.Clone()
	killed.AddProc(ProcSpec{Pid: 102, Parent: 1, Cwd: "/"})
	killed.KillProc(101)
	fd2 := int(killed.Do(Task{102, 1}, open).N)
	require.True(t, killed.Do(Task{102, 1}, Op{Call: CallWrite, FD: fd2, Data: "x"}).OK(), "who had mapped it is gone")
	one := m.Clone()
	one.KillProc(101)
	require.True(t, one.Proc(1).Do(Op{Call: CallTruncate, Path: "/f", Len: 1}).OK(), "nobody is left that maps it")
	for _, op := range []Op{
		{Call: CallOpen, Path: "f", Flags: O_WRONLY}, {Call: CallPread, FD: fd, Len: 4}, {Call: CallUnlink, Path: "f"},
		{Call: CallOpen, Path: "g", Flags: O_CREAT | O_TRUNC | O_WRONLY, Mode: 0o600},
	} {
		require.True(t, m.Clone().Do(task, op).OK(), op)
	}
}
