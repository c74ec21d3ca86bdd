//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Sockets.

var aboutSockets = []spec{
	{unix.SYS_CONNECT, "connect", 3, socketAddress},
	{unix.SYS_BIND, "bind", 3, (*thread).bind},
	{unix.SYS_ACCEPT, "accept", 3, waits},
	{unix.SYS_ACCEPT4, "accept4", 4, waits},
	{unix.SYS_SENDTO, "sendto", 6, waits},
	{unix.SYS_RECVFROM, "recvfrom", 6, waits},
	{unix.SYS_SENDMSG, "sendmsg", 3, (*thread).sendmsg},
	{unix.SYS_RECVMSG, "recvmsg", 3, (*thread).recvmsg},
	{unix.SYS_SENDMMSG, "sendmmsg", 4, waits},
	{unix.SYS_GETSOCKNAME, "getsockname", 3, (*thread).socketName},
	{unix.SYS_GETPEERNAME, "getpeername", 3, (*thread).socketName},
	{unix.SYS_GETSOCKOPT, "getsockopt", 5, socketOnly},
	{unix.SYS_SETSOCKOPT, "setsockopt", 5, socketOnly},
	{unix.SYS_SHUTDOWN, "shutdown", 2, func(t *thread, c *call) {
		if !t.notSocket() && !t.talks(c.fd(0)) {
			t.pass()
		}
	}},
	{unix.SYS_LISTEN, "listen", 2, (*thread).listen},
}

// notSocket fails a call on a descriptor of the fake, and reports whether it has done so.
func (t *thread) notSocket() bool {
	d := t.p.fds[t.c.fd(0)]
	switch {
	case !d.isFake():
		return false
	case d.file.flags&unix.O_PATH != 0:
		t.fail(unix.EBADF)
	default:
		t.fail(unix.ENOTSOCK)
	}
	return true
}

// waits is a call on a socket that may wait.
func waits(t *thread, c *call) {
	if !t.notSocket() && !t.talks(c.fd(0)) {
		t.passWaiting(nil)
	}
}

// socketOnly is a call on a socket that does not wait. Who is at the other end nobody knows.
func socketOnly(t *thread, c *call) {
	d := t.p.fds[c.fd(0)]
	switch {
	case t.notSocket():
	case d.local() != "" && !d.known() && t.talks(c.fd(0)):
	case c.nr == unix.SYS_GETSOCKOPT && c.int(1) == unix.SOL_SOCKET && c.int(2) == unix.SO_PEERCRED:
		t.thenShow(c.args[3])
	default:
		t.pass()
	}
}

// socketAddress is connect(2) or bind(2).
func socketAddress(t *thread, c *call) {
	name := t.localName()
	if name == "" {
		waits(t, c)
		return
	}
	pl, err := t.locate(unix.AT_FDCWD, name, c.nr == unix.SYS_CONNECT)
	switch {
	case err == errAskCwd:
		t.askCwd()
	case err == nil && pl.virtual && !t.notSocket():
		t.local(c, name, pl)
	case err == nil && pl.virtual:
	case err == nil && c.nr == unix.SYS_BIND && t.protects(pl.path, makes):
	default:
		waits(t, c)
	}
}

// bind is bind(2). An address that only one process can have is shared by all commands, and by all executions of one command that run at a time.
func (t *thread) bind(c *call) {
	n := int(min(c.args[2], 128))
	b, err := readFull(t.tid, c.args[1], n)
	if err == nil && n > 3 {
		port := binary.BigEndian.Uint16(b[2:])
		switch family := binary.LittleEndian.Uint16(b); {
		case family == unix.AF_UNIX && b[2] == 0:
			t.unmodelled("an abstract address (%q), which commands share, is not modelled", bytes.TrimRight(b[2:], "\x00"))
			return
		case (family == unix.AF_INET || family == unix.AF_INET6) && port != 0:
			t.unmodelled("port %d, which commands share, is not modelled", port)
			return
		}
	}
	socketAddress(t, c)
}

// sendmsg is sendmsg(2). A descriptor of the fake cannot be sent: it would stay open while it is under way, and be another process's then.
func (t *thread) sendmsg(c *call) {
	for _, fd := range t.sent(c.args[1]) {
		if d := t.p.fds[fd]; d.known() {
			t.unmodelled("sending a descriptor of a file of the fake (%s) is not modelled", d.path)
			return
		}
	}
	if !t.notSocket() && !t.talks(c.fd(0)) {
		t.passWaiting(t.hideIDs(t.credentials(c.args[1])...))
	}
}

// sent lists the descriptors that a message at an address carries.
func (t *thread) sent(addr uint64) (fds []int) {
	msg, err := readFull(t.tid, addr, unix.SizeofMsghdr)
	if err != nil {
		return nil
	}
	control, size := binary.LittleEndian.Uint64(msg[32:]), binary.LittleEndian.Uint64(msg[40:])
	if size < unix.SizeofCmsghdr || size > maxPath {
		return nil
	}
	b, err := readFull(t.tid, control, int(size))
	if err != nil {
		return nil
	}
	parts, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil
	}
	for i := range parts {
		if more, err := unix.ParseUnixRights(&parts[i]); err == nil {
			fds = append(fds, more...)
		}
	}
	return fds
}
