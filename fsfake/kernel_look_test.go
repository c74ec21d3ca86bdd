//go:build linux

package fsfake_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// look compares everything that can be seen from outside: every name and what is behind
// it, every descriptor, every lock that is held.
func (p *pair) look() (*mismatch, error) {
	var f, r []string
	names := p.names()
	for _, part := range []func([]found) ([]string, []string, error){p.lookTree, p.lookFDs, p.lookLocks} {
		a, b, err := part(names)
		if err != nil {
			return nil, err
		}
		f, r = append(f, a...), append(r, b...)
	}
	p.looked(names)
	if slices.Equal(f, r) {
		p.log = append(p.log, said{text("look"), "", ""})
		return nil, p.age(names)
	}
	what := ""
	for i := range max(len(f), len(r)) {
		a, b := "nothing", "nothing"
		if i < len(f) {
			a = f[i]
		}
		if i < len(r) {
			b = r[i]
		}
		if a != b {
			p.log = append(p.log, said{text("look"), a, b})
			if what == "" {
				kind, _, _ := strings.Cut(a, " ")
				what = "look: another state: " + kind
			}
		}
	}
	return &mismatch{what: what}, nil
}

// looked has root ask the fake for the times of everything, as has just been done on the
// real disk: what changes after that is to show.
func (p *pair) looked(names []found) {
	for _, m := range p.fakes() {
		for _, n := range names {
			m.Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallLstat, Path: n.path})
		}
		for _, pid := range m.Pids() {
			for _, v := range m.FDs(pid) {
				m.Do(fsfake.Task{Pid: pid, N: 9}, fsfake.Op{Call: fsfake.CallFstat, FD: v.FD})
			}
		}
	}
}

// age makes every directory look old on both sides, so that the next change of its mtime
// shows.
func (p *pair) age(names []found) error {
	for _, n := range names {
		if p.fake.View(n.id).Kind != fsfake.KindDir {
			continue
		}
		const then = 1e15
		for _, m := range p.fakes() {
			m.Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallUtimes, Path: n.path, Time: then, Time2: then})
		}
		ts := [2]unix.Timespec{unix.NsecToTimespec(then), unix.NsecToTimespec(then)}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, p.real.Root()+n.path, ts[:], unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	return nil
}

// stat returns what fstat would show of an inode of the fake.
func (p *pair) stat(id fsfake.InodeID) fsfake.Stat {
	v := p.fake.View(id)
	st := fsfake.Stat{
		Ino: uint64(id) + 1, Nlink: uint32(v.Nlink), Mode: v.Mode, UID: v.UID, GID: v.GID,
		Size:  int64(len(v.Content) + len(v.Target)),
		Atime: v.Atime, Mtime: v.Mtime, Ctime: v.Ctime, Btime: v.Btime,
	}
	return st
}

func (p *pair) lookTree(fakes []found) (f, r []string, err error) {
	tree, err := p.real.Tree()
	if err != nil {
		return nil, nil, err
	}
	for i := range max(len(tree), len(fakes)) {
		switch {
		case i >= len(tree):
			f = append(f, "name "+fakes[i].path)
		case i >= len(fakes):
			r = append(r, "name "+tree[i].Path)
		default:
			e, v := tree[i], p.fake.View(fakes[i].id)
			a, b := "", ""
			if e.Path == fakes[i].path { // otherwise nothing can be concluded
				st := p.stat(fakes[i].id)
				st.Nlink = p.fake.Clone().Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallLstat, Path: e.Path}).Stat.Nlink
				a, b = p.see.stats(st, e.Stat)
			}
			f = append(f, fmt.Sprint("name ", fakes[i].path, " ", a, " ", quote(v.Content+v.Target)))
			r = append(r, fmt.Sprint("name ", e.Path, " ", b, " ", quote(e.Content)))
		}
	}
	return f, r, nil
}

// A found is a name and its inode.
type found struct {
	path string
	id   fsfake.InodeID
}

// names are all names of the fake, and their inodes.
func (p *pair) names() []found {
	root, _ := p.fake.Lookup("/")
	return p.walk("/", root, nil)
}

func (p *pair) walk(path string, id fsfake.InodeID, to []found) []found {
	to = append(to, found{path, id})
	for _, n := range p.fake.View(id).Names {
		child := strings.TrimSuffix(path, "/") + "/" + n
		if c, ok := p.child(child); ok {
			to = p.walk(child, c, to)
		}
	}
	return to
}

