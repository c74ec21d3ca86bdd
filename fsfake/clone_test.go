package fsfake

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rich returns a machine that has some of everything, in slices of several elements, so
// that a slice that clones share and one of them changes in place would show.
func rich(t *testing.T) *Machine {
	m := trio(InodesCanonical)
	a, b := m.Proc(101), m.Proc(102)
	require.NoError(t, a.Mkdir("/d", 0o755))
	require.NoError(t, a.Mkdir("/d/e", 0o755))
	for _, name := range []string{"/f", "/g", "/d/f"} {
		require.NoError(t, a.WriteFile(name, []byte("abc"), 0o644))
		require.NoError(t, second(a.Stat(name)))
	}
	for i, p := range []*Proc{a, b} {
		f, err := p.OpenFile("/f", os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, second(f.Dup()))
		g, err := p.OpenFile("/g", os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, g.Flock(LOCK_SH))
		for j := range 3 {
			require.NoError(t, f.FcntlLock(RecordLock{Type: F_WRLCK, Start: int64(20*i + 5*j), Len: 2}, false))
		}
		for _, name := range []string{"p", "q", "r"} {
			Cell[int]{name}.Store(p, 1)
		}
	}
	m.Do(Task{102, 2}, Op{Call: CallFlock, FD: 5, Flags: LOCK_EX})
	m.Do(Task{102, 3}, Op{Call: CallCellWait, Cell: "p", Value: 1})
	return m
}

// TestDivergingClones: whatever two clones of a machine do, neither reaches the other
// nor the original.
func TestDivergingClones(t *testing.T) {
	var deeds []deed
	for _, pid := range []int{101, 102} {
		for _, op := range []Op{
			{Call: CallOpen, Path: "/f", Flags: os.O_RDWR}, {Call: CallOpen, Path: "/new", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o644},
			{Call: CallStat, Path: "/"}, {Call: CallStat, Path: "/d"}, {Call: CallStat, Path: "/f"},
			{Call: CallUnlink, Path: "/f"}, {Call: CallUnlink, Path: "/d/f"}, {Call: CallRmdir, Path: "/d/e"},
			{Call: CallRename, Path: "/f", Path2: "/g"}, {Call: CallRename, Path: "/f", Path2: "/d/x"},
			{Call: CallRename, Path: "/d/e", Path2: "/d/f", Flags: RENAME_EXCHANGE}, {Call: CallRename, Path: "/d/e", Path2: "/g", Flags: RENAME_EXCHANGE},
			{Call: CallLink, Path: "/f", Path2: "/h"}, {Call: CallMkdir, Path: "/h", Mode: 0o755}, {Call: CallChmod, Path: "/g", Mode: 0o600},
			{Call: CallWrite, FD: 3, Data: "x"}, {Call: CallRead, FD: 4, Len: 1}, {Call: CallClose, FD: 3}, {Call: CallClose, FD: 5}, {Call: CallDup, FD: 5},
			{Call: CallFlock, FD: 5, Flags: LOCK_UN}, {Call: CallFlock, FD: 5, Flags: LOCK_EX | LOCK_NB},
			{Call: CallSetlk, FD: 3, Flags: F_RDLCK, Len: 100}, {Call: CallSetlk, FD: 3, Flags: F_RDLCK, Off: 20*int64(pid-101) + 1, Len: 5},
			{Call: CallSetlk, FD: 3, Flags: F_UNLCK}, {Call: CallOFDSetlk, FD: 3, Flags: F_WRLCK, Off: 100, Len: 1},
			{Call: CallCellStore, Cell: "p", Value: 2}, {Call: CallCellStore, Cell: "p"}, {Call: CallCellStore, Cell: "z", Value: 2},
			{Call: CallFork}, {Call: CallExec}, {Call: CallExit},
		} {
			deeds = append(deeds, deed{task: Task{pid, 1}, op: op})
		}
	}
	m := rich(t)
	original := string(m.AppendKey(nil))
	results := make([]string, len(deeds))
	for i, d := range deeds {
		c := m.Clone()
		d.apply(c)
		require.NoError(t, check(c), "after %s", d)
		results[i] = string(c.AppendKey(nil))
	}
	for i, d := range deeds {
		for j, e := range deeds {
			x, y := m.Clone(), m.Clone()
			d.apply(x)
			e.apply(y)
			if string(m.AppendKey(nil)) != original || string(x.AppendKey(nil)) != results[i] || string(y.AppendKey(nil)) != results[j] {
				t.Fatalf("clones that do %s and %s meet", d, e)
			}
		}
	}
}

