package fsfake

import (
	"os"
	"testing"
)

// small is the machine of a typical scenario: a lock file, a state file, two processes.
func small() *Machine {
	m, a, b := pair()
	_ = a.Mkdir("/hub", 0o755)
	_ = a.WriteFile("/hub/state", []byte("0"), 0o644)
	f, _ := a.OpenFile("/hub/lock", os.O_CREATE|os.O_RDWR, 0o644)
	_, _ = f.WriteString("101\n")
	_, _ = b.OpenFile("/hub/lock", os.O_RDWR, 0)
	return m
}

var timed = []struct {
	name string
	ops  []Op // undo each other, so that the machine stays small
}{
	{"stat", []Op{{Call: CallStat, Path: "/hub/lock"}}},
	{"enoent", []Op{{Call: CallStat, Path: "/hub/none"}}},
	{"eexist", []Op{{Call: CallOpen, Path: "/hub/lock", Flags: os.O_CREATE | os.O_EXCL}}},
	{"open-close", []Op{{Call: CallOpen, Path: "/hub/lock"}, {Call: CallClose, FD: 4}}},
	{"create-close-unlink", []Op{{Call: CallOpen, Path: "/hub/new", Flags: os.O_CREATE | os.O_EXCL, Mode: 0o644}, {Call: CallClose, FD: 4}, {Call: CallUnlink, Path: "/hub/new"}}},
	{"pwrite", []Op{{Call: CallPwrite, FD: 3, Data: "102\n"}}},
	{"pread", []Op{{Call: CallPread, FD: 3, Len: 512}}},
	{"flock-unlock", []Op{{Call: CallFlock, FD: 3, Flags: LOCK_EX}, {Call: CallFlock, FD: 3, Flags: LOCK_UN}}},
	{"setlk-unlock", []Op{{Call: CallSetlk, FD: 3, Flags: F_WRLCK}, {Call: CallSetlk, FD: 3, Flags: F_UNLCK}}},
	{"rename", []Op{{Call: CallRename, Path: "/hub/lock", Path2: "/hub/l2"}, {Call: CallRename, Path: "/hub/l2", Path2: "/hub/lock"}}},
	{"kill", []Op{{Call: CallKill, Pid: 102}}},
	{"cell", []Op{{Call: CallCellStore, Cell: "n", Value: true}, {Call: CallCellLoad, Cell: "n"}, {Call: CallCellStore, Cell: "n"}}},
}

// BenchmarkDo times one call on a machine that nobody shares.
func BenchmarkDo(b *testing.B) {
	for _, c := range timed {
		b.Run(c.name, func(b *testing.B) {
			m := small()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if r := m.Do(Task{101, 1}, c.ops[i%len(c.ops)]); r.Blocked || r.Unmodelled != "" {
					b.Fatal(r)
				}
			}
		})
	}
}

// BenchmarkCloneDo times what a search does: clone, then one call on the clone.
func BenchmarkCloneDo(b *testing.B) {
	for _, c := range timed {
		b.Run(c.name, func(b *testing.B) {
			m := small()
			var kept *Machine // on the heap, as in a search
			defer func() { kept.Alive(1) }()
			b.ReportAllocs()
			for b.Loop() {
				kept = m.Clone()
				kept.Do(Task{101, 1}, c.ops[0])
			}
		})
	}
}

func BenchmarkClone(b *testing.B) {
	m := small()
	b.ReportAllocs()
	var c *Machine
	for b.Loop() {
		c = m.Clone()
	}
	_ = c
}

func BenchmarkAppendKey(b *testing.B) {
	m := small()
	b.ReportAllocs()
	var key []byte
	for b.Loop() {
		key = m.AppendKey(key[:0])
	}
	b.ReportMetric(float64(len(key)), "bytes/key")
}
