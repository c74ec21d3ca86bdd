package discipline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
)

// What others may do to a copy outside of the lock is tried: it waits for the lock, the file of the lock appears, and
// listings show more or fewer names. The copy must do the same, or nothing but wait.

// other is the pid of who has the lock in [runner.meet].
const other = 97

// stranger begins another process.
func stranger(m *fsfake.Machine) fsfake.Task {
	root := m.View(1)
	m.AddProc(fsfake.ProcSpec{Pid: other, Parent: 1, UID: root.UID, GID: root.GID, Start: 1})
	return fsfake.Task{Pid: other, N: 1}
}

// occupy has another process take the lock, and write a text into the file that is the lock by its name.
func (l *lock) occupy(m *fsfake.Machine, text string) error {
	return l.open(m, func(by fsfake.Task, fd int) error {
		op := l.take
		if op.FD = fd; l.byName {
			op.FD, op.Path = 0, l.path
		}
		r := m.Do(by, op)
		if !r.OK() {
			return notProved("the lock on %s cannot be taken by another process: %v", l.path, r.Errno)
		}
		if l.byName && text != "" {
			if w := m.Do(by, fsfake.Op{Call: fsfake.CallWrite, FD: int(r.N), Data: text}); !w.OK() {
				return notProved("nothing can be written into %s as it is opened: %s", l.path, op)
			}
		}
		return nil
	})
}

// open has another process open the file of a kernel lock, as the copies do, and then do something.
func (l *lock) open(m *fsfake.Machine, then func(by fsfake.Task, fd int) error) error {
	by := stranger(m)
	if l.byName {
		return then(by, 0)
	}
	r := m.Do(by, fsfake.Op{Call: fsfake.CallOpen, Path: l.path, Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: l.mode})
	if !r.OK() {
		return notProved("the file %s cannot be opened by another process: %v", l.path, r.Errno)
	}
	return then(by, int(r.N))
}

// vacate has it let go.
func (l *lock) vacate(m *fsfake.Machine) {
	if l.byName {
		call := fsfake.CallUnlink
		if l.take.Call == fsfake.CallMkdir {
			call = fsfake.CallRmdir
		}
		m.Do(fsfake.Task{Pid: other, N: 1}, fsfake.Op{Call: call, Path: l.path})
	}
	m.KillProc(other)
}

// hide removes the file of a kernel lock: nobody has made it yet.
func (l *lock) hide(m *fsfake.Machine) {
	m.Do(stranger(m), fsfake.Op{Call: fsfake.CallUnlink, Path: l.path})
	m.KillProc(other)
}

// listings runs a copy with other listings of directories, where it lists one outside of the lock and copies make or
// remove names there: with each set of these names, in each listing. It must do the same.
func (x *runner) listings(s *shared, r *serial) error {
	var at []int
	total := 1
	for i := range r.calls {
		c := &r.calls[i]
		id, _ := c.before.FDInode(c.by.Pid, c.op.FD)
		if c.op.Call == fsfake.CallReaddir && c.result.N > 0 && (i < r.took || i > r.left) && len(s.dirs[id]) > 0 {
			at = append(at, i)
			if total *= 1 << min(len(s.dirs[id]), 10); total > variants {
				return notProved("outside of the lock a copy lists a directory in which copies make names: %s", c.op)
			}
		}
	}
	if len(at) == 0 {
		return nil
	}
	for v := range total {
		n, left := -1, v
		calls, err := x.run(r.again(), r.from, nil, func(m *fsfake.Machine, c *call) (*fsfake.Result, error) {
			if n++; n >= len(r.calls) || !slices.Contains(at, n) || c.op != r.calls[n].op {
				return nil, nil
			}
			id, _ := m.FDInode(c.by.Pid, c.op.FD)
			is := m.Do(c.by, c.op)
			left = listed(&is, s.dirs[id], left)
			return &is, nil
		})
		if err != nil {
			return err
		}
		if asked(calls) != asked(r.calls) {
			return notProved("outside of the lock a copy lists a directory, and what it does depends on names that "+
				"copies make there: %s", r.calls[at[0]].op)
		}
	}
	return nil
}

// asked are calls as a text.
func asked(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%d.%d %s\n", c.by.Pid, c.by.N, c.op)
	}
	return b.String()
}

// listed changes a listing, so that some names are there and others are not, as the lowest bits of v say; and what is
// left of v.
func listed(r *fsfake.Result, names []string, v int) int {
	numbers := map[string]string{}
	of, numbered := r.Value.(string)
	all, inos := strings.Split(r.Data, "\x00"), strings.Fields(of)
	for i, name := range all {
		if i+2 < len(inos) {
			numbers[name] = inos[i+2]
		}
	}
	for _, name := range names {
		all = slices.DeleteFunc(all, func(n string) bool { return n == name })
		if v&1 == 1 {
			all = append(all, name)
		}
		v >>= 1
	}
	all = slices.DeleteFunc(all, func(n string) bool { return n == "" })
	slices.Sort(all)
	r.Data, r.N = strings.Join(all, "\x00"), int64(len(all))
	if !numbered {
		return v
	}
	inos = inos[:min(2, len(inos))]
	for i, name := range all {
		inos = append(inos, cmp.Or(numbers[name], strconv.Itoa(newNumber+i)))
	}
	r.Value = strings.Join(inos, " ")
	return v
}

// newNumber is more than any inode number.
const newNumber = 1 << 40