// child finds the inode of a name without following it.
func (p *pair) child(path string) (fsfake.InodeID, bool) {
	c := p.fake.Clone()
	r := c.Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallLstat, Path: path})
	return idOf(r.Stat.Ino), r.OK()
}

func (p *pair) lookFDs([]found) (f, r []string, err error) {
	for _, pid := range p.fake.Pids() {
		if pid < firstPid {
			continue
		}
		sockets := map[int]bool{} // with a name: the kernel has an inode of its own for each
		for _, v := range p.fake.FDs(pid) {
			sockets[v.FD] = v.Flags&fsfake.O_PATH == 0 && p.fake.View(v.ID).Kind == fsfake.KindSocket
			if sockets[v.FD] {
				f = append(f, fdText(pid, v.FD, v.Flags, v.CloseOnExec, "socket", 0, 0))
				continue
			}
			f = append(f, fdText(pid, v.FD, v.Flags, v.CloseOnExec, fmt.Sprint("inode ", v.ID), v.Offset, p.fake.View(v.ID).Mode))
		}
		for _, v := range p.fake.Streams(pid) {
			f = append(f, fmt.Sprintf("descriptor %s %d stream cloexec %t", procName(pid), v.FD, v.CloseOnExec))
		}
		fds, err := realFDs(p.real, pid)
		if err != nil {
			return nil, nil, err
		}
		for _, v := range fds {
			if v.stream {
				r = append(r, fmt.Sprintf("descriptor %s %d stream cloexec %t", procName(pid), v.fd, v.flags&fsfake.O_CLOEXEC != 0))
				continue
			}
			ino, mode := "another inode", fs.FileMode(0)
			if id, ok := p.fake.FDInode(pid, v.fd); ok && p.see.same(id, v.ino) {
				ino = fmt.Sprint("inode ", id)
			}
			if sockets[v.fd] {
				ino = "socket"
			}
			if v.dir {
				mode = fs.ModeDir
			}
			r = append(r, fdText(pid, v.fd, v.flags, v.flags&fsfake.O_CLOEXEC != 0, ino, v.offset, mode))
		}
	}
	slices.Sort(f)
	slices.Sort(r)
	return f, r, nil
}

func fdText(pid, fd, flags int, cloexec bool, ino string, offset int64, mode fs.FileMode) string {
	if mode.IsDir() {
		offset = 0 // no two file systems agree
	}
	const kept = os.O_WRONLY | os.O_RDWR | os.O_APPEND | fsfake.O_PATH
	return fmt.Sprintf("descriptor %s %d %#x cloexec %t %s offset %d", procName(pid), fd, flags&kept, cloexec, ino, offset)
}

// lookLocks compares the locks on every inode that has a name or a descriptor.
func (p *pair) lookLocks(names []found) (f, r []string, err error) {
	var ids []fsfake.InodeID
	for _, n := range names {
		ids = append(ids, n.id)
	}
	for _, pid := range p.fake.Pids() {
		for _, v := range p.fake.FDs(pid) {
			ids = append(ids, v.ID)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	any := false
	for _, id := range ids {
		v := p.fake.View(id)
		for _, k := range v.Flocks {
			t := fsfake.F_RDLCK
			if k.Mode == fsfake.LOCK_EX {
				t = fsfake.F_WRLCK
			}
			f = append(f, fmt.Sprint("lock FLOCK ", id, " ", lockText(fsfake.RecordLock{Type: t, Pid: -1})))
		}
		for _, k := range v.Records {
			kind := "POSIX"
			if k.OFD {
				kind = "OFDLCK"
			}
			f = append(f, fmt.Sprint("lock ", kind, " ", id, " ", lockText(k.Lock)))
		}
		any = any || len(v.Openers) > 0
	}
	if !any {
		return nil, nil, nil
	}
	slices.Sort(f)
	// The list of all locks of the system is not read at one moment; other machines change
	// it meanwhile, and a lock may be missed or met twice. So a difference must last.
	device, err := deviceOf(p.real.Root())
	if err != nil {
		return nil, nil, err
	}
	for range 20 {
		locks, err := heldLocks(p.real, device, p.fake.Pids())
		if err != nil {
			return nil, nil, err
		}
		r = r[:0]
		for _, k := range locks {
			id, ok := p.see.ids[k.ino]
			if !ok || !slices.Contains(ids, id) { // of another machine on this file system
				continue
			}
			r = append(r, fmt.Sprint("lock ", k.kind, " ", id, " ", lockText(k.lock)))
		}
		if slices.Sort(r); slices.Equal(f, r) {
			break
		}
	}
	return f, r, nil
}
