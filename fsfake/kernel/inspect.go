//go:build linux

package kernel

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// Looking at the real machine from outside, as the methods of [fsfake.Machine] do at the
// fake.

// An Entry is a name on the disk.
type Entry struct {
	Path string // as the processes see it
	Stat fsfake.Stat
	// Content of a file; target of a symlink.
	Content string
}

// Tree lists every name on the disk, sorted, directories before what is in them. It begins
// with "/".
func (m *Machine) Tree() ([]Entry, error) { return m.tree("/", nil) }

func (m *Machine) tree(p string, to []Entry) ([]Entry, error) {
	real := m.root + p
	c := caller{}
	if !m.Rooted() {
		c.prefix = m.root
	}
	r := (&caller{}).stat(unix.AT_FDCWD, real, unix.AT_SYMLINK_NOFOLLOW)
	if !r.OK() {
		return to, fmt.Errorf("kernel: looking at %s: %w", p, r.Errno)
	}
	e := Entry{Path: p, Stat: r.Stat}
	var names []string
	switch {
	case r.Stat.Mode.IsDir():
		var err error
		if names, err = listDir(real); err != nil {
			return to, err
		}
	case r.Stat.Mode&fs.ModeSymlink != 0:
		t, err := os.Readlink(real)
		if err != nil {
			return to, err
		}
		e.Content = c.target(t)
		e.Stat.Size = int64(len(e.Content))
	case m.Rooted() || r.Stat.Mode&0o400 != 0:
		b, err := readAll(real, r.Stat.Size)
		if err != nil {
			return to, err
		}
		e.Content = string(b)
	}
	to = append(to, e)
	for _, n := range names {
		var err error
		if to, err = m.tree(path.Join(p, n), to); err != nil {
			return to, err
		}
	}
	return to, nil
}

// listDir returns the names in a directory, sorted.
func listDir(dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("kernel: looking at %s: %w", dir, err)
	}
	defer unix.Close(fd)
	r := readdir(fd)
	if r.Errno != 0 {
		return nil, fmt.Errorf("kernel: looking at %s: %w", dir, r.Errno)
	}
	if r.Data == "" {
		return nil, nil
	}
	return strings.Split(r.Data, "\x00"), nil
}

// readAll reads a file of which the size is known.
func readAll(name string, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, size)
	n, err := unix.Read(fd, b)
	return b[:max(n, 0)], err
}

// An FD is a descriptor of a process.
type FD struct {
	FD     int
	Stream bool // open on a standard stream, outside of the disk; then the rest is zero but O_CLOEXEC in Flags
	Flags  int  // as open(2) and O_CLOEXEC
	Offset int64
	Stat   fsfake.Stat
}

// FDs lists the descriptors of a process.
func (m *Machine) FDs(pid int) ([]FD, error) {
	s, err := m.find(pid)
	if err != nil {
		return nil, err
	}
	if err := s.greet(); err != nil { // before that it has descriptors that it will close
		return nil, err
	}
	if s.blocked == nil {
		return s.ownFDs()
	}
	return s.fdsFromOutside()
}

// ownFDs asks the worker itself, which is quicker.
func (p *process) ownFDs() ([]FD, error) {
	if err := p.send(frameFDs, nil); err != nil {
		return nil, err
	}
	_, body, err := p.expect(frameFDs)
	d := decoder{body}
	var fds []FD
	for err == nil && len(d.b) > 0 {
		fds = append(fds, FD{FD: int(d.int()), Stream: d.bool(), Flags: int(d.int()), Offset: d.int(), Stat: d.result().Stat})
	}
	return fds, err
}

// listFDs is the worker's side of ownFDs. No descriptor has a number of end or more.
func (e *encoder) listFDs(end int) {
	const low = 32 // all are asked for themselves; of the others
	var open []unix.PollFd
	for fd := low; fd < end; fd++ {
		open = append(open, unix.PollFd{Fd: int32(fd)})
	}
	if len(open) > 0 {
		unix.Poll(open, 0) // one call tells which are open, if not with O_PATH
	}
	streams := statsOf(fdNull, fdErr)
	for fd := range end {
		if fd >= low && open[fd-low].Revents&unix.POLLNVAL != 0 {
			continue
		}
		cloexec, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			continue
		}
		flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if cloexec&unix.FD_CLOEXEC != 0 {
			flags |= unix.O_CLOEXEC
		}
		r := (&caller{}).stat(fd, "", unix.AT_EMPTY_PATH)
		offset := int64(0)
		if !r.Stat.Mode.IsDir() { // where to ask may change what a listing shows (btrfs)
			if offset, err = unix.Seek(fd, 0, unix.SEEK_CUR); err != nil { // of O_PATH there is none
				offset = 0
			}
		}
		stream := streams.have(&r.Stat)
		if stream {
			flags, offset, r.Stat = flags&unix.O_CLOEXEC, 0, fsfake.Stat{}
		}
		e.int(int64(fd))
		e.bool(stream)
		e.int(int64(fakeFlags(flags)))
		e.int(offset)
		e.result(&r)
	}
}

// stats are those of what the standard streams are open on.
type stats [2]fsfake.Stat

