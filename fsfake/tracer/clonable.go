//go:build linux && amd64

package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What stands in the way of a clone.

// ErrNoClone is why a run cannot be cloned: something of its program would be shared by both, or
// would be missing in the second. The run can go on.
var ErrNoClone = errors.New("tracer: a run cannot be cloned here")

func noClone(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoClone, fmt.Sprintf(format, args...))
}

// clonable says why the run cannot be cloned.
func (r *Run) clonable() error {
	if r.cloned {
		return nil
	}
	p := r.procs[0]
	for _, o := range r.procs[1:] {
		if !o.gone || !o.reaped {
			return noClone("it has children")
		}
	}
	switch {
	case r.c.Through != "" || r.temp.Path != "":
		return noClone("it has a directory of its own")
	case p.gone || len(p.threads) != 1:
		return noClone("it has several threads, or none")
	case len(r.mirrors) > 0:
		return noClone("it maps a file as shared memory")
	}
	if t := p.threads[0]; t.state != asking || t.begun() || t.blocked {
		return noClone("it does not stand before a call that is asked by itself")
	}
	if _, err := p.sharesFiles(); err != nil {
		return err
	}
	return p.sharesMemory("smaps")
}

// sharesFiles reports a real descriptor whose position, or whose other end, both would have. It lists what the clone is
// to open anew.
func (p *process) sharesFiles() (again []reopened, err error) {
	files := map[[2]uint64]bool{}
	for fd := range p.realDescriptors() {
		if d := p.fds[fd]; d.isFake() || d != nil && d.random {
			continue
		}
		var s unix.Stat_t
		name := p.inProc(fd)
		if err := unix.Stat(name, &s); err != nil {
			return nil, noClone("descriptor %d: %v", fd, err)
		}
		target, _ := os.Readlink(name)
		if p.r.out.of(&s) != nil || target == os.DevNull {
			continue
		}
		f, ok := p.reopens(fd, target, &s)
		id := [2]uint64{s.Dev, s.Ino}
		if f.event {
			id[1] = f.id
		}
		if !ok || files[id] { // duplicates share a position
			return nil, noClone("descriptor %d is open on %s", fd, target)
		}
		files[id] = true
		again = append(again, f)
	}
	return again, nil
}

// A reopened is a real file that a clone opens anew, so that it has a position of its own; or a counter of eventfd(2),
// which stands at at.
type reopened struct {
	fd         int
	at, opened uint64
	event      bool
	id         uint64 // of a counter
}

// reopens reports whether a clone may open a real file anew: a plain one that is only read, and not locked. A shell has
// its script open so. Counters of eventfd(2) it has anew, too: Ruby has two.
func (p *process) reopens(fd int, target string, s *unix.Stat_t) (f reopened, ok bool) {
	info, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/fdinfo/" + strconv.Itoa(fd))
	if f.event = target == "anon_inode:[eventfd]"; f.event {
		var pos, mount, inode, semaphore uint64
		n, _ := fmt.Sscanf(string(info), "pos:%d\nflags:%o\nmnt_id:%d\nino:%d\neventfd-count:%x\neventfd-id:%d\n"+
			"eventfd-semaphore:%d\n", &pos, &f.opened, &mount, &inode, &f.at, &f.id, &semaphore)
		f.fd, f.opened = fd, f.opened&(unix.O_CLOEXEC|unix.O_NONBLOCK)|semaphore
		return f, n == 7 && f.at <= math.MaxUint32
	}
	locked := bytes.Contains(info, []byte("lock:"))
	if s.Mode&unix.S_IFMT != unix.S_IFREG || strings.HasPrefix(target, "/proc/") || locked {
		return f, false
	}
	n, _ := fmt.Sscanf(string(info), "pos:%d\nflags:%o\n", &f.at, &f.opened)
	f.fd = fd
	if n != 2 || f.opened&(unix.O_ACCMODE|unix.O_PATH|unix.O_NOFOLLOW) != unix.O_RDONLY {
		return f, false
	}
	again, err := os.Open(p.inProc(fd))
	if err == nil {
		_ = again.Close()
	}
	return f, err == nil
}

// sharesMemory reports memory that both would have, and signals. In smaps it sees as well what a child does not get; to
// read maps takes a tenth of the time.
func (p *process) sharesMemory(file string) error {
	base := "/proc/" + strconv.Itoa(p.real)
	maps, err := os.ReadFile(base + "/" + file)
	if err != nil {
		return noClone("%v", err)
	}
	for line := range bytes.Lines(maps) {
		f := strings.Fields(string(line))
		switch {
		case len(f) > 1 && strings.Contains(f[0], "-") && !strings.HasSuffix(f[0], ":") && f[1][1] == 'w' && f[1][3] == 's':
			return noClone("it shares memory: %s", strings.TrimSpace(string(line)))
		case len(f) > 1 && f[0] == "VmFlags:":
			for _, flag := range f[1:] {
				if flag == "wf" || flag == "dc" {
					return noClone("it has memory that a child does not get")
				}
			}
		}
	}
	status, err := os.ReadFile(base + "/status")
	if err != nil {
		return noClone("%v", err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if (name == "SigPnd" || name == "ShdPnd") && strings.Trim(value, "0 \t\n") != "" {
			return noClone("a signal is to come")
		}
	}
	return nil
}

// of returns the stream whose pipe a file is, or nil.
func (c *capture) of(s *unix.Stat_t) *stream {
	for _, to := range []*stream{&c.stdout, &c.stderr} {
		var own unix.Stat_t
		if to.fd > 0 && unix.Fstat(to.fd, &own) == nil && own.Dev == s.Dev && own.Ino == s.Ino {
			return to
		}
	}
	return nil
}

// A number is that of a descriptor that may close at an execve(2).
type number struct {
	number int
	closes bool
}

// numbersOf lists the descriptors that are open on a stream, in order.
func (p *process) numbersOf(s *stream) []number {
	var list []number
	base := "/proc/" + strconv.Itoa(p.real)
	for fd := range p.realDescriptors() { // order does not matter: sorted below
		var is unix.Stat_t
		if unix.Stat(base+"/fd/"+strconv.Itoa(fd), &is) != nil || p.r.out.of(&is) != s {
			continue
		}
		list = append(list, number{fd, p.closesAtExec(fd)})
	}
	slices.SortFunc(list, func(a, b number) int { return a.number - b.number })
	return list
}

// closesAtExec reports whether a real descriptor closes at an execve(2).
func (p *process) closesAtExec(fd int) bool {
	info, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/fdinfo/" + strconv.Itoa(fd))
	_, flags, _ := strings.Cut(string(info), "flags:")
	flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
	bits, _ := strconv.ParseUint(flags, 8, 64)
	return bits&unix.O_CLOEXEC != 0
}
