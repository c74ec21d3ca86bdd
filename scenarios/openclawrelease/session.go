package openclawrelease

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/internal/openclaw"
)

const (
	dir      = "/sessions"
	lockPath = dir + "/main.jsonl.lock"
	poll     = 50 * time.Millisecond
)

// heldLocks is what the process knows of the one lock there is: HELD_LOCKS' entry, and
// whether the lock is in the set RELEASING, which option A adds.
type heldLocks struct {
	Entry     int  // which entry: the number of the task that made it; 0 for none
	Count     int  // how many tasks hold it
	FD        int  // entry.handle
	Releasing bool // entry.releasePromise is set
	InRelease bool // RELEASING has the key
}

var held = fsfake.Cell[heldLocks]{Name: "HELD_LOCKS"}

// payload is the text of a lock file. The zero value stands for a text that is missing
// or not readable.
type payload = openclaw.Payload

// A session is the session write lock with the choices that the variants differ in.
type session struct {
	startTime   bool // a5: the text tells the owner's start time
	publishLast bool // a7 follows a6, as reported, and not a4

	enter   func(t *scenarios.Task) (scenarios.Hold, bool) // a3: join a lock of this process
	orphan  func(t *scenarios.Task, p payload) bool        // b2: the reason orphan-self
	release func(t *scenarios.Task, h scenarios.Hold) error
}

func (s session) protocol() scenarios.Protocol {
	return scenarios.Protocol{Path: lockPath, Acquire: s.acquire, Release: s.release}
}

func (s session) acquire(t *scenarios.Task) (scenarios.Hold, error) {
	if err := t.MkdirAll(dir, 0o755); err != nil { // a1
		return scenarios.Hold{}, err
	}
	if h, ok := s.enter(t); ok { // a3
		return h, nil
	}
	for retry := t.Retry(); retry.Next(); {
		f, err := t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // a4
		if err == nil {
			return s.fill(t, f)
		}
		if !errors.Is(err, fs.ErrExist) {
			return scenarios.Hold{}, err
		}
		p := readPayload(t) // b1
		if s.stale(t, p) {  // b2, b3
			_ = t.Unlink(lockPath) // b4: by path, and ENOENT is fine
			continue
		}
		t.Sleep(poll) // b5
	}
	panic("unreachable")
}

// fill writes the text of the file just created and enters it in HELD_LOCKS.
func (s session) fill(t *scenarios.Task, f *fsfake.File) (scenarios.Hold, error) {
	if !s.publishLast {
		publish(t, f) // a7, before a6
	}
	p := payload{Pid: t.Getpid(), CreatedAt: "2026-03-29T00:00:00Z"} // a5
	if s.startTime {
		start, err := t.StartTime(p.Pid)
		if err != nil {
			return scenarios.Hold{}, err
		}
		p.StartTime = start
	}
	if _, err := f.Write(p.Text()); err != nil { // a6
		return scenarios.Hold{}, err
	}
	if s.publishLast {
		publish(t, f) // a7
	}
	return scenarios.Hold{File: f, Data: t.Task()}, nil
}

// publish is a7: HELD_LOCKS.set(key, a new entry). One turn.
func publish(t *scenarios.Task, f *fsfake.File) {
	m := held.Load(t.Proc)
	held.Store(t.Proc, heldLocks{Entry: t.Task(), Count: 1, FD: f.Fd(), InRelease: m.InRelease})
}

// readPayload is b1: readFile and JSON.parse. Any error gives the zero payload.
func readPayload(t *scenarios.Task) payload {
	f, err := t.Open(lockPath)
	if err != nil {
		return payload{}
	}
	text := make([]byte, 256)
	n, err := f.Read(text)
	_ = f.Close()
	if err != nil {
		return payload{}
	}
	return openclaw.Parse(text[:n])
}

// stale is b2 and b3.
func (s session) stale(t *scenarios.Task, p payload) bool {
	if p.Pid == 0 || p.CreatedAt == "" {
		return false // missing-pid, invalid-createdAt: stale only when the file is old
	}
	if t.Kill(p.Pid) != nil {
		return true // dead-pid
	}
	if p.StartTime != 0 {
		start, err := t.StartTime(p.Pid)
		return err == nil && start != p.StartTime // recycled-pid; never orphan-self
	}
	return p.Pid == t.Getpid() && s.orphan(t, p) // orphan-self
}

// joinHeld is a3 as reported: when HELD_LOCKS has the lock, count one more. It never
// looks at releasePromise. One turn.
func joinHeld(t *scenarios.Task) (scenarios.Hold, bool) {
	return join(t, held.Load(t.Proc))
}

// join counts one more holder of the entry in m, if m has one.
func join(t *scenarios.Task, m heldLocks) (scenarios.Hold, bool) {
	if m.Entry == 0 {
		return scenarios.Hold{}, false
	}
	m.Count++
	held.Store(t.Proc, m)
	return scenarios.Hold{File: t.NewFile(m.FD, lockPath), Shared: true, Data: m.Entry}, true
}

// closeAndRemove is r3 and r4: close the handle, then remove the lock by its path;
// ENOENT is fine.
func closeAndRemove(t *scenarios.Task, fd int) {
	_ = t.NewFile(fd, lockPath).Close()
	_ = t.Unlink(lockPath)
}
