package anynumber

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// Protocols that are known to hold for any number of processes and kills, or to break with two or three. Each process
// takes the lock again and again. A lock with an owner is a symbolic link to its pid. That a pid is used again while a
// file names it is not among them, for the machine has no such pids, and that is assumed and said.

const (
	lockAt  = "/run/lock"
	guardAt = "/run/guard"
)

// A protocolCase is one of them, with the right answers.
type protocolCase struct {
	name    string
	lock    scenarios.Protocol
	breaks  int // so many processes break it, no fewer; 0 is nobody
	proved  bool
	setup   func(p *fsfake.Proc) // beside an empty guard
	once    bool                 // each process takes the lock once, and nobody is killed
	asserts bool                 // what it asserts is asked, and not mutual exclusion
}

// scenario has each process take the lock for ever, and kills.
func (c *protocolCase) scenario() *scenarios.Scenario {
	c.lock.Path = lockAt
	program, crashes := scenarios.Once(c.lock), 0
	if !c.once {
		crashes = 1
		program = func(t *scenarios.Task) {
			for again := t.Retry(); again.Next(); {
				scenarios.Once(c.lock)(t)
			}
		}
	}
	return &scenarios.Scenario{ID: "protocol/" + c.name, Watch: []string{lockAt, guardAt},
		Setting: scenarios.Setting{Processes: 2, Crashes: crashes, Interchangeable: true},
		Setup: func(m *fsfake.Machine) {
			_ = m.Proc(1).Mkdir("/run", 0o755)
			_ = m.Proc(1).WriteFile(guardAt, nil, 0o644)
			if c.setup != nil {
				c.setup(m.Proc(1))
			}
		},
		Program: func(int, int) scenarios.Program { return program },
		Claims:  []scenarios.Claim{{Property: c.property(), Verdict: scenarios.Holds}}}
}

func (c *protocolCase) property() *scenarios.Property {
	if c.asserts {
		return scenarios.Assertion
	}
	return scenarios.MutualExclusion
}

func protocolCases() []protocolCase {
	return []protocolCase{
		{name: "look, then create", breaks: 2, lock: named(func(t *scenarios.Task) bool {
			if _, err := t.Stat(lockAt); err == nil {
				return false
			}
			return t.WriteFile(lockAt, nil, 0o644) == nil
		})},
		{name: "create or fail", proved: true, lock: named(func(t *scenarios.Task) bool {
			return t.Mkdir(lockAt, 0o755) == nil
		})},
		{name: "flock on a permanent file", proved: true, lock: scenarios.Protocol{
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return flocked(t, guardAt) },
			Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() }}},
		{name: "flock, not compared; unlink, close", breaks: 2, lock: flockUnlink(false, false)},
		{name: "flock, compared; close, unlink", breaks: 2, lock: flockUnlink(true, true)},
		{name: "stale: rmdir, mkdir", breaks: 2, lock: named(stale),
			setup: func(p *fsfake.Proc) { _ = p.Mkdir(lockAt, 0o700) }},
		{name: "dead: unlink", breaks: 3, lock: byPid(func(t *scenarios.Task, _ string) { _ = t.Unlink(lockAt) })},
		{name: "dead: rename away", breaks: 3, lock: byPid(func(t *scenarios.Task, _ string) {
			_ = t.Rename(lockAt, kit.PrivateName(t, lockAt))
		})},
		{name: "dead: unlink under a guard after a second look", proved: true, lock: byPid(underGuard(true))},
		{name: "dead: unlink under a guard, blind", breaks: 3, lock: byPid(underGuard(false))},
		{name: "dead: unlink under a lock with a pid after a second look", proved: true, lock: byPid(underBreak(true))},
		{name: "dead: unlink under a lock with a pid, blind", breaks: 3, lock: byPid(underBreak(false))},
		{name: "expired: unlink under a guard", breaks: 2, lock: owned(func(t *scenarios.Task) bool {
			underFlock(t, func() { _ = t.Unlink(lockAt) })
			return false
		})},
		{name: "created empty, empty is alive; guarded", proved: true, lock: twoSteps(false)},
		{name: "created empty, empty is stale; guarded", breaks: 2, lock: twoSteps(true)},
		{name: "flock, compared with the name; unlink, close", proved: true, lock: flockUnlink(true, false)},
		{name: "link of one's own file", proved: true, lock: named(linked)},
		{name: "dead: rename one's own over it, read back", breaks: 3, lock: owned(renamedOver)},
		{name: "object store, dead: delete by metageneration", breaks: 3, lock: stored(object{})},
		{name: "object store, dead: delete by generation", proved: true, lock: stored(object{match: true})},
		{name: "object store, dead: put if it matches", proved: true, lock: stored(object{match: true, put: true})},
		{name: "lease, release if it matches", proved: true, asserts: true,
			lock: stored(object{match: true, put: true, lease: true})},
		{name: "lease, release by name", breaks: 2, asserts: true,
			lock: stored(object{match: true, put: true, lease: true, byName: true})},
	}
}

