//go:build linux

package fsfake_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// A realFD is a descriptor of a real process.
type realFD struct {
	fd     int
	stream bool // open on a standard stream, outside of the disk
	flags  int  // as open(2) and O_CLOEXEC
	offset int64
	ino    uint64
	dir    bool
}

// firstPrivateFD is more than the number of any descriptor of a simulated process: a worker has its own ones from
// there.
const firstPrivateFD = 1100

// realFDs lists the descriptors of a process, from /proc.
func realFDs(m *kernel.Machine, pid int) ([]realFD, error) {
	real, err := m.RealPid(pid)
	if err != nil {
		return nil, err
	}
	dir := fmt.Sprintf("/proc/%d/", real)
	names, err := os.ReadDir(dir + "fd")
	if err != nil {
		return nil, err
	}
	var streams [2]unix.Stat_t // what the standard streams are open on
	for i, name := range []string{os.DevNull, "/proc/self/fd/2"} {
		if err := unix.Stat(name, &streams[i]); err != nil {
			return nil, err
		}
	}
	var fds []realFD
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		if err != nil || fd >= firstPrivateFD {
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat(dir+"fd/"+name.Name(), &st); err != nil {
			return nil, err
		}
		f := realFD{fd: fd, ino: st.Ino, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}
		f.stream = slices.ContainsFunc(streams[:], func(s unix.Stat_t) bool { return s.Dev == st.Dev && s.Ino == st.Ino })
		info, err := os.ReadFile(dir + "fdinfo/" + name.Name())
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(string(info)) {
			switch k, v, _ := strings.Cut(l, ":"); k {
			case "pos":
				f.offset, _ = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			case "flags":
				flags, _ := strconv.ParseInt(strings.TrimSpace(v), 8, 64)
				f.flags = int(flags)
			}
		}
		fds = append(fds, f)
	}
	return fds, nil
}

// A heldLock is a lock that somebody holds on a file of the disk.
type heldLock struct {
	kind string // "FLOCK", "POSIX" or "OFDLCK"
	ino  uint64
	lock fsfake.RecordLock // Pid is the simulated one of pids, and -1 of a lock that no process owns
}

// heldLocks lists every lock that is held on the file system of the disk, from /proc/locks.
// While others change locks the list may miss one, or have it twice.
func heldLocks(m *kernel.Machine, device string, pids []int) ([]heldLock, error) {
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, err
	}
	var ls []heldLock
	for l := range strings.Lines(string(b)) {
		f := strings.Fields(l) // "1: POSIX ADVISORY WRITE 123 00:14:99 0 EOF"
		if len(f) != 8 || f[1] == "->" {
			continue
		}
		at := strings.LastIndexByte(f[5], ':')
		if f[5][:max(at, 0)] != device {
			continue
		}
		h := heldLock{kind: f[1]}
		h.ino, _ = strconv.ParseUint(f[5][at+1:], 10, 64)
		if f[3] == "WRITE" {
			h.lock.Type = fsfake.F_WRLCK
		}
		h.lock.Start, _ = strconv.ParseInt(f[6], 10, 64)
		if f[7] != "EOF" {
			end, _ := strconv.ParseInt(f[7], 10, 64)
			h.lock.Len = end - h.lock.Start + 1
		}
		if h.lock.Pid = -1; h.kind == "POSIX" {
			if h.lock.Pid, err = simulatedPid(m, f[4], pids); err != nil {
				return nil, err
			}
		}
		ls = append(ls, h)
	}
	return ls, nil
}

// simulatedPid translates a pid of /proc/locks.
func simulatedPid(m *kernel.Machine, text string, pids []int) (int, error) {
	of, err := strconv.Atoi(text)
	for _, pid := range pids {
		if pid < firstPid {
			continue
		}
		real, err := m.RealPid(pid)
		if err != nil {
			return 0, err
		}
		if real == of {
			return pid, nil
		}
	}
	return of, err
}

// deviceOf returns the device that a directory is on, as /proc/locks writes it.
func deviceOf(dir string) (string, error) {
	if d, ok := mountedDevice(dir); ok { // btrfs has another number for each subvolume in stat(2)
		return d, nil
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", err
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
	for l := range strings.Lines(string(b)) {
		f := strings.Fields(l) // "36 35 0:31 / /mnt rw … - btrfs /dev/loop2 rw"
		if len(f) < 7 || len(f[4]) < len(best) ||
			path != f[4] && !strings.HasPrefix(path, strings.TrimSuffix(f[4], "/")+"/") {
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
