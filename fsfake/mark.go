package fsfake

import "slices"

// A Mark is a note that whoever drives the machine keeps in it: that a task holds the
// lock at Path, and which inode it acquired. Programs cannot see marks; they are in the
// machine, and so in its key, because the identity of an inode means something only
// together with the machine.
type Mark struct {
	Task  Task
	Path  string
	Inode InodeID
}

// Mark notes that t holds the lock at path, whose object is inode id. It replaces t's
// earlier mark.
func (m *Machine) Mark(t Task, path string, id InodeID) {
	m.Unmark(t)
	at, _ := slices.BinarySearchFunc(m.marks, t, compareMark)
	m.marks = insert(m.marks, at, Mark{t, path, id})
}

// Unmark removes t's mark, if there is one.
func (m *Machine) Unmark(t Task) {
	if at, ok := slices.BinarySearchFunc(m.marks, t, compareMark); ok {
		m.marks = remove(m.marks, at)
	}
}

// Marks lists the marks in the order of tasks. The slice must not be changed.
func (m *Machine) Marks() []Mark { return m.marks }

func compareMark(a Mark, t Task) int {
	if a.Task.Pid != t.Pid {
		return a.Task.Pid - t.Pid
	}
	return a.Task.N - t.N
}

func (k *keyer) mark(b []byte, a *Mark) []byte {
	b = appendLen(b, a.Task.Pid)
	b = appendLen(b, a.Task.N)
	b = appendString(b, a.Path)
	return k.maybeInode(b, a.Inode)
}
