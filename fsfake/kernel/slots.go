//go:build linux

package kernel

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// numSlots is how many workers a machine can have at a time, with a nursery.
const numSlots = 17

// slots are the pipes between driver and workers. Every worker inherits its ends of all
// of them, so that a child that it forks has one to serve.
type slots struct {
	drivers [numSlots]channel // the driver's ends
	workers [numSlots]channel // the workers' ends
	used    [numSlots]bool
	null    int
	high    int
}

func (s *slots) open() error {
	s.null, s.high = -1, -1
	for i := range numSlots {
		s.drivers[i], s.workers[i] = channel{r: -1, w: -1}, channel{r: -1, w: -1}
	}
	var err error
	if s.null, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	// A process that has once had a high descriptor has a large table of them, and so do
	// those that it starts. For a process with threads the kernel takes ten milliseconds
	// to enlarge the table: better here, once.
	if s.high, err = unix.FcntlInt(uintptr(s.null), unix.F_DUPFD_CLOEXEC, fdSlots+2*numSlots); err != nil {
		return err
	}
	for i := range numSlots {
		var to, from [2]int
		if err := unix.Pipe2(to[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		s.workers[i].r, s.drivers[i].w = to[0], to[1]
		if err := unix.Pipe2(from[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		s.drivers[i].r, s.workers[i].w = from[0], from[1]
	}
	return nil
}

func (s *slots) close() {
	fds := []int{s.null, s.high}
	for i := range numSlots {
		fds = append(fds, s.drivers[i].r, s.drivers[i].w, s.workers[i].r, s.workers[i].w)
	}
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// take finds a free slot.
func (s *slots) take() (int, error) {
	for i := range numSlots {
		if !s.used[i] {
			s.used[i] = true
			return i, nil
		}
	}
	return 0, fmt.Errorf("kernel: more than %d processes", numSlots)
}

// free gives a slot back, emptied of what a dead worker left in it.
func (s *slots) free(i int) {
	for _, fd := range []int{s.drivers[i].r, s.workers[i].r} {
		for {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(p, 0); err == unix.EINTR {
				continue
			} else if n == 0 || err != nil {
				break
			}
			var buf [4096]byte
			unix.Read(fd, buf[:])
		}
	}
	s.drivers[i].in = nil
	s.used[i] = false
}

// execute starts a worker.
func (s *slots) execute(e *environment) (int, error) {
	e.Slots = numSlots
	files := []uintptr{uintptr(s.null), uintptr(s.null), 2}
	for i := range numSlots {
		files = append(files, uintptr(s.workers[i].r), uintptr(s.workers[i].w))
	}
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("kernel: finding the binary: %w", err)
	}
	// A binary deleted or replaced while it runs must not matter.
	if strings.HasPrefix(self, "/") {
		self = "/proc/self/exe"
	}
	pid, err := syscall.ForkExec(self, []string{"lockpick-worker"}, &syscall.ProcAttr{Env: e.environ(), Files: files})
	if err != nil {
		return 0, fmt.Errorf("kernel: starting a worker: %w", err)
	}
	return pid, nil
}