// named is a lock by the name that acquire makes, and release removes.
func named(acquire func(t *scenarios.Task) bool) scenarios.Protocol {
	return scenarios.Protocol{
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if acquire(t) {
					break
				}
			}
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			if i, err := t.Lstat(lockAt); err == nil && i.IsDir() {
				return t.Rmdir(lockAt)
			}
			return t.Unlink(lockAt)
		},
	}
}

func flocked(t *scenarios.Task, name string) (scenarios.Hold, error) {
	f, err := t.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
}

func flockUnlink(compares, closesFirst bool) scenarios.Protocol {
	return scenarios.Protocol{
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); ; retry.Next() {
				h, err := flocked(t, lockAt)
				if err != nil || !compares || kit.AtItsName(t, h.File, lockAt) {
					return h, err
				}
				_ = h.File.Close()
			}
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if closesFirst {
				_ = h.File.Close()
				return t.Unlink(lockAt)
			}
			_ = t.Unlink(lockAt)
			return h.File.Close()
		},
	}
}

// stale takes a directory with mode 0700 for old.
func stale(t *scenarios.Task) bool {
	if t.Mkdir(lockAt, 0o755) == nil {
		return true
	}
	i, err := t.Stat(lockAt)
	return err == nil && i.Mode().Perm() == 0o700 && t.Rmdir(lockAt) == nil && t.Mkdir(lockAt, 0o755) == nil
}

func own(t *scenarios.Task, name string) bool {
	return t.Symlink(strconv.Itoa(t.Getpid()), name) == nil
}

// owned is a lock with an owner; taken does what is to be done where there is one, and reports whether it has the lock.
func owned(taken func(t *scenarios.Task) bool) scenarios.Protocol {
	l := named(func(t *scenarios.Task) bool { return own(t, lockAt) || taken(t) })
	l.Release = func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lockAt) }
	return l
}

// byPid has a lock of a dead owner removed.
func byPid(remove func(t *scenarios.Task, owner string)) scenarios.Protocol {
	return owned(func(t *scenarios.Task) bool {
		if owner, err := t.Readlink(lockAt); err == nil && kit.Gone(t, kit.PidIn(owner)) {
			remove(t, owner)
		}
		return false
	})
}

func removeIf(t *scenarios.Task, looks bool, owner string) {
	if is, err := owner, error(nil); looks {
		if is, err = t.Readlink(lockAt); err != nil || is != owner {
			return
		}
	}
	_ = t.Unlink(lockAt)
}

func underFlock(t *scenarios.Task, f func()) {
	if h, err := flocked(t, guardAt); err == nil {
		f()
		_ = h.File.Close()
	}
}

func underGuard(looks bool) func(*scenarios.Task, string) {
	return func(t *scenarios.Task, owner string) { underFlock(t, func() { removeIf(t, looks, owner) }) }
}

func underBreak(looks bool) func(*scenarios.Task, string) {
	return func(t *scenarios.Task, owner string) {
		if own(t, lockAt+".break") {
			removeIf(t, looks, owner)
			_ = t.Unlink(lockAt + ".break")
		}
	}
}

func renamedOver(t *scenarios.Task) bool {
	owner, err := t.Readlink(lockAt)
	if err != nil || !kit.Gone(t, kit.PidIn(owner)) {
		return false
	}
	mine := kit.PrivateName(t, lockAt)
	if !own(t, mine) || t.Rename(mine, lockAt) != nil {
		return false
	}
	is, err := t.Readlink(lockAt)
	return err == nil && is == strconv.Itoa(t.Getpid())
}

// twoSteps creates the lock empty, and writes the pid in a second call.
func twoSteps(emptyIsStale bool) scenarios.Protocol {
	return named(func(t *scenarios.Task) bool {
		f, err := t.OpenFile(lockAt, kit.Excl, 0o644)
		if err == nil {
			_, err = f.WriteString(strconv.Itoa(t.Getpid()))
			_ = f.Close()
			return err == nil
		}
		owner, err := kit.ReadAll(t, lockAt)
		if err != nil || owner == "" && !emptyIsStale || owner != "" && !kit.Gone(t, kit.PidIn(owner)) {
			return false
		}
		underFlock(t, func() {
			if is, err := kit.ReadAll(t, lockAt); err == nil && is == owner {
				_ = t.Unlink(lockAt)
			}
		})
		return false
	})
}