func statsOf(null, err int) (s stats) {
	for i, fd := range [...]int{null, err} {
		s[i] = (&caller{}).stat(fd, "", unix.AT_EMPTY_PATH).Stat
	}
	return s
}

// have reports whether a file is one of them.
func (s *stats) have(st *fsfake.Stat) bool {
	for i := range s {
		if s[i].Dev == st.Dev && s[i].Ino == st.Ino {
			return true
		}
	}
	return false
}

// fdsFromOutside looks into /proc.
func (p *process) fdsFromOutside() ([]FD, error) {
	dir := fmt.Sprintf("/proc/%d/fd", p.pid)
	names, err := listDir(dir)
	if err != nil {
		return nil, err
	}
	var fds []FD
	streams := statsOf(p.null, 2)
	for _, n := range names {
		fd, _ := strconv.Atoi(n)
		if fd >= firstPrivateFD {
			continue
		}
		r := (&caller{}).stat(unix.AT_FDCWD, dir+"/"+n, 0)
		if !r.OK() {
			return nil, fmt.Errorf("kernel: looking at worker %d: %w", p.pid, r.Errno)
		}
		f := FD{FD: fd, Stat: r.Stat}
		var buf [256]byte
		if err := f.info(fmt.Sprintf("/proc/%d/fdinfo/%d", p.pid, fd), buf[:]); err != nil {
			return nil, err
		}
		if streams.have(&f.Stat) {
			f = FD{FD: fd, Stream: true, Flags: f.Flags & fsfake.O_CLOEXEC}
		}
		fds = append(fds, f)
	}
	slices.SortFunc(fds, func(a, b FD) int { return a.FD - b.FD })
	return fds, nil
}

// info reads the offset and the flags.
func (f *FD) info(name string, buf []byte) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("kernel: %s: %w", name, err)
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return fmt.Errorf("kernel: %s: %w", name, err)
	}
	for _, l := range strings.Split(string(buf[:n]), "\n") {
		k, v, _ := strings.Cut(l, ":")
		switch v = strings.TrimSpace(v); k {
		case "pos":
			f.Offset, _ = strconv.ParseInt(v, 10, 64)
		case "flags":
			flags, _ := strconv.ParseInt(v, 8, 64)
			f.Flags = fakeFlags(int(flags))
		}
	}
	return nil
}

// A HeldLock is a lock that somebody holds on a file of the disk.
type HeldLock struct {
	Kind string // "FLOCK", "POSIX" or "OFDLCK"
	Ino  uint64
	Lock fsfake.RecordLock // Pid is the simulated one, and -1 of a lock that no process owns
}

// Locks lists every lock that is held on the file system of the disk, from /proc/locks.
// While others change locks the list may miss one, or have it twice.
func (m *Machine) Locks() ([]HeldLock, error) {
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, fmt.Errorf("kernel: listing locks: %w", err)
	}
	var ls []HeldLock
	for _, l := range strings.Split(string(b), "\n") {
		f := strings.Fields(l) // "1: POSIX ADVISORY WRITE 123 00:14:99 0 EOF"
		if len(f) != 8 || f[1] == "->" {
			continue
		}
		at := strings.LastIndexByte(f[5], ':')
		if f[5][:max(at, 0)] != m.device {
			continue
		}
		h := HeldLock{Kind: f[1]}
		h.Ino, _ = strconv.ParseUint(f[5][at+1:], 10, 64)
		if f[3] == "WRITE" {
			h.Lock.Type = fsfake.F_WRLCK
		}
		h.Lock.Start, _ = strconv.ParseInt(f[6], 10, 64)
		if f[7] != "EOF" {
			end, _ := strconv.ParseInt(f[7], 10, 64)
			h.Lock.Len = end - h.Lock.Start + 1
		}
		pid, _ := strconv.Atoi(f[4])
		if h.Lock.Pid = -1; h.Kind == "POSIX" {
			h.Lock.Pid = m.simulatedPid(pid)
		}
		ls = append(ls, h)
	}
	return ls, nil
}

// deviceOf returns the device that a directory is on, as /proc/locks writes it.
func deviceOf(dir string) (string, error) {
	if d, ok := mountedDevice(dir); ok { // btrfs has another number for each subvolume in stat(2)
		return d, nil
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("kernel: the disk: %w", err)
	}
	return fmt.Sprintf("%02x:%02x", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))), nil
}

// mountedDevice returns the device of the mount that a path is on, as /proc/locks writes it; false
// where that is not known.
func mountedDevice(path string) (string, bool) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", false
	}
	best, dev := "", ""
	for _, l := range strings.Split(string(b), "\n") {
		f := strings.Fields(l) // "36 35 0:31 / /mnt rw … - btrfs /dev/loop2 rw"
		if len(f) < 7 || len(f[4]) < len(best) || path != f[4] && !strings.HasPrefix(path, strings.TrimSuffix(f[4], "/")+"/") {
			continue
		}
		major, minor, _ := strings.Cut(f[2], ":")
		x, err1 := strconv.ParseUint(major, 10, 32)
		y, err2 := strconv.ParseUint(minor, 10, 32)
		if err1 == nil && err2 == nil {
			best, dev = f[4], fmt.Sprintf("%02x:%02x", x, y)
		}
	}
	return dev, dev != ""
}
