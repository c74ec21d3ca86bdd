//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Reading directories, and seeking.

// A listing is what a description of a directory has still to give.
type listing struct {
	names []string
	read  bool // the fake has given them
	given int
}

// getdents gives the names of a directory, which the fake reads in one step, in pieces.
func (t *thread) getdents(c *call) {
	d := t.fake(0)
	if d == nil {
		return
	}
	l := &d.file.dir
	if l.read && l.given < len(l.names) {
		t.giveNames(l)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallReaddir, FD: d.fake}, func(r fsfake.Result) {
		if l.read {
			t.result(0)
			return
		}
		names := []string{".", ".."}
		if r.Data != "" {
			names = append(names, strings.Split(r.Data, "\x00")...)
		}
		*l = listing{names: names, read: true}
		t.giveNames(l)
	})
}

// giveNames writes as many struct linux_dirent64 as fit.
func (t *thread) giveNames(l *listing) {
	size := t.c.int(2)
	var b []byte
	for l.given < len(l.names) {
		name := l.names[l.given]
		n := (19 + len(name) + 1 + 7) &^ 7
		if len(b)+n > size {
			break
		}
		e := putUint64s(1, uint64(l.given+1))
		e = binary.LittleEndian.AppendUint16(e, uint16(n))
		e = append(e, unix.DT_UNKNOWN)
		if l.given < 2 {
			e[18] = unix.DT_DIR
		}
		e = append(e, name...)
		b = append(b, append(e, make([]byte, n-len(e))...)...)
		l.given++
	}
	if len(b) == 0 {
		t.fail(unix.EINVAL)
		return
	}
	t.put(t.c.args[1], b, int64(len(b)))
}

func (t *thread) lseek(c *call) {
	d := t.fake(0)
	if d == nil {
		return
	}
	op := fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Off: int64(c.args[1]), Flags: c.int(2)}
	t.askThen(op, func(r fsfake.Result) {
		d.file.dir = listing{}
		t.result(r.N)
	})
}
