package fsfake

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
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
	testmain.OneWorker(t)
	limit := 6000
	if testing.Short() {
		limit = 1000
	}
	for _, o := range []Options{{}, {InodeNumbers: InodesFirstSeen, FileTimes: TimesMultigrain}, {InodeNumbers: InodesReuse}} {
		_, merged := exploreKeys(t, trioOf(o), bisimOps(), limit)
		require.Greater(t, merged, limit, "hardly any two sequences met")
		limit /= 3
	}
}

// exploreKeys follows every sequence of deeds from start, breadth first, until it has met so
// many keys. It returns how many that were and how many times it met one again.
func exploreKeys(t *testing.T, start *Machine, ops []deed, limit int) (states, merged int) {
	a := newAlikes(ops)
	a.meet(t, start)
	queue := []*Machine{start}
	for len(queue) > 0 && a.met < limit {
		m := queue[0]
		queue = queue[1:]
		for _, d := range ops {
			c := m.Clone()
			d.apply(c)
			if a.meet(t, c) {
				queue = append(queue, c)
			}
		}
	}
	return a.met, a.merged
}

// alikes are machines of which those with one key must react alike to every deed.
type alikes struct {
	ops  []deed
	keys map[string]int // the number of each key that was met, also as that of a reaction
	// first is, by the number of its key, the first machine that was met, and how it reacts,
	// once that was asked for.
	first       []*Machine
	reacts      [][]reaction
	met, merged int
	buf         []byte
}

// A reaction is what a machine does with a deed: what it answers, its key after it, and
// whether the deed could be done again.
type reaction struct {
	answer Result
	key    int
	ready  bool
}

func newAlikes(ops []deed) *alikes { return &alikes{ops: ops, keys: map[string]int{}} }

func (a *alikes) key(m *Machine) int {
	a.buf = m.AppendKey(a.buf[:0])
	n, ok := a.keys[string(a.buf)]
	if !ok {
		n = len(a.first)
		a.keys[string(a.buf)] = n
		a.first, a.reacts = append(a.first, nil), append(a.reacts, nil)
	}
	return n
}

// meet reports whether m is the first machine with its key; if not, it must react as that
// does. m stays as it is.
func (a *alikes) meet(t *testing.T, m *Machine) bool {
	n := a.key(m)
	if a.first[n] == nil {
		a.first[n] = m.Clone()
		a.met++
		return true
	}
	a.merged++
	if reflect.DeepEqual(a.first[n], m) {
		return false // nothing in it differs, so nothing that it does can
	}
	if a.reacts[n] == nil {
		rs := make([]reaction, len(a.ops))
		for i, d := range a.ops {
			rs[i] = a.react(a.first[n], d)
		}
		a.reacts[n] = rs
	}
	for i, d := range a.ops {
		x, y := a.reacts[n][i], a.react(m, d)
		if x.answer != y.answer {
			t.Fatalf("machines with one key answer %v and %v to %s", x.answer, y.answer, d)
		}
		if x.key != y.key {
			t.Fatalf("machines with one key differ after %s", d)
		}
		if x.ready != y.ready {
			t.Fatalf("machines with one key differ in Ready after %s", d)
		}
	}
	return false
}

func (a *alikes) react(m *Machine, d deed) reaction {
	c := m.Clone()
	r := d.apply(c)
	return reaction{r, a.key(c), c.Ready(d.task, d.op)}
}

// recordOps are what two processes of two tasks, and a third one, do to the record locks of
// one file that all have open.
func recordOps() []deed {
	var ops []deed
	for _, t := range []Task{{101, 1}, {101, 2}, {102, 1}, {102, 2}, {103, 1}} {
		for _, c := range []Call{CallSetlk, CallOFDSetlk} {
			for _, r := range []struct{ off, len int64 }{{0, 1}, {1, 1}, {0, 2}} {
				for _, typ := range []int{F_RDLCK, F_WRLCK, F_UNLCK} {
					ops = append(ops, deed{task: t, op: Op{Call: c, FD: 3, Flags: typ, Off: r.off, Len: r.len, Wait: true}})
				}
			}
		}
		ops = append(ops, deed{task: t, op: Op{Call: CallGetlk, FD: 3, Flags: F_WRLCK}})
	}
	return ops
}

