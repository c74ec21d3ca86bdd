package discipline

import (
	"cmp"
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
	take   fsfake.Op       // the call that takes it
	mode   uint32          // with which a copy makes the file of a kernel lock
	there  bool            // it is there at the start
	looks  fsfake.FileView // what calls tell of it
	varies bool            // they tell something else at another time while it is there
	texts  []string        // of different lengths, in the file that is the lock by its name; or one
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
			name := c.after.Absolute(c.by.Pid, op.Path)
			if _, stays := calls[len(calls)-1].after.LookupName(name); !stays {
				all = append(all, lock{path: name, byName: true, take: op})
			}
		}
	}
	return all
}

// ways is how many ways there are to have the lock while a copy looks.
func (l *lock) ways() int {
	if l.byName {
		return len(l.texts)
	}
	return 1
}

// views keeps what calls tell of what is at the lock's path while it is there, in runs of copies alone.
func (l *lock) views(runs []serial, first *fsfake.Machine) {
	_, l.there = first.LookupName(l.path)
	l.mode, l.looks, l.varies, l.texts = 0o644, fsfake.FileView{}, false, nil
	for i := range runs {
		for j := range runs[i].calls {
			c := &runs[i].calls[j]
			if c.op.Call == fsfake.CallOpen && c.op.Flags&fsfake.O_CREAT != 0 && l.names(c) {
				l.mode = c.op.Mode
			}
			l.view(c.after)
		}
	}
}

func (l *lock) view(m *fsfake.Machine) {
	if id, ok := m.LookupName(l.path); ok {
		is := m.View(id)
		asLong := func(t string) bool { return len(t) == len(is.Content) }
		if len(l.texts) < maxTexts && !slices.ContainsFunc(l.texts, asLong) {
			l.texts = append(l.texts, is.Content)
		}
		if l.byName && slices.ContainsFunc(l.texts, asLong) {
			is.Content = "" // each length is tried, and a copy that opens the file is refused
		}
		if l.looks.ID == 0 {
			l.looks = is
		}
		l.varies = l.varies || !sameFile(l.looks, is)
	}
}

// maxTexts bounds how many lengths of the file that is a lock by its name are tried.
const maxTexts = 3

// names reports whether a call gets the lock's path.
func (l *lock) names(c *call) bool { return c.before.Absolute(c.by.Pid, c.op.Path) == l.path }

// meets reports whether the answer of a call hangs on who has the lock, or on whether the file of a kernel lock is made
// yet: the call asks for the lock without waiting for it, looks at the path, or opens or makes the file if it is there
// or not.
func (l *lock) meets(c *call) bool {
	switch op := c.op; {
	case l.tries(c):
		return !l.waits()
	case op.Call == fsfake.CallStat && l.looks.Kind != fsfake.KindSymlink, op.Call == fsfake.CallLstat:
		return l.names(c) && !l.stays()
	case op.Call == fsfake.CallOpen && op.Flags&(fsfake.O_CREAT|fsfake.O_EXCL) != fsfake.O_CREAT:
		return !l.byName && l.names(c) && !(l.stays() && op.Flags&fsfake.O_EXCL == 0)
	}
	return false
}

// stays reports whether the path always leads to the file of a kernel lock.
func (l *lock) stays() bool { return l.there && !l.byName }

// waits reports whether the kernel lets a copy wait for the lock.
func (l *lock) waits() bool {
	return l.take.Call == fsfake.CallFlock && l.take.Flags&fsfake.LOCK_NB == 0 || l.take.Wait
}

// met says why a call that meets the lock must not be made without it; nothing where it may.
func (l *lock) met(s *shared, c *call) string {
	if l.tries(c) {
		return ""
	}
	if why := s.looked(c, path.Dir(c.before.Absolute(c.by.Pid, c.op.Path))); why != "" {
		return why
	}
	switch {
	case l.varies && c.op.Call == fsfake.CallOpen && c.op.Flags&fsfake.O_CREAT != 0:
		return "makes a file"
	case l.varies && (c.op.Call != fsfake.CallOpen || !l.there):
		return "looks at " + l.path + " which copies change"
	case c.op.Call == fsfake.CallOpen && c.op.Flags&fsfake.O_TRUNC != 0 && (l.varies || l.looks.Content != ""):
		return "empties a file"
	}
	return ""
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

// outside says why a call must not be made while its copy does not hold the lock, before it has it or later; nothing
// where it may.
func (l *lock) outside(s *shared, c *call, before bool) string {
	var why string
	switch op := c.op; {
	case l.meets(c) && (before || !l.byName && !l.tries(c)):
		why = l.met(s, c)
	case op.Call == fsfake.CallReaddir, op.Call.Is(fsfake.NoFile | fsfake.Closes | fsfake.Duplicates):
		// what listings show is varied
	case op.Call.Changes() && failsByName(c):
		why = s.looked(c, op.Path, op.Path2)
	case op.Call.Is(fsfake.Looks) || op.Call == fsfake.CallOpen || op.Call == fsfake.CallGetcwd:
		why = l.looked(s, c)
	default:
		why = l.used(s, c)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("outside of the lock a copy %s: %s", why, c.op)
}

// looked says why a call must not ask what stands at some names, or be told where it is.
func (s *shared) looked(c *call, names ...string) string {
	for _, name := range names {
		if name == "" {
			continue
		}
		if at := s.looks(c.before, c.by.Pid, name); at != "" {
			return "looks at " + at + " which copies change"
		}
	}
	return ""
}

// looked says why a look at a file by its name, or an open of it, must not be made outside of the lock.
func (l *lock) looked(s *shared, c *call) string {
	name, opens := c.before.Absolute(c.by.Pid, c.op.Path), c.op.Call == fsfake.CallOpen
	if opens {
		if why := l.opens(s, c, name); why != "" || name == l.path && !l.byName {
			return why
		}
	}
	if why := s.looked(c, cmp.Or(c.op.Path, ".")); why != "" {
		return why
	}
	if id, ok := c.before.Lookup(name); ok && !opens && s.files[id] && s.sized(c) == 0 {
		return "looks at a file that copies change"
	}
	return ""
}

// used says why what a copy does to an open file, or what it changes, must not be done outside of the lock.
func (l *lock) used(s *shared, c *call) string {
	op, m := c.op, c.before
	of, _ := m.FDInode(c.by.Pid, op.FD)
	switch {
	case op.Call.Is(fsfake.Locks):
		if unlocked(m, of) && unlocked(c.after, of) || len(m.Paths(of)) == 0 && !s.files[of] {
			return "" // none, or one on a file without a name (O_TMPFILE), which nobody else has open
		}
		return "asks for a lock"
	case op.Call == fsfake.CallFchmod && !l.byName && slices.Equal(m.Paths(of), []string{l.path}) && !s.files[of]:
		return "" // it has that mode in all runs
	case op.Call.Changes() || op.Call.Is(fsfake.Records):
		return "changes something"
	case op.Call.Is(fsfake.Reads|fsfake.Stats|fsfake.Moves) && s.files[of] && s.sized(c) == 0:
		return "reads a file that copies change"
	}
	return ""
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
