//go:build linux

package fsfake_test

import (
	"os"
	"path"
	"strings"

	"lockpick/fsfake"
)

// What cannot be compared on this machine: where the kernel is set to forbid more than the
// fake does, where paths are not rooted, where file systems differ.

var protectedHardlinks, protectedSticky bool // sysctls fs.protected_*

// mustNot reports a call that cannot be compared.
func (p *pair) mustNot(l line) bool {
	op := l.op
	switch {
	case op.Call == fsfake.CallOpen && (op.Flags&3 == 3 || p.waitsForItsEnd(l)):
		return true
	case (op.Call == fsfake.CallBind || op.Call == fsfake.CallConnect) && !fitsAddress(op.Path):
		return true
	case !p.real.Rooted() && (climbs(op.Path) || climbs(op.Path2) || hides(op)):
		return true
	case op.Call == fsfake.CallTruncate && profile() == fsfake.Posix && p.keepsSize(l), op.Call == fsfake.CallRead && p.readToItsEnd(l):
		return true
	}
	return p.several && (p.shutsRoot(l.pid, op) || p.linksOthers(l) || p.strangerInSticky(l))
}

// waitsForItsEnd: the kernel opens a FIFO in one call, which would wait here.
func (p *pair) waitsForItsEnd(l line) bool {
	fifo, _ := p.fake.Clone().Do(fsfake.Task{Pid: l.pid, N: 1}, l.op).Value.(fsfake.FIFO)
	return fifo.Waits
}

// fitsAddress reports whether the address of a socket has room for a path below any root, which ends at a NUL there.
func fitsAddress(path string) bool { return len(path) <= 60 && !strings.Contains(path, "\x00") }

// climbs reports whether a path may lead out of a directory that is not a chroot.
func climbs(path string) bool {
	return strings.Contains(path, "..") || path != "" && strings.Trim(path, "/.") == ""
}

// hides reports a call after which a driver that is not root may not look.
func hides(op fsfake.Op) bool {
	switch op.Call {
	case fsfake.CallOpen:
		return op.Flags&os.O_CREATE != 0 && op.Mode&0o600 != 0o600
	case fsfake.CallMkdir, fsfake.CallChmod, fsfake.CallFchmod:
		return op.Mode&0o700 != 0o700
	}
	return false
}

// keepsSize: whether truncate to the size that the file has changes its times depends on
// the file system.
func (p *pair) keepsSize(l line) bool { // the path may lead through the process's own descriptors
	r := p.fake.Clone().Do(fsfake.Task{Pid: l.pid, N: 1}, fsfake.Op{Call: fsfake.CallStat, Path: l.op.Path})
	return r.OK() && r.Stat.Size == l.op.Len
}

// readToItsEnd: the offset at the end of a directory is the file system's, and may be so
// large that read does not get to find out that it is one.
func (p *pair) readToItsEnd(l line) bool {
	for _, v := range p.fake.FDs(l.pid) {
		if v.FD == l.op.FD && p.fake.View(v.ID).Kind == fsfake.KindDir {
			return v.Offset != 0
		}
	}
	return false
}

// shutsRoot: the workers of other users must be able to enter the root directory.
func (p *pair) shutsRoot(pid int, op fsfake.Op) bool {
	root, _ := p.fake.Lookup("/")
	var id fsfake.InodeID
	var ok bool
	switch op.Call {
	case fsfake.CallChmod, fsfake.CallChown, fsfake.CallLchown:
		id, ok = p.fake.Lookup(op.Path)
	case fsfake.CallFchmod, fsfake.CallFchown:
		id, ok = p.fake.FDInode(pid, op.FD)
	}
	return ok && id == root
}

// linksOthers: fs.protected_hardlinks forbids links to many files of others.
func (p *pair) linksOthers(l line) bool {
	if !protectedHardlinks || p.users[l.pid] == 0 {
		return false
	}
	id, ok := p.fake.FDInode(l.pid, l.op.FD)
	switch l.op.Call {
	case fsfake.CallLink:
		// Who does not get to the file is refused before that.
		look := fsfake.CallLstat
		if l.op.Flags&fsfake.AT_SYMLINK_FOLLOW != 0 {
			look = fsfake.CallStat
		}
		r := p.fake.Clone().Do(fsfake.Task{Pid: l.pid, N: 1}, fsfake.Op{Call: look, Path: l.op.Path})
		id, ok = idOf(r.Stat.Ino), r.OK()
	case fsfake.CallLinkFD:
	default:
		return false
	}
	return ok && p.fake.View(id).UID != p.users[l.pid]
}

// strangerInSticky: fs.protected_regular forbids to open files of others with O_CREAT in
// sticky directories, fs.protected_symlinks to follow symlinks of others there.
func (p *pair) strangerInSticky(l line) bool {
	if !protectedSticky || l.op.Path == "" {
		return false
	}
	if l.op.Call == fsfake.CallOpen && l.op.Flags&os.O_CREATE != 0 {
		if dir, ok := p.fake.Lookup(path.Dir(l.op.Path)); ok && p.sticky(dir) {
			return true
		}
	}
	root, _ := p.fake.Lookup("/")
	for _, n := range p.walk("/", root, nil) {
		dir, _ := p.fake.Lookup(path.Dir(n.path))
		if p.fake.View(n.id).Kind == fsfake.KindSymlink && p.sticky(dir) {
			return true
		}
	}
	return false
}

func (p *pair) sticky(dir fsfake.InodeID) bool {
	return p.fake.View(dir).Mode&os.ModeSticky != 0
}

// needsRoot reports whether only root can run the sequence: its processes belong to several users, or
// are in pid namespaces.
func (s *sequence) needsRoot() bool { return s.severalUsers() || s.contained != nil }

// severalUsers reports whether the processes belong to several users.
func (s *sequence) severalUsers() bool {
	for _, u := range s.users {
		if u != s.users[0] {
			return true
		}
	}
	return false
}
