//go:build linux && amd64

package tracer

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Mappings.

// mmap of a file of the fake is a copy that one atomic read makes. What others write later does not show in a private
// one, which they might see in a real one; see the limits. Of a shared one see [mirror].
func (t *thread) mmap(c *call) {
	if c.int(3)&unix.MAP_ANONYMOUS != 0 {
		t.pass()
		return
	}
	d := t.p.fds[c.fd(4)]
	if !d.isFake() {
		t.pass()
		return
	}
	op := fsfake.Op{Call: fsfake.CallPread, FD: d.fake, Len: int64(c.args[1]), Off: int64(c.args[5])}
	switch kind := c.int(3) & unix.MAP_TYPE; {
	case kind == unix.MAP_PRIVATE:
	case kind == unix.MAP_SHARED && c.int(2)&unix.PROT_WRITE == 0:
		op.Flags, op.Len = fsfake.Shares, pages(c.args[1])
	default:
		t.unmodelled("a shared mapping of a file of the fake (%s) is not modelled", d.path)
		if e := new(Error); errors.As(t.r.err, &e) {
			e.Shared = d.path
		}
		return
	}
	args := c.args
	if args[1] == 0 || args[5]%uint64(os.Getpagesize()) != 0 {
		t.fail(unix.EINVAL)
		return
	}
	if d.file.flags&unix.O_PATH == 0 && d.file.flags&unix.O_ACCMODE == unix.O_WRONLY {
		t.fail(unix.EACCES)
		return
	}
	t.ask(op, func(r fsfake.Result) {
		switch {
		case r.Errno == unix.EISDIR: // see inWords
			t.fail(unix.ENODEV)
			return
		case r.Errno != 0:
			t.fail(r.Errno)
			return
		case op.Flags != 0:
			t.mapShared(d, r)
			return
		case t.through:
			t.really(func(ret int64) { t.seen(ret, r) })
			return
		}
		copied := args[3]&^unix.MAP_TYPE | unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
		t.instead(unix.SYS_MMAP, args[0], args[1], args[2], copied, ^uint64(0), 0)
		t.passThen(func(ret int64) {
			if ret < 0 && ret > -4096 || r.Data == "" {
				return
			}
			// Through /proc, for the pages may be read-only.
			mem, err := os.OpenFile("/proc/"+strconv.Itoa(t.p.real)+"/mem", os.O_WRONLY, 0)
			if err == nil {
				_, err = mem.WriteAt([]byte(r.Data), ret)
				mem.Close()
			}
			if err != nil {
				t.fault("the mapping cannot be filled: %v", err)
			}
		})
	})
}
