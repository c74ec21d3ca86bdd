package fsfake_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"lockpick/fsfake"
)

// A machine is a disk, a kernel and processes, as a value. The methods of a Proc are
// the functions of package os.
func Example() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	a, b := m.Proc(101), m.Proc(102)

	_, err := a.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	fmt.Println(err)
	_, err = b.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	fmt.Println(err, errors.Is(err, fs.ErrExist))
	// Output:
	// <nil>
	// open /tmp/lock: file exists true
}

// A call is data, and so is what it answers. One that has to wait says so, and is made
// again when Ready says that it can go on.
func ExampleMachine_Do() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	a, b := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}
	open := fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/lock", Flags: os.O_CREATE | os.O_RDWR, Mode: 0o600}
	m.Do(a, open)
	m.Do(b, open)

	lock := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	unlock := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_UN}
	fmt.Println("A", lock, m.Do(a, lock).Describe(lock))
	fmt.Println("B", lock, m.Do(b, lock).Describe(lock), m.Ready(b, lock))
	fmt.Println("A", unlock, m.Do(a, unlock).Describe(unlock))
	fmt.Println("B can go on:", m.Ready(b, lock))
	fmt.Println("B", lock, m.Do(b, lock).Describe(lock))
	// Output:
	// A flock fd 3 LOCK_EX ok
	// B flock fd 3 LOCK_EX waits false
	// A flock fd 3 LOCK_UN ok
	// B can go on: true
	// B flock fd 3 LOCK_EX ok
}

// A clone goes its own way. Equal keys mean that no program can tell the machines
// apart.
func ExampleMachine_Clone() {
	m := fsfake.New(fsfake.Options{})
	c := m.Clone()
	p := c.Proc(1)
	if err := p.WriteFile("/tmp/x", []byte("x"), 0o600); err != nil {
		fmt.Println(err)
	}
	_, there := m.Lookup("/tmp/x")
	fmt.Println(there)
	_, there = c.Lookup("/tmp/x")
	fmt.Println(there)
	// Output:
	// false
	// true
}

// A lock that a kill leaves behind.
func ExampleMachine_KillProc() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	f, _ := m.Proc(101).Create("/tmp/lock")
	fmt.Println(f.Flock(fsfake.LOCK_EX))
	m.KillProc(101)

	b := m.Proc(102)
	fmt.Println(errors.Is(b.Kill(101), syscall.ESRCH))
	g, err := b.Open("/tmp/lock") // the file is still there,
	fmt.Println(err)
	fmt.Println(g.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB)) // the kernel's lock is not
	// Output:
	// <nil>
	// true
	// <nil>
	// <nil>
}
