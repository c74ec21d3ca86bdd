package fsfake

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A machine that is made from the key of another answers as that does, whatever happens to both.
func TestRebuilt(t *testing.T) {
	rebuilt, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := genOptions.Draw(t, "options")
		start := trioOf(o)
		m, r := start.Clone(), NewRebuilder(start)
		for _, d := range genDeeds.Draw(t, "deeds") {
			d.apply(m)
			switch rapid.IntRange(0, 20).Draw(t, "note") {
			case 0:
				id, _ := m.LookupName("/tmp/a")
				m.Mark(d.task, "lock", "/tmp/a", id)
			case 1:
				m.ForgetInodes(d.task.Pid, 0b110)
			case 2:
				m.PinInodes(d.task.Pid)
			}
			all++
			if !r.Rebuilds(m) {
				continue
			}
			rebuilt++
			again, ok := r.Machine(m.AppendKey(nil))
			if !ok {
				t.Fatalf("not rebuilt after %s", d)
			}
			if err := check(again); err != nil {
				t.Fatalf("after %s: %v", d, err)
			}
			sameBlocked(t, m, again)
			other := m.Clone()
			for _, d := range genDeeds.Draw(t, "further") {
				if x, y := d.apply(other), d.apply(again); x != y {
					t.Fatalf("%s answered %v, and %v to what was rebuilt", d, x, y)
				}
				if string(other.AppendKey(nil)) != string(again.AppendKey(nil)) {
					t.Fatalf("keys differ after %s", d)
				}
				other.ForgetInodes(d.task.Pid, 0)
				again.ForgetInodes(d.task.Pid, 0)
				sameBlocked(t, other, again)
			}
		}
	})
	require.Greater(t, 2*rebuilt, all, "hardly any machine was rebuilt")
}

// sameBlocked asserts that the same tasks of two machines wait in the same calls, and can go on.
func sameBlocked(t *rapid.T, a, b *Machine) {
	for pid := 101; pid <= 104; pid++ {
		for n := 1; n <= 2; n++ {
			x, blocked := a.Blocked(Task{pid, n})
			y, too := b.Blocked(Task{pid, n})
			if x != y || blocked != too || a.Ready(Task{pid, n}, x) != b.Ready(Task{pid, n}, y) {
				t.Fatalf("%d.%d waits in %s, and in %s when it was rebuilt", pid, n, x, y)
			}
		}
	}
}

// What few calls leave behind is rebuilt, too: numbers that are free again, and calls in progress.
func TestRebuiltOfWhatIsRare(t *testing.T) {
	start := trioOf(Options{})
	rebuilt := func(m *Machine) *Machine {
		r := NewRebuilder(start)
		require.True(t, r.Rebuilds(m))
		again, ok := r.Machine(m.AppendKey(nil))
		require.True(t, ok)
		return again
	}
	m := start.Clone()
	for _, name := range []string{"/a", "/b"} {
		require.NoError(t, m.Proc(102).WriteFile(name, nil, 0o644))
		m.Do(Task{102, 1}, Op{Call: CallStat, Path: name})
	}
	m.ForgetInodes(102, 0b10)
	require.EqualValues(t, 1, rebuilt(m).Do(Task{102, 1}, Op{Call: CallStat, Path: "/"}).Stat.Ino, "the number that is free")

	wait := Op{Call: CallSetlk, FD: 3, Flags: F_WRLCK, Wait: true}
	for _, pid := range []int{101, 102} {
		require.True(t, m.Do(Task{pid, 1}, Op{Call: CallOpen, Path: "/a", Flags: O_RDWR}).OK())
		m.Do(Task{pid, 1}, wait)
	}
	again := rebuilt(m)
	require.True(t, again.Do(Task{102, 1}, wait).Blocked)
	again.KillProc(101)
	require.True(t, again.Do(Task{102, 1}, wait).OK())
}
