//go:build linux && amd64

package tracer

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Shared mappings that cannot be written to.
//
// The program maps a memory file, a mirror, which holds what the file of the fake held. What is written through the
// description that was mapped is written there, too; the fake refuses every other change. So the kernel does the rest:
// children have the mapping, it may be removed or replaced, and what lies beyond the end of the file is SIGBUS.

// A mirror is the memory file of a mapping. Calls that are let through need none, for the file itself is mapped.
type mirror struct {
	file       *os.File // or nil
	ino        uint64   // what is mapped, as /proc/PID/maps tells it
	start, end int64    // of the file
}

// mapShared maps what the fake has answered.
func (t *thread) mapShared(d *descriptor, r fsfake.Result) {
	m := &mirror{start: int64(t.c.args[5]), end: int64(t.c.args[5]) + pages(t.c.args[1])}
	t.r.mirrors, d.file.shown = append(t.r.mirrors, m), append(d.file.shown, m)
	if t.through {
		var s unix.Stat_t
		_ = unix.Stat("/proc/"+strconv.Itoa(t.p.real)+"/fd/"+strconv.Itoa(t.c.fd(4)), &s)
		m.ino = s.Ino
		t.really(func(ret int64) { t.seen(ret, r) })
		return
	}
	args := t.c.args
	t.c.text = t.c.String()
	t.c.nr, t.c.args[0], t.c.args[1] = unix.SYS_MEMFD_CREATE, 0, unix.MFD_CLOEXEC
	t.otherPath(0, "mirror", func(fd int64) {
		err := m.open(t.p.real, fd, r.Data)
		if err == nil {
			err = t.mapFile(args, fd)
		}
		if err != nil {
			t.fault("a mirror of the file: %v", err)
		}
	})
}

// pages is a length in whole pages, in bytes.
func pages(n uint64) int64 { return int64(n+pageSize-1) &^ (pageSize - 1) }

// seen is what the kernel's mapping shows of what the fake has told.
func (t *thread) seen(ret int64, r fsfake.Result) {
	b, _ := readMem(t.tid, uint64(ret), len(r.Data))
	t.kernel.Data, t.kernel.N = string(b), int64(len(b))
}

// open opens the memory file of a program, and fills it.
func (m *mirror) open(pid int, fd int64, data string) (err error) {
	var s unix.Stat_t
	m.file, err = os.OpenFile("/proc/"+strconv.Itoa(pid)+"/fd/"+strconv.FormatInt(fd, 10), os.O_RDWR, 0)
	if err == nil {
		err = unix.Fstat(int(m.file.Fd()), &s)
		m.ino = s.Ino
	}
	if err == nil {
		_, err = m.file.WriteString(data)
	}
	return err
}

// mapFile makes the program's mmap(2), with a memory file, after another call of it, and closes the file.
func (t *thread) mapFile(args [6]uint64, fd int64) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return err
	}
	mask, err := setMask(t.tid, ^uint64(0))
	if err != nil {
		return err
	}
	c := &injector{pid: t.tid, regs: regs}
	c.regs.Rip, c.regs.R8, c.regs.R9 = regs.Rip-2, uint64(fd), 0
	regs.Rax = c.call(unix.SYS_MMAP, args[0], args[1], args[2], args[3])
	if e := int64(regs.Rax); e < 0 && e > -4096 {
		c.err = nil // the program's own mistake, which it is told
	}
	if c.call(unix.SYS_CLOSE, uint64(fd)); c.err != nil {
		return c.err
	}
	if _, err := setMask(t.tid, mask); err != nil {
		return err
	}
	return unix.PtraceSetRegs(t.tid, &regs)
}

// changed makes the mirrors of a description show a change of its file: data that was written, or a new size.
func (f *description) changed(op fsfake.Op, r fsfake.Result) error {
	for _, m := range f.shown {
		if m.file == nil || r.Errno != 0 {
			continue
		}
		size, err := m.file.Seek(0, 2)
		if err != nil {
			return err
		}
		is, data, at := m.start+size, op.Data[:min(r.N, int64(len(op.Data)))], op.Off
		switch {
		case op.Call == fsfake.CallPwrite:
			is = max(is, at+int64(len(data)))
		case op.Flags&fsfake.AtLeast != 0:
			is = max(is, op.Len)
		default:
			is = op.Len
		}
		if err := m.file.Truncate(min(max(is-m.start, 0), m.end-m.start)); err != nil {
			return err
		}
		from, to := min(max(m.start-at, 0), int64(len(data))), min(max(m.end-at, 0), int64(len(data)))
		if from < to {
			if _, err := m.file.WriteAt([]byte(data[from:to]), at+from-m.start); err != nil {
				return err
			}
		}
	}
	return nil
}

// askChange asks for a change of a file, and returns the error or the number of the answer to the program.
func (t *thread) askChange(d *descriptor, op fsfake.Op) {
	if len(d.file.shown) > 0 && (op.Call == fsfake.CallWrite || d.file.flags&unix.O_APPEND != 0) {
		t.unmodelled(fsfake.SharedChange+" (%s) is not modelled where the offset is the description's", d.path)
		return
	}
	t.ask(op, func(r fsfake.Result) {
		if err := d.file.changed(op, r); err != nil {
			t.fault("a mirror of the file: %v", err)
			return
		}
		if r.Errno != 0 || op.Call == fsfake.CallFtruncate {
			t.fail(r.Errno)
			return
		}
		t.result(r.N)
	})
}

// unshown goes on with f. Where nothing is mapped through a description any more, the fake is told before.
func (t *thread) unshown(d *descriptor, f func()) {
	if len(d.file.shown) == 0 || t.r.maps(d.file.shown, 0, ^uint64(0)) {
		f()
		return
	}
	for _, m := range d.file.shown {
		t.r.mirrors = slices.DeleteFunc(t.r.mirrors, func(o *mirror) bool { return o == m })
		m.file.Close()
	}
	d.file.shown = nil
	t.ask(fsfake.Op{Call: fsfake.CallPread, FD: d.fake, Flags: fsfake.Unshares}, func(fsfake.Result) { f() })
}

// maps reports whether a process of the run has mapped one of the mirrors between two addresses.
func (r *Run) maps(of []*mirror, from, to uint64) bool {
	if len(of) == 0 {
		return false
	}
	for _, p := range r.procs {
		maps, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/maps")
		for line := range strings.Lines(string(maps)) {
			var first, last, off, ino uint64
			var may, dev string
			_, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &first, &last, &may, &off, &dev, &ino)
			is := func(m *mirror) bool { return m.ino == ino }
			if err == nil && first < to && from < last && slices.ContainsFunc(of, is) {
				return true
			}
		}
	}
	return false
}

// protectMemory is a call that changes a mapping from an address on, of so many bytes. Of a file of the fake that is
// not modelled.
func (t *thread) protectMemory(c *call) {
	if t.r.maps(t.r.mirrors, c.args[0], c.args[0]+max(c.args[1], 1)) {
		t.unmodelled("of a shared mapping of a file of the fake it is not modelled")
		return
	}
	t.pass()
}

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
		t.end(Error{Shared: d.path, What: "a shared mapping of a file of the fake (" + d.path + ") is not modelled; " +
			"have the program do without it"})
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
