package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// bisimOps is a small alphabet with which much can happen to one lock file.
func bisimOps() []deed {
	a, b := Task{101, 1}, Task{102, 1}
	ops := []deed{{kill: true, task: b}, {advance: true}}
	for _, t := range []Task{a, b} {
		for _, op := range []Op{
			{Call: CallOpen, Path: "/l", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o644},
			{Call: CallOpen, Path: "/l", Flags: os.O_WRONLY | os.O_CREATE | os.O_EXCL, Mode: 0o644},
			{Call: CallUnlink, Path: "/l"},
			{Call: CallRename, Path: "/l", Path2: "/m"},
			{Call: CallLink, Path: "/l", Path2: "/m"},
			{Call: CallStat, Path: "/l"},
			{Call: CallWrite, FD: 3, Data: "x"},
			{Call: CallClose, FD: 3},
			{Call: CallDup, FD: 3},
			{Call: CallFlock, FD: 3, Flags: LOCK_EX},
			{Call: CallFlock, FD: 3, Flags: LOCK_SH | LOCK_NB},
			{Call: CallSetlk, FD: 3, Flags: F_WRLCK, Len: 1, Wait: true},
			{Call: CallGetlk, FD: 3, Flags: F_WRLCK},
			{Call: CallOFDSetlk, FD: 3, Flags: F_RDLCK},
			{Call: CallFork},
		} {
			ops = append(ops, deed{task: t, op: op})
		}
	}
	return ops
}

// TestEqualKeysBehaveAlike explores all sequences of a few calls. Whenever two of them
// lead to one key, the two machines must answer every call alike, and have one key again
// after it: then by induction no sequence of calls tells them apart.
func TestEqualKeysBehaveAlike(t *testing.T) {
	limit := 6000
	if testing.Short() {
		limit = 1000
	}
	ops := bisimOps()
	first := map[string]*Machine{}
	start := trio(InodesCanonical)
	first[string(start.AppendKey(nil))] = start
	queue := []*Machine{start}
	merged := 0
	for len(queue) > 0 && len(first) < limit {
		m := queue[0]
		queue = queue[1:]
		for _, d := range ops {
			c := m.Clone()
			d.apply(c)
			key := string(c.AppendKey(nil))
			twin, ok := first[key]
			if !ok {
				first[key] = c
				queue = append(queue, c)
				continue
			}
			merged++
			requireAlike(t, ops, twin, c)
		}
	}
	require.Greater(t, merged, limit, "hardly any two sequences met")
}

func requireAlike(t *testing.T, ops []deed, m, o *Machine) {
	for _, d := range ops {
		x, y := m.Clone(), o.Clone()
		if r, s := d.apply(x), d.apply(y); r != s {
			t.Fatalf("machines with one key answer %v and %v to %s", r, s, d)
		}
		if string(x.AppendKey(nil)) != string(y.AppendKey(nil)) {
			t.Fatalf("machines with one key differ after %s", d)
		}
		if x.Ready(d.task, d.op) != y.Ready(d.task, d.op) {
			t.Fatalf("machines with one key differ in Ready after %s", d)
		}
	}
}
