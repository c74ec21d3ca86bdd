package fsfake

import (
	"cmp"
	"slices"
	"strings"
)

// A Mark is a note that whoever drives the machine keeps in it: that a task holds a
// lock, under which path, and which inode it acquired. Programs cannot see marks; they are in
// the machine, and so in its key, because the identity of an inode means something only
// together with the machine.
type Mark struct {
	Task  Task
	Lock  string // the lock's name
	Path  string
	Inode InodeID
	Times int // how often the task holds it
}

// Mark notes that t holds a lock at path, whose object is inode id. Where t holds the lock
// already it does so once more, and path and inode are the new ones.
func (m *Machine) Mark(t Task, lock, path string, id InodeID) {
	at, found := slices.BinarySearchFunc(m.marks, Mark{Task: t, Lock: lock}, compareMark)
	times := 1
	if found {
		times += m.marks[at].Times
		m.marks = remove(m.marks, at)
	}
	m.marks = insert(m.marks, at, Mark{t, lock, path, id, times})
}

// Unmark notes that t holds a lock once less. It does nothing where t does not hold it.
func (m *Machine) Unmark(t Task, lock string) {
	at, found := slices.BinarySearchFunc(m.marks, Mark{Task: t, Lock: lock}, compareMark)
	if !found {
		return
	}
	k := m.marks[at]
	m.marks = remove(m.marks, at)
	if k.Times--; k.Times > 0 {
		m.marks = insert(m.marks, at, k)
	}
}

// UnmarkAll removes every mark of t.
func (m *Machine) UnmarkAll(t Task) {
	for i := len(m.marks) - 1; i >= 0; i-- {
		if m.marks[i].Task == t {
			m.marks = remove(m.marks, i)
		}
	}
}

// Marks lists the marks in the order of tasks and then of locks. The slice must not be changed.
func (m *Machine) Marks() []Mark { return m.marks }

func compareMark(a, b Mark) int {
	return cmp.Or(a.Task.Pid-b.Task.Pid, a.Task.N-b.Task.N, strings.Compare(a.Lock, b.Lock))
}

func (k *keyer) mark(b []byte, a *Mark) []byte {
	b = appendLen(b, a.Task.Pid)
	b = appendLen(b, a.Task.N)
	b = appendString(b, a.Lock)
	b = appendString(b, a.Path)
	b = appendLen(b, a.Times)
	return k.maybeInode(b, a.Inode)
}
