//go:build linux && amd64

package tracer

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Sockets.

var aboutSockets = []spec{
	{unix.SYS_CONNECT, "connect", 3, socketAddress},
	{unix.SYS_BIND, "bind", 3, socketAddress},
	{unix.SYS_ACCEPT, "accept", 3, waits},
	{unix.SYS_ACCEPT4, "accept4", 4, waits},
	{unix.SYS_SENDTO, "sendto", 6, waits},
	{unix.SYS_RECVFROM, "recvfrom", 6, waits},
	{unix.SYS_SENDMSG, "sendmsg", 3, waits},
	{unix.SYS_RECVMSG, "recvmsg", 3, waits},
	{unix.SYS_SENDMMSG, "sendmmsg", 4, waits},
	{unix.SYS_RECVMMSG, "recvmmsg", 5, unmodelled("it is not handled")},
	{unix.SYS_GETSOCKNAME, "getsockname", 3, realOnly},
	{unix.SYS_GETPEERNAME, "getpeername", 3, realOnly},
	{unix.SYS_GETSOCKOPT, "getsockopt", 5, realOnly},
	{unix.SYS_SETSOCKOPT, "setsockopt", 5, realOnly},
	{unix.SYS_SHUTDOWN, "shutdown", 2, realOnly},
	{unix.SYS_LISTEN, "listen", 2, realOnly},
}

// waits is a call on a real descriptor that may wait.
func waits(t *thread, c *call) {
	if d := t.p.fds[c.fd(0)]; d != nil && d.fake >= 0 {
		t.fail(unix.ENOTSOCK)
		return
	}
	t.passWaiting(nil)
}

// socketAddress is connect(2) or bind(2): no socket is below the virtual directory.
func socketAddress(t *thread, c *call) {
	n := int(min(c.args[2], 128))
	b, err := readFull(t.tid, c.args[1], n)
	if err == nil && n > 3 && binary.LittleEndian.Uint16(b) == unix.AF_UNIX && b[2] != 0 {
		name := b[2:]
		for i := range name {
			if name[i] == 0 {
				name = name[:i]
				break
			}
		}
		if pl, err := t.locate(unix.AT_FDCWD, string(name), true); err == errAskCwd || err == nil && pl.virtual {
			t.unmodelled("a socket below the virtual directory (%s) is not modelled", name)
			return
		}
	}
	waits(t, c)
}
