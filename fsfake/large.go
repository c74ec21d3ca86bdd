package fsfake

import "unsafe"

// A directory of a real project has files by the megabyte, and commands touch a few of them. So that each state need
// not list them all, a key has a number in the place of data that a large file had at the start.

// A large is what large files hold at the start. It is never changed.
type large struct {
	data []string
	at   map[*byte]int // numbers of data, by where it begins in memory: most of it is passed on as it is
	size map[int][]int // and by its size in bytes
}

// KeepStart says that the machine is as it is to be at the start: keys of this machine and of its clones tell the data
// of its large files, whoever has it, by numbers from 1. Machines whose keys are compared must have the same large
// files at their start.
func (m *Machine) KeepStart() {
	var l large
	for _, n := range m.inodes {
		if len(n.data) >= largeData && l.number(n.data) == 0 {
			if l.data == nil {
				l.at, l.size = map[*byte]int{}, map[int][]int{}
			}
			l.data = append(l.data, n.data)
			l.at[unsafe.StringData(n.data)] = len(l.data)
			l.size[len(n.data)] = append(l.size[len(n.data)], len(l.data))
		}
	}
	if l.data != nil {
		m.mutSetup().large = &l
	}
}

// number is that of some data; 0 for other data than at the start.
func (l *large) number(data string) int {
	if l == nil || len(data) < largeData {
		return 0
	}
	if n := l.at[unsafe.StringData(data)]; n != 0 && l.data[n-1] == data {
		return n
	}
	for _, n := range l.size[len(data)] {
		if l.data[n-1] == data {
			return n
		}
	}
	return 0
}