// TestWhatIsSeldomChanged: what clones share of what few programs change is changed for one of them only.
func TestWhatIsSeldomChanged(t *testing.T) {
	m := New(Options{Profile: Overlay})
	for pid := 101; pid <= 102; pid++ {
		m.AddProc(ProcSpec{Pid: pid})
	}
	sleep := func(pid int) { m.Do(Task{pid, 1}, Op{Call: CallSleep, Time: int64(time.Second)}) }
	shared := func(m *Machine) string { return fmt.Sprintf("%+v %+v", *m.setup, *m.seldom) }
	for i, change := range []func(){
		func() { m.SealImage() }, func() { m.SetBorder("/tmp") }, func() { m.keepQueues() },
		func() { m.SetPunctual(102, 101) }, func() { m.LetSleepsLast() },
		func() { sleep(101) }, func() { sleep(102) }, func() { sleep(101) }, // which ends its sleep
		func() { m.Round(Task{101, 1}, 1, false) },
		func() { m.Stall(time.Minute, time.Second) }, func() { m.Stall(-time.Minute, 0) },
		func() { m.KillProc(102) }, func() { m.EndSleeps() },
		func() { m.Do(Task{101, 1}, Op{Call: CallEnd, Flags: 3}) },
	} {
		clone := m.Clone()
		before := shared(clone)
		change()
		require.Equal(t, before, shared(clone), "change %d", i)
		require.NotEqual(t, before, shared(m), "change %d", i)
	}
}

// TestNothingIsKeptForever: when everybody is gone, so is what only they held.
func TestNothingIsKeptForever(t *testing.T) {
	m := trio(InodesCanonical)
	before := len(m.inodes)
	a := m.Proc(101)
	require.NoError(t, a.MkdirAll("/d/e", 0o755))
	m.AddProc(ProcSpec{Pid: 110, Cwd: "/d/e"})
	m.AddProc(ProcSpec{Pid: 111})
	f, err := a.Create("/f")
	require.NoError(t, err)
	require.NoError(t, f.Flock(LOCK_EX))
	require.NoError(t, second(m.Proc(111).Open("/f")))
	require.True(t, m.Do(Task{111, 1}, Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}).Blocked)
	for _, err := range []error{a.Remove("/f"), a.Remove("/d/e"), a.Remove("/d")} {
		require.NoError(t, err)
	}
	require.Len(t, m.inodes, before+3)
	m.KillProc(110)
	require.Len(t, m.inodes, before+1, "a working directory, and its parent with it")
	m.KillProc(111)
	require.NoError(t, f.Close())
	require.Len(t, m.inodes, before)
	require.Empty(t, m.descs)
}

// TestCloningFromManyGoroutines: once cloned, a machine that nobody changes may be cloned
// and looked at by several goroutines at once. The race detector is the judge.
func TestCloningFromManyGoroutines(t *testing.T) {
	m := rich(t)
	m.Clone()
	key := string(m.AppendKey(nil))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, path := range []string{"/f", "/g", "/d/f"} {
				c := m.Clone()
				_ = c.Proc(101).Unlink(path)
				id, _ := m.Lookup(path)
				m.View(id)
				if string(m.AppendKey(nil)) != key {
					t.Error("the machine changed under its clones")
				}
			}
		})
	}
	wg.Wait()
}