// flockOps are what happens to the flock of one file: a process of two tasks and its child
// share a description, another process has two.
func flockOps() []deed {
	ops := []deed{{kill: true, task: Task{103, 1}}}
	for _, u := range []struct {
		task Task
		fd   int
	}{{Task{101, 1}, 3}, {Task{101, 2}, 3}, {Task{103, 1}, 3}, {Task{102, 1}, 3}, {Task{102, 2}, 4}} {
		for _, how := range []int{LOCK_SH, LOCK_EX, LOCK_UN, LOCK_EX | LOCK_NB} {
			ops = append(ops, deed{task: u.task, op: Op{Call: CallFlock, FD: u.fd, Flags: how}})
		}
		ops = append(ops, deed{task: u.task, interrupt: true})
	}
	return ops
}

func flockTrio(t require.TestingT) *Machine {
	m := New(Options{})
	for _, pid := range []int{101, 102, 102} {
		if !m.Alive(pid) {
			m.AddProc(ProcSpec{Pid: pid, Tasks: 2})
		}
		_, err := m.Proc(pid).OpenFile("/l", os.O_RDWR|os.O_CREATE, 0o644)
		require.NoError(t, err)
	}
	require.True(t, m.Do(Task{101, 1}, Op{Call: CallFork}).OK())
	return m
}

// TestFlockWaitersWithEqualKeys is TestEqualKeysBehaveAlike for all states that these calls
// lead to.
func TestFlockWaitersWithEqualKeys(t *testing.T) {
	testmain.OneWorker(t)
	limit := math.MaxInt
	if testing.Short() {
		limit = 500
	}
	states, merged := exploreKeys(t, flockTrio(t), flockOps(), limit)
	t.Logf("%d states, %d met again", states, merged)
}

// TestRecordWaitersWithEqualKeys: drawn sequences of calls for record locks, with several
// tasks of a process waiting at once. Where two of them lead to one key, the machines must
// answer alike from there on.
func TestRecordWaitersWithEqualKeys(t *testing.T) {
	walks, ops := 1500, recordOps()
	if testing.Short() {
		walks = 200
	}
	a := newAlikes(ops)
	random := rand.New(rand.NewPCG(1, 2))
	for range walks {
		m := recordTrio(t)
		for range 12 {
			ops[random.IntN(len(ops))].apply(m)
			a.meet(t, m)
		}
	}
	require.Greater(t, a.merged, walks, "hardly any two sequences met")
}

// recordTrio returns a machine with three processes that have one file open.
func recordTrio(t require.TestingT) *Machine {
	m := New(Options{})
	for pid := 101; pid <= 103; pid++ {
		m.AddProc(ProcSpec{Pid: pid})
		_, err := m.Proc(pid).OpenFile("/l", os.O_RDWR|os.O_CREATE, 0o644)
		require.NoError(t, err)
	}
	return m
}

// TestRecordWaiterForgetsWhoHasGone: whom a waiter waited for no longer matters once that
// owner is out of its way, also when the owner comes back.
func TestRecordWaiterForgetsWhoHasGone(t *testing.T) {
	lock := func(pid int, c Call, typ int) deed {
		return deed{task: Task{pid, 1}, op: Op{Call: c, FD: 3, Flags: typ, Len: 1, Wait: true}}
	}
	waitedFor := func(c Call) *Machine {
		m := recordTrio(t)
		for _, d := range []deed{
			lock(102, c, F_RDLCK), lock(103, CallSetlk, F_RDLCK), lock(101, CallSetlk, F_WRLCK), lock(102, c, F_UNLCK),
		} {
			d.apply(m)
		}
		return m
	}
	a, b := waitedFor(CallSetlk), waitedFor(CallOFDSetlk)
	require.Equal(t, string(a.AppendKey(nil)), string(b.AppendKey(nil)))
	for _, d := range []deed{
		lock(102, CallSetlk, F_RDLCK), lock(103, CallSetlk, F_UNLCK), lock(103, CallSetlk, F_WRLCK), lock(102, CallSetlk, F_UNLCK),
	} {
		require.Equal(t, d.apply(a), d.apply(b))
		require.Equal(t, string(a.AppendKey(nil)), string(b.AppendKey(nil)), "one key, and two futures: after %s", d)
	}
}

// TestTaskNumbersDoNotMatter: when the tasks of every process change their numbers, nothing
// is answered otherwise. Of several tasks that wait, the search for deadlocks finds the
// last to begin, not the one with some number.
func TestTaskNumbersDoNotMatter(t *testing.T) {
	walks := 5000
	if testing.Short() {
		walks = 500
	}
	ops := recordOps()
	random := rand.New(rand.NewPCG(3, 4))
	for range walks {
		a, b := recordTrio(t), recordTrio(t)
		for range 20 {
			d := ops[random.IntN(len(ops))]
			e := d
			e.task.N = 3 - d.task.N
			require.Equal(t, d.apply(a), e.apply(b), d)
		}
	}
}
