package discipline

import (
	"fmt"
	"math"
	"path"
	"slices"

	"lockpick/fsfake"
)

// A lock is what may keep copies apart: a lock of the kernel on the file that has a path, or the path itself, which is
// there while somebody holds it.
type lock struct {
	path   string
	byName bool
	take   fsfake.Op // the call that takes it
}

// held reports whether somebody holds it.
func (l *lock) held(m *fsfake.Machine) bool {
	id, ok := m.LookupName(l.path)
	return ok && (l.byName || kernelLocked(m, id))
}

// kernelLocked reports whether a file has an exclusive lock: of flock, or a record lock of the whole file.
func kernelLocked(m *fsfake.Machine, id fsfake.InodeID) bool {
	v := m.View(id)
	for _, f := range v.Flocks {
		if f.Mode == fsfake.LOCK_EX {
			return true
		}
	}
	for _, r := range v.Records {
		if r.Lock.Type == fsfake.F_WRLCK && r.Lock.Start == 0 && (r.Lock.Len == 0 || r.Lock.Len == math.MaxInt64) {
			return true
		}
	}
	return false
}

func unlocked(m *fsfake.Machine, id fsfake.InodeID) bool {
	v := m.View(id)
	return len(v.Flocks)+len(v.Records) == 0
}

// locksOf lists the locks that a run takes, in its order.
func locksOf(calls []call) (all []lock) {
	for i := range calls {
		c := &calls[i]
		switch op := c.op; {
		case !c.result.OK():
		case op.Call.Is(fsfake.Locks):
			id, _ := c.before.FDInode(c.by.Pid, op.FD)
			if names := c.after.Paths(id); len(names) == 1 && !kernelLocked(c.before, id) && kernelLocked(c.after, id) {
				all = append(all, lock{path: names[0], take: op})
			}
		case op.Call == fsfake.CallMkdir, op.Call == fsfake.CallSymlink,
			op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0 && op.Flags&fsfake.O_EXCL != 0:
			all = append(all, lock{path: c.after.Absolute(c.by.Pid, op.Path), byName: true, take: op})
		}
	}
	return all
}

// tries reports whether a call asks for the lock.
func (l *lock) tries(c *call) bool {
	if l.byName {
		return c.op.Call == l.take.Call && c.op.Flags == l.take.Flags && c.before.Absolute(c.by.Pid, c.op.Path) == l.path
	}
	id, ok := c.before.LookupName(l.path)
	of, open := c.before.FDInode(c.by.Pid, c.op.FD)
	return ok && open && id == of && c.op.Call == l.take.Call && c.op.Flags == l.take.Flags
}

// outside says why a call must not be made while its copy does not hold the lock; nothing where it may.
func (l *lock) outside(s *shared, c *call) string {
	op, m := c.op, c.before
	name := m.Absolute(c.by.Pid, op.Path)
	of, _ := m.FDInode(c.by.Pid, op.FD)
	says := func(what string) string { return fmt.Sprintf("outside of the lock a copy %s: %s", what, op) }
	switch {
	case op.Call == fsfake.CallReaddir, op.Call.Is(fsfake.NoFile | fsfake.Closes | fsfake.Duplicates):
		return "" // what listings show is varied
	case op.Call.Is(fsfake.Locks):
		if l.tries(c) && !c.result.OK() || unlocked(c.before, of) && unlocked(c.after, of) {
			return ""
		}
		return says("asks for a lock")
	case l.tries(c) && !c.result.OK():
		return ""
	case op.Call == fsfake.CallFchmod && !l.byName && slices.Equal(m.Paths(of), []string{l.path}) && !s.files[of]:
		return "" // it has that mode in all runs
	case op.Call.Changes() && failsByName(c):
		for _, p := range []string{op.Path, op.Path2} {
			if at := s.looks(m, c.by.Pid, p); p != "" && at != "" {
				return says("looks at " + at + " which copies change")
			}
		}
		return ""
	case op.Call.Is(fsfake.Looks) || op.Call == fsfake.CallOpen || op.Call == fsfake.CallGetcwd:
		if op.Call == fsfake.CallOpen {
			if why := l.opens(s, c, name); why != "" {
				return says(why)
			}
			if name == l.path && !l.byName {
				return ""
			}
		}
		at := s.looks(m, c.by.Pid, op.Path)
		if l.looked(c) { // with and without it, see [runner.appears]
			at = s.looks(m, c.by.Pid, path.Dir(name))
		}
		if at != "" {
			return says("looks at " + at + " which copies change")
		}
		if id, ok := m.Lookup(name); ok && op.Call != fsfake.CallOpen && s.files[id] {
			return says("looks at a file that copies change")
		}
		return ""
	case op.Call.Changes() || op.Call.Is(fsfake.Records):
		return says("changes something")
	case op.Call.Is(fsfake.Reads | fsfake.Stats | fsfake.Moves):
		if s.files[of] {
			return says("reads a file that copies change")
		}
	}
	return ""
}

// looked reports whether a call looks for the file of a kernel lock by its name.
func (l *lock) looked(c *call) bool {
	return !l.byName && c.op.Call.Is(fsfake.Looks) && c.before.Absolute(c.by.Pid, c.op.Path) == l.path
}

// failsByName reports whether a call fails because of what stands at its names.
func failsByName(c *call) bool {
	e := c.result.Errno
	return c.op.Call.Group() == fsfake.ByName && (e == fsfake.EEXIST || e == fsfake.ENOENT || e == fsfake.ENOTDIR)
}

// opens says why a file must not be opened so outside of the lock.
func (l *lock) opens(s *shared, c *call, name string) string {
	made, ours := false, name == l.path && !l.byName
	if _, was := c.before.Lookup(name); !was {
		_, made = c.after.Lookup(name)
	}
	id, _ := c.after.Lookup(name)
	switch {
	case c.op.Flags&fsfake.O_CREAT != 0 && c.op.Flags&fsfake.O_EXCL != 0:
		return "makes a file"
	case made && !ours:
		return "makes a file"
	case c.op.Flags&fsfake.O_TRUNC != 0 && (!ours || s.files[id] || c.before.View(id).Content != ""):
		return "empties a file"
	}
	return ""
}
