package fsfake

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A task has a mark for each lock, which counts how often it holds it; the order in which locks
// were taken makes no difference.
func TestMarks(t *testing.T) {
	task, other := Task{Pid: 101, N: 1}, Task{Pid: 102, N: 1}
	m, n := New(Options{}), New(Options{})
	m.Mark(task, "/x", "/x", 1)
	m.Mark(task, "/y", "/y.2", 1)
	m.Mark(other, "/x", "/x", 1)
	n.Mark(other, "/x", "/x", 1)
	n.Mark(task, "/y", "/y.2", 1)
	n.Mark(task, "/x", "/x", 1)
	require.Equal(t, m.AppendKey(nil), n.AppendKey(nil))
	require.Equal(t, []Mark{{task, "/x", "/x", 1, 1}, {task, "/y", "/y.2", 1, 1}, {other, "/x", "/x", 1, 1}}, m.Marks())

	m.Mark(task, "/x", "/x", 1)
	require.NotEqual(t, m.AppendKey(nil), n.AppendKey(nil))
	m.Unmark(task, "/x")
	require.Equal(t, m.AppendKey(nil), n.AppendKey(nil))
	m.Unmark(task, "/x")
	m.Unmark(task, "/x")
	require.Len(t, m.Marks(), 2)
	m.UnmarkAll(task)
	require.Equal(t, []Mark{{other, "/x", "/x", 1, 1}}, m.Marks())
}