func linked(t *scenarios.Task) bool {
	mine := kit.PrivateName(t, lockAt)
	f, err := t.OpenFile(mine, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false
	}
	_ = t.Link(mine, lockAt)
	got := kit.AtItsName(t, f, lockAt)
	_ = t.Unlink(mine)
	_ = f.Close()
	return got
}

// An object is how a lock in an object store is taken over: if it is still the one (of its generation: the file that is
// open), by a put in place of a delete, without asking whether its owner lives; and whether it is released by its name.
type object struct{ match, put, lease, byName bool }

// stored is a lock in an object store: each request is made under one lock.
func stored(o object) scenarios.Protocol {
	put := func(t *scenarios.Task) *fsfake.File { // nobody looks in between, and a kill in between deletes
		mine, err := t.OpenFile(lockAt, kit.Excl, 0o644)
		if err == nil && !o.lease {
			_, _ = mine.WriteString(strconv.Itoa(t.Getpid()))
		}
		return mine
	}
	takeOver := func(t *scenarios.Task, found *fsfake.File) (mine *fsfake.File) {
		switch {
		case o.match && !kit.AtItsName(t, found, lockAt):
		case o.put:
			_ = t.Unlink(lockAt)
			mine = put(t)
		default:
			_ = t.Unlink(lockAt)
		}
		return mine
	}
	return scenarios.Protocol{
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			var mine, found *fsfake.File
			for retry := t.Retry(); mine == nil && retry.Next(); {
				owner := ""
				underFlock(t, func() {
					var err error
					if found, err = t.Open(lockAt); err != nil {
						mine = put(t)
					} else {
						owner, _ = kit.ReadFrom(found)
					}
				})
				if mine != nil || found == nil {
					continue
				}
				if o.lease || kit.Gone(t, kit.PidIn(owner)) {
					underFlock(t, func() { mine = takeOver(t, found) })
				}
				_ = found.Close()
			}
			return scenarios.Hold{File: mine}, nil
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			underFlock(t, func() {
				mine := kit.AtItsName(t, h.File, lockAt)
				if o.byName {
					_, err := t.Stat(lockAt)
					t.Assert(mine || err != nil, "somebody else's lock is removed")
				}
				if mine || o.byName {
					_ = t.Unlink(lockAt)
				}
			})
			return h.File.Close()
		},
	}
}

// rememberedPid: the first process writes its pid down and then over it; two others have read it, and no file holds it
// any more. One of them writes it down again, and the other acts on that.
func rememberedPid() protocolCase {
	const over = "---"
	return protocolCase{name: "a pid that two remember", breaks: 3, asserts: true, once: true,
		lock: named(func(t *scenarios.Task) bool {
			f, _ := t.OpenFile(guardAt, os.O_RDWR, 0)
			buf := make([]byte, len(over))
			read := func() string { n, _ := f.ReadAt(buf, 0); return string(buf[:n]) }
			if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
				if read() == "" {
					_, _ = f.WriteAt([]byte(strconv.Itoa(t.Getpid())), 0)
					_, _ = f.WriteAt([]byte(over), 0)
					_ = f.Flock(fsfake.LOCK_UN)
					until(t, func() bool { t.Sleep(kit.Poll); return false })
				}
				_ = f.Flock(fsfake.LOCK_UN)
			}
			pid := ""
			until(t, func() bool { pid = read(); return kit.PidIn(pid) > 0 })
			until(t, func() bool { return read() == over && f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil })
			_ = f.Flock(fsfake.LOCK_UN)
			if t.Symlink(pid, lockAt) != nil {
				is, _ := t.Readlink(lockAt)
				t.Assert(is != pid, "two remember one process")
			}
			return true
		})}
}

func until(t *scenarios.Task, is func() bool) {
	for retry := t.Retry(); retry.Next(); {
		if is() {
			return
		}
	}
}

// The answers are the right ones: which number of processes breaks a protocol, and that the others are proved.
// States of two to five processes project into the proofs.
func TestProtocols(t *testing.T) {
	for i, c := range protocolCases() {
		t.Run(c.name, func(t *testing.T) {
			if i >= testmain.Many(3, 12, 99) {
				t.Skip("SKIPPED: it takes seconds; LOCKPICK_LONG=1 go test ./checker/internal/anynumber runs it")
			}
			s, proof := first(t, c.scenario(), c.property(), 0)
			require.Equal(t, c.proved, proof != nil)
			if proof != nil {
				for n := 2; n <= testmain.Many(2, 4, 5); n++ {
					all, gone := missing(s, proof, n)
					require.NotZero(t, all)
					require.Zero(t, gone, "views of %d processes that the proof has not", n)
				}
				return
			}
			for n := c.breaks - 1; n <= c.breaks; n++ {
				s := allTold(t, c.scenario())
				require.Equal(t, n == c.breaks, s.reach(n, c.property(), func(*Config) {}), n)
			}
		})
	}
}
