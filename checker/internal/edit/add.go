package edit

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Added lists the ways to have the site's call do more than it does, the smallest first. synced: the power may be
// lost, so fsync is worth a try. excl: O_EXCL is, too, which outlives
// whoever is killed: a lock of the kernel does not.
func (s *Site) Added(synced, excl bool) (all []*Edit) {
	op := s.Op
	opens := op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0 && op.Flags&fsfake.O_EXCL == 0
	switch {
	case op.Call == fsfake.CallClose && synced:
		all = append(all, &Edit{Text: "fsync before " + s.String(), Sites: []*Site{s},
			Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
				return Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
					if s.makes(&op) {
						p.Do(fsfake.Op{Call: fsfake.CallFsync, FD: op.FD})
					}
					return p.Do(op)
				}}
			}})
	case op.Call == fsfake.CallFlock && op.Flags&fsfake.LOCK_EX != 0:
		all = append(all, &Edit{Text: "after " + s.String() + ", compare fd and name, and else begin anew", Sites: []*Site{s},
			Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
				return &compared{Port: p, site: s, opened: map[int]fsfake.Op{}}
			}})
	case opens && excl:
		all = append(all, s.changed("O_EXCL in "+s.String(),
			func(op fsfake.Op) fsfake.Op { op.Flags |= fsfake.O_EXCL; return op }))
	}
	if opens && op.Flags&fsfake.O_TRUNC != 0 {
		all = append(all, &Edit{Text: s.String() + " under a private name, renamed when it is closed", Sites: []*Site{s},
			Change: func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
				return &private{Port: p, site: s, suffix: fmt.Sprintf(".%d", scenarios.Pid(t.Index)), synced: synced}
			}})
	}
	return all
}

// OfDescription is the edit in which record locks belong to open files and not to the process, whose other descriptors
// may be closed then and whose other threads are kept out. It is of all record locks.
func (s *Site) OfDescription() *Edit {
	return &Edit{Text: "F_OFD_SETLK in place of F_SETLK", Sites: []*Site{s},
		Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
			return Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
				if op.Call == fsfake.CallSetlk {
					op.Call = fsfake.CallOFDSetlk
				}
				return p.Do(op)
			}}
		}}
}

// compared is the port of a task that looks after a lock whether it has locked the file that has the name.
type compared struct {
	fsfake.Port
	site   *Site
	opened map[int]fsfake.Op
}

func (c *compared) Do(op fsfake.Op) fsfake.Result {
	mine := c.site.makes(&op)
	for again := false; ; again = true {
		if mine && op.Flags&fsfake.LOCK_NB == 0 {
			c.Note(fsfake.RoundTop{Loop: ownLoop, First: !again})
		}
		a := c.Port.Do(op)
		if op.Call == fsfake.CallOpen && a.OK() {
			c.opened[int(a.N)] = op
		}
		open, known := c.opened[op.FD]
		if !mine || !a.OK() || !known || c.same(op.FD, open.Path) {
			return a
		}
		if op.Flags&fsfake.LOCK_NB != 0 {
			c.Port.Do(fsfake.Op{Call: fsfake.CallFlock, FD: op.FD, Flags: fsfake.LOCK_UN})
			return fsfake.Result{Errno: fsfake.EAGAIN}
		}
		c.Port.Do(fsfake.Op{Call: fsfake.CallClose, FD: op.FD})
		if r := c.Port.Do(open); !r.OK() || int(r.N) != op.FD {
			return fsfake.Result{Errno: fsfake.EBADF}
		}
	}
}

// ownLoop numbers a retry loop that an edit makes, beside those of programs.
const ownLoop = 1000

// same compares a descriptor's file with the one at a name.
func (c *compared) same(fd int, name string) bool {
	has := c.Port.Do(fsfake.Op{Call: fsfake.CallFstat, FD: fd})
	at := c.Port.Do(fsfake.Op{Call: fsfake.CallStat, Path: name})
	c.Note(fsfake.InodeSeen)
	return at.OK() && has.Stat.Ino == at.Stat.Ino
}

// private is the port of a task that writes a file under another name, and renames it when it is closed.
type private struct {
	fsfake.Port
	site   *Site
	suffix string
	synced bool
	name   string // of the file that is being written
	fd     int
}

func (v *private) Do(op fsfake.Op) fsfake.Result {
	switch {
	case v.site.makes(&op):
		name := op.Path
		op.Path += v.suffix
		v.Note(fsfake.PidSeen)
		a := v.Port.Do(op)
		if a.OK() {
			v.name, v.fd = name, int(a.N)
		}
		return a
	case v.name != "" && op.Call == fsfake.CallClose && op.FD == v.fd:
		if v.synced {
			v.Port.Do(fsfake.Op{Call: fsfake.CallFsync, FD: op.FD})
		}
		a := v.Port.Do(op)
		v.Port.Do(fsfake.Op{Call: fsfake.CallRename, Path: v.name + v.suffix, Path2: v.name})
		v.name = ""
		return a
	}
	return v.Port.Do(op)
}
