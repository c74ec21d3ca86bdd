//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Sockets with a name below the virtual directory. The fake has the name, and knows which processes have the socket
// open. The socket itself is real and stays the program's: it listens at an address that the kernel chooses, so that
// nobody ever connects to it. Whatever passes between the two ends is not modelled.

// maxLocal is the longest path of a socket.
const maxLocal = 107

// localName is the path in the address of a call, or "" where that is another address.
func (t *thread) localName() string {
	b, err := readFull(t.tid, t.c.args[1], int(min(t.c.args[2], maxLocal+3)))
	if err != nil || len(b) < 4 || binary.LittleEndian.Uint16(b) != unix.AF_UNIX {
		return ""
	}
	name, _, _ := bytes.Cut(b[2:], []byte{0})
	return string(name)
}

// local is bind(2) or connect(2) to a path below the virtual directory.
func (t *thread) local(c *call, name string, pl place) {
	fd := c.fd(0)
	family, kind := t.socketType(fd)
	switch {
	case family != unix.AF_UNIX:
		t.pass() // an error
		return
	case kind != unix.SOCK_STREAM:
		t.unmodelled("a socket below the virtual directory (%s) that is no stream is not modelled", name)
		return
	case pl.fd >= 0:
		t.unmodelled("through /proc/self/fd it is not handled")
		return
	case t.p.fds[fd].local() != "" || t.descriptorsOf(fd) > 1:
		t.unmodelled("another name for a socket (%s), or one that has several descriptors already, is not modelled",
			name)
		return
	}
	t.c.text = c.spec.name + "(" + strconv.Quote(name) + ")"
	if t.r.c.Through != "" && (path.IsAbs(name) || leadsIn(pl)) {
		real := t.r.standsFor(pl.path)
		if len(real) > maxLocal {
			t.unmodelled("the path of the socket is too long where commands run for real (%s)", real)
			return
		}
		t.fakeOnly = t.fakeOnly || !t.r.virtual(path.Clean(pl.path))
		t.subst = append(t.subst, substitute{1, "\x01\x00" + real})
		c.args[2] = uint64(len(real) + 3)
	}
	if c.nr == unix.SYS_CONNECT {
		t.askThen(fsfake.Op{Call: fsfake.CallConnect, Path: pl.path}, func(r fsfake.Result) {
			d := &descriptor{fake: -1, socket: r.Data}
			if t.through {
				t.really(func(int64) { t.p.fds[fd] = d })
				return
			}
			t.p.fds[fd] = d
			t.result(0)
		})
		return
	}
	op := fsfake.Op{Call: fsfake.CallBind, Path: pl.path, Mode: 0o777 &^ t.p.umask, Data: name}
	t.askThen(op, func(r fsfake.Result) {
		d := &descriptor{fake: int(r.N), socket: name, path: pl.path, file: &description{locks: true}}
		if t.through {
			t.really(func(int64) { t.p.fds[fd] = d })
			return
		}
		t.p.fds[fd] = d
		t.instead(unix.SYS_BIND, c.args[0], c.args[1], 2) // the kernel chooses an address
		t.passThen(func(ret int64) {
			if ret < 0 {
				t.fault("a socket cannot listen: error %d", -ret)
			}
		})
	})
}

// socketType is the family and the type of a real socket, or zeros.
func (t *thread) socketType(fd int) (family, kind int) {
	pid, err := unix.PidfdOpen(t.p.real, 0)
	if err != nil {
		return 0, 0
	}
	defer unix.Close(pid)
	s, err := unix.PidfdGetfd(pid, fd, 0)
	if err != nil {
		return 0, 0
	}
	defer unix.Close(s)
	family, _ = unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, _ = unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TYPE)
	return family, kind
}

// descriptorsOf is how many descriptors of processes of the run are open on what one is open on.
func (t *thread) descriptorsOf(fd int) (n int) {
	of, _ := os.Readlink("/proc/" + strconv.Itoa(t.p.real) + "/fd/" + strconv.Itoa(fd))
	for _, p := range t.r.procs {
		if p.gone {
			continue
		}
		for other := range p.realDescriptors() { // order does not matter: they are counted
			at, _ := os.Readlink("/proc/" + strconv.Itoa(p.real) + "/fd/" + strconv.Itoa(other))
			if at == of {
				n++
			}
		}
	}
	return n
}

// local is the path of a socket below the virtual directory, or of the one that it is connected to; or "".
func (d *descriptor) local() string {
	if d == nil {
		return ""
	}
	return d.socket
}

// talks reports whether a descriptor is a socket with a name, or connected to one, and a call waits for what comes
// there or sends something, which is a fault.
func (t *thread) talks(fd int) bool {
	d := t.p.fds[fd]
	switch {
	case d.local() == "":
		return false
	case d.known():
		t.unmodelled("what others send to the socket %s is not modelled: only whether it answers", d.socket)
	default:
		t.unmodelled("what the owner of the socket %s sends is not modelled: only whether it answers", d.socket)
	}
	return true
}

func (t *thread) listen(c *call) {
	d := t.p.fds[c.fd(0)]
	switch {
	case t.notSocket():
	case d.local() == "":
		t.pass()
	case !d.known():
		t.fail(unix.EINVAL) // it is connected
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallListen, FD: d.fake, Len: int64(c.int(1))}, func(fsfake.Result) {
			if t.through {
				t.really(nil)
				return
			}
			t.pass()
		})
	}
}

// socketName is getsockname(2) and getpeername(2): the name is the one that the owner said to bind(2). A socket that is
// connected has none itself, and nobody is at the other end of one that has a name.
func (t *thread) socketName(c *call) {
	d := t.p.fds[c.fd(0)]
	if d.local() == "" || d.known() != (c.nr == unix.SYS_GETSOCKNAME) {
		if !t.notSocket() {
			t.pass()
		}
		return
	}
	size, err := readFull(t.tid, c.args[2], 4)
	if err != nil {
		t.fail(unix.EFAULT)
		return
	}
	name := append(append([]byte{unix.AF_UNIX, 0}, d.socket...), 0)
	room := min(len(name), int(binary.LittleEndian.Uint32(size)))
	err = writeMem(t.tid, c.args[2], binary.LittleEndian.AppendUint32(nil, uint32(len(name))))
	if err != nil {
		t.fail(unix.EFAULT)
		return
	}
	t.put(c.args[1], name[:room], 0)
}
