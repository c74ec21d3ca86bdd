package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A shares a description with its children 103, 104, …; B has two of its own, 3 and 4. All
// are of one file. What is told here was seen on Linux 6.18 and is in testdata/kernel, too.
type sharers struct {
	t *testing.T
	m *Machine
}

func shared(t *testing.T, children int) *sharers {
	m, a, b := pair()
	_, err := a.OpenFile("/lock", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	for range children {
		require.True(t, m.Do(Task{101, 1}, Op{Call: CallFork}).OK())
	}
	for range 2 {
		_, err = b.OpenFile("/lock", os.O_RDWR, 0)
		require.NoError(t, err)
	}
	return &sharers{t, m}
}

func (s *sharers) flock(pid, fd, how int) string {
	op := Op{Call: CallFlock, FD: fd, Flags: how}
	return s.m.Do(Task{pid, 1}, op).Describe(op)
}

// goesOn has a blocked process go on.
func (s *sharers) goesOn(pid int) string {
	t := Task{pid, 1}
	op, blocked := s.m.Blocked(t)
	require.True(s.t, blocked)
	if !s.m.Ready(t, op) {
		return "cannot go on"
	}
	return s.m.Do(t, op).Describe(op)
}

// holds returns the mode of the lock behind a descriptor.
func (s *sharers) holds(pid, fd int) int {
	for _, v := range s.m.FDs(pid) {
		if v.FD == fd {
			return v.Flock
		}
	}
	return -1
}

// Whoever waits for a lock loses the one that somebody else has got for the description
// meanwhile, when it is woken for nothing. It is woken when the lock that it stands behind
// goes: the oldest one.
func TestFlockWaiterLosesASharedLock(t *testing.T) {
	s := shared(t, 1)
	require.Equal(t, "ok", s.flock(102, 3, LOCK_SH))
	require.Equal(t, "ok", s.flock(102, 4, LOCK_SH))
	require.Equal(t, "waits", s.flock(103, 3, LOCK_EX))
	require.Equal(t, "ok", s.flock(101, 3, LOCK_SH))
	require.Equal(t, "ok", s.flock(102, 4, LOCK_UN), "the younger one")
	require.Equal(t, "cannot go on", s.goesOn(103))
	require.Equal(t, "ok", s.flock(102, 4, LOCK_SH))
	require.Equal(t, "ok", s.flock(102, 3, LOCK_UN), "the older one")
	require.Equal(t, LOCK_SH, s.holds(101, 3), "until the waiter has looked")
	require.Equal(t, "waits", s.goesOn(103))
	require.Equal(t, 0, s.holds(101, 3))
	require.Equal(t, "cannot go on", s.goesOn(103))
	require.Equal(t, "ok", s.flock(102, 4, LOCK_UN))
	require.Equal(t, "ok", s.goesOn(103))
	require.Equal(t, LOCK_EX, s.holds(101, 3))
}

// A waiter is woken, too, when another one that it stands behind stops waiting.
func TestFlockWaiterBehindAWaiter(t *testing.T) {
	for name, stop := range map[string]func(*Machine){
		"interrupted": func(m *Machine) { m.Interrupt(Task{104, 1}) },
		"killed":      func(m *Machine) { m.KillProc(104) },
	} {
		t.Run(name, func(t *testing.T) {
			s := shared(t, 2)
			require.True(t, s.m.Do(Task{104, 1}, Op{Call: CallOpen, Path: "/lock", Flags: os.O_RDWR}).OK())
			require.Equal(t, "ok", s.flock(102, 3, LOCK_SH))
			require.Equal(t, "waits", s.flock(104, 4, LOCK_EX))
			require.Equal(t, "waits", s.flock(103, 3, LOCK_EX))
			require.Equal(t, "ok", s.flock(101, 3, LOCK_SH))
			require.Equal(t, "cannot go on", s.goesOn(103))
			stop(s.m)
			require.Equal(t, "waits", s.goesOn(103))
			require.Equal(t, 0, s.holds(101, 3))
		})
	}
}

// Two that wait to lock one description in the same mode do not stand in each other's way;
// nor does a try that is refused.
func TestFlockWaitersOfOneDescription(t *testing.T) {
	s := shared(t, 2)
	require.Equal(t, "ok", s.flock(102, 3, LOCK_EX))
	require.Equal(t, "waits", s.flock(103, 3, LOCK_EX))
	require.Equal(t, "waits", s.flock(104, 3, LOCK_EX))
	require.Equal(t, "EWOULDBLOCK", s.flock(101, 3, LOCK_EX|LOCK_NB))
	require.Equal(t, "EWOULDBLOCK", s.flock(101, 3, LOCK_SH|LOCK_NB))
	require.Equal(t, "cannot go on", s.goesOn(103))
	require.Equal(t, "ok", s.flock(102, 3, LOCK_UN))
	require.Equal(t, "ok", s.goesOn(104))
	require.Equal(t, "ok", s.goesOn(103))
}

// What becomes of a lock for which two wait in different modes depends on who of them is
// quicker, again and again.
func TestFlockInTwoModesIsNotModelled(t *testing.T) {
	s := shared(t, 2)
	require.Equal(t, "ok", s.flock(102, 3, LOCK_EX))
	require.Equal(t, "waits", s.flock(103, 3, LOCK_EX))
	require.Equal(t, "not modelled", s.flock(104, 3, LOCK_SH))
}

// Where nobody was to expect that a description is shared, who waits behind whom is not
// remembered.
func TestFlockQueuesAreKeptInTime(t *testing.T) {
	for _, tasks := range []int{0, 2} {
		m := New(Options{})
		m.AddProc(ProcSpec{Pid: 101, Tasks: tasks})
		m.AddProc(ProcSpec{Pid: 102})
		s := &sharers{t, m}
		for _, pid := range []int{101, 102} {
			require.True(t, m.Do(Task{pid, 1}, Op{Call: CallOpen, Path: "/tmp/f", Flags: os.O_RDWR | os.O_CREATE}).OK())
		}
		require.Equal(t, "ok", s.flock(102, 3, LOCK_SH))
		require.Equal(t, "waits", s.flock(101, 3, LOCK_EX))
		op := Op{Call: CallFlock, FD: 3, Flags: LOCK_SH}
		require.Equal(t, map[int]string{0: "not modelled", 2: "ok"}[tasks], m.Do(Task{101, 2}, op).Describe(op))
	}

	// A fork in time, and one that comes too late.
	s := shared(t, 0)
	require.True(t, s.m.Do(Task{102, 1}, Op{Call: CallFork}).OK())
	require.True(t, s.m.queues)
	s = shared(t, 0)
	require.Equal(t, "ok", s.flock(102, 3, LOCK_SH))
	require.Equal(t, "ok", s.flock(102, 4, LOCK_SH))
	require.True(t, s.m.Do(Task{102, 1}, Op{Call: CallFork}).OK())
	require.False(t, s.m.queues)
}
