//go:build linux && amd64

package tracer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Memory sums up all that the processes of a run at rest remember: their writable memory, their registers and
// the positions of their real files. A run that comes back to an earlier sum, and is given the same answers from
// there on, goes on as it did then, unless it looks at a clock. It is empty where that cannot be
// said: processes share memory, read from a pipe, write to a real file, as of memfd_create(2), or have a timer.
func (r *Run) Memory() string {
	if w := r.c.Wrong; w != nil && w.Forgets {
		return "nothing"
	}
	return r.sum(false)
}

// sum is [Run.Memory], or whole [Run.State].
func (r *Run) sum(whole bool) (sum string) {
	_ = r.on(func() {
		if r.err != nil || len(r.mirrors) > 0 {
			return
		}
		if r.sums == nil {
			r.sums = &summer{Hash: sha256.New()}
		}
		h, open := r.sums, pipes(nil)
		h.Reset()
		if whole {
			open = pipes{}
			fmt.Fprintf(h, "%q %q %d\n", r.out.stdout.text.String(), r.out.stderr.text.String(), r.now)
		}
		for _, p := range r.procs {
			if p.gone && p.reaped {
				continue
			}
			fmt.Fprintf(h, "process %d\n", p.pid)
			if p.memory(h, open) != nil {
				return
			}
		}
		sum = string(h.Sum(nil))
	})
	return sum
}

var errNotSummed = errors.New("tracer: what it remembers cannot be summed up")

// memory adds what one process remembers; where open is not nil, all that belongs to its state. The error is that
// somebody else may change it.
func (p *process) memory(h *summer, open pipes) error {
	if len(p.alarms) > 0 && open == nil {
		return errNotSummed
	}
	out := []byte(fmt.Sprintf("%t %d %v %d %d %o\n", p.gone, p.ppid, p.exit, p.pgid, p.sid, p.umask))
	if p.gone {
		h.add(out)
		return nil
	}
	out = fmt.Appendf(out, "%v %s %s\n", p.handlers, p.cwd, p.name)
	for _, t := range p.threads {
		regs := t.entry
		if t.timed && open == nil || t.state != inCall && unix.PtraceGetRegs(t.tid, &regs) != nil {
			return errNotSummed
		}
		if t.state == inCall { // which was made with real ids
			regs.Rdi, regs.Rsi, regs.Rdx = t.c.args[0], t.c.args[1], t.c.args[2]
		}
		out = fmt.Appendf(out, "%d %s %+v %v %+v\n", t.n, t.state, regs, t.c.args, t.signals())
		if t.state == asking && t.asks > 1 { // amid a call that takes several, as copy_file_range(2) does
			out = fmt.Appendf(out, "%v %+v\n", &t.op, t.heard)
		}
	}
	out, err := p.openFiles(out, open)
	if err == nil && open != nil {
		out, err = p.more(out)
	}
	if h.add(out); err != nil {
		return err
	}
	end := uint64(0)
	if open != nil {
		end = p.stackEnd()
	}
	return p.writable(h, end)
}

// openFiles appends what the process has open, and where in it.
func (p *process) openFiles(out []byte, of pipes) ([]byte, error) {
	open := p.realDescriptors()
	list := make([]int, 0, len(open))
	for fd := range open { // order does not matter: sorted below
		list = append(list, fd)
	}
	slices.Sort(list)
	base := "/proc/" + strconv.Itoa(p.real)
	for _, fd := range list {
		if d := p.fds[fd]; d.isFake() {
			out = fmt.Appendf(out, "%d fake %d %s\n", fd, d.fake, d.path)
			continue
		}
		var s unix.Stat_t
		name := base + "/fd/" + strconv.Itoa(fd)
		if err := unix.Stat(name, &s); err != nil {
			return nil, errNotSummed
		}
		if p.r.out.of(&s) != nil {
			out = fmt.Appendf(out, "%d output\n", fd)
			continue
		}
		info, err := os.ReadFile(base + "/fdinfo/" + strconv.Itoa(fd))
		kind := s.Mode & unix.S_IFMT
		if of != nil && err == nil && kind == unix.S_IFIFO {
			if out, err = of.add(out, name, &s, info); err != nil {
				return nil, err
			}
			continue
		}
		if !steady(&s, info) {
			return nil, errNotSummed
		}
		if err != nil || kind != unix.S_IFREG && kind != unix.S_IFCHR && kind != unix.S_IFDIR {
			return nil, errNotSummed
		}
		position, _, _ := bytes.Cut(info, []byte("\n"))
		out = fmt.Appendf(out, "%d %d %d %s\n", fd, s.Dev, s.Ino, position)
	}
	return out, nil
}

// redZone is how many bytes beyond the end of its stack a program may use.
const redZone = 128

// stackEnd is where the stack of the first thread ends, with what it may use beyond; 0 where that is not known.
func (p *process) stackEnd() uint64 {
	var regs unix.PtraceRegs
	switch t := p.threads[0]; {
	case t.n != 1:
		return 0
	case t.state == inCall:
		regs = t.entry
	case unix.PtraceGetRegs(t.tid, &regs) != nil:
		return 0
	}
	return regs.Rsp - redZone
}

// A summer sums up what processes remember. A text that is added has its length before it, so that two lists of texts
// never look the same.
type summer struct {
	hash.Hash
	b       [atOnce]byte // of memory
	zeros   [pageSize]byte
	line    [8]byte
	entries []byte // of /proc/PID/pagemap
}

const atOnce = 1 << 18

func (h *summer) add(b []byte) {
	fmt.Fprintf(h, "%d bytes\n", len(b))
	h.Write(b)
}

// writable adds the memory that the process can write to. What lies in the first stack below its end says nothing:
// the handler of a signal may overwrite it at any time, so no program relies on it.
func (p *process) writable(h *summer, end uint64) error {
	base := "/proc/" + strconv.Itoa(p.real)
	maps, err := os.ReadFile(base + "/maps")
	pagemap, _ := os.Open(base + "/pagemap")
	if err != nil || pagemap == nil {
		return errNotSummed
	}
	defer pagemap.Close()
	sum := uint64(0)
	for line := range bytes.Lines(maps) {
		m, ok := mappingOf(line)
		if !ok || m.may[1] == 'w' && (m.may[3] == 's' || m.to-m.from > maxSummed || sum > maxSummed) {
			return errNotSummed
		}
		if m.may[1] != 'w' {
			continue
		}
		if bytes.HasSuffix(line, []byte("[stack]\n")) && m.from < end && end < m.to {
			m.from = end
		}
		n, err := p.touched(h, m, pagemap)
		if sum += n; err != nil {
			return errNotSummed
		}
	}
	h.Write([]byte("end\n"))
	return nil
}

// A mapping is a line of /proc/PID/maps: what may be done with the memory, and whether it is a file's.
type mapping struct {
	from, to uint64
	may      string
	file     bool
}

func mappingOf(line []byte) (m mapping, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 5 || len(f[1]) != 4 {
		return m, false
	}
	from, to, _ := bytes.Cut(f[0], []byte("-"))
	var e1, e2 error
	m.from, e1 = strconv.ParseUint(string(from), 16, 64)
	m.to, e2 = strconv.ParseUint(string(to), 16, 64)
	m.may, m.file = string(f[1]), string(f[4]) != "0"
	return m, e1 == nil && e2 == nil
}

// touched adds the memory of a mapping, without pages of zeros, and says how much that was. Of a file all pages are
// looked at. Others that are not there hold zeros, as most of a thread's stack does (proc_pid_pagemap(5)).
func (p *process) touched(h *summer, m mapping, pagemap *os.File) (sum uint64, err error) {
	const there = 3 << 62
	first := m.from / pageSize
	size := int(8 * ((m.to+pageSize-1)/pageSize - first))
	h.entries = slices.Grow(h.entries[:0], size)
	entries := h.entries[:size]
	n, _ := pagemap.ReadAt(entries, 8*int64(first))
	all := m.file || n < size
	next := func(at uint64) uint64 { return min((at/pageSize+1)*pageSize, m.to) }
	is := func(at uint64) bool {
		return all || binary.LittleEndian.Uint64(entries[8*(at/pageSize-first):])&there != 0
	}
	fmt.Fprintf(h, "%x-%x\n", m.from, m.to)
	for from := m.from; from < m.to; {
		end := from
		for end < m.to && next(end)-from <= atOnce && is(end) {
			end = next(end)
		}
		if end == from {
			from = next(from)
			continue
		}
		b := h.b[:end-from]
		if readInto(p.real, from, b) < len(b) {
			return 0, errNotSummed
		}
		for from < end {
			page := b[:next(from)-from]
			if !bytes.Equal(page, h.zeros[:len(page)]) {
				h.Write(binary.LittleEndian.AppendUint64(h.line[:0], from))
				h.Write(page)
				sum += uint64(len(page))
			}
			from, b = next(from), b[len(page):]
		}
	}
	return sum, nil
}

// maxSummed bounds the memory of a process that is summed up, in bytes.
const maxSummed = 64 << 20

// State sums up all on which it hangs what a run at rest does from there on: what its processes remember, as
// [Run.Memory], and clocks, timers, signals, what is in pipes, what was drawn, and what was printed. Two runs of one
// program with one sum go on alike after the same answers. It is empty where that cannot be said.
func (r *Run) State() string { return r.sum(true) }

// more appends to what a process remembers what else of it belongs to its state.
func (p *process) more(out []byte) ([]byte, error) {
	drawn, err := p.rng.MarshalBinary()
	if err != nil || p.ticks > mostTicks {
		return nil, errNotSummed
	}
	out = fmt.Appendf(out, "%d %d %v %t %x\n", p.mono, p.ahead, p.clock, p.looked, drawn)
	out = fmt.Appendf(out, "%d %d\n", p.created, p.rounds)
	for _, a := range p.alarms {
		out = fmt.Appendf(out, "%+v\n", *a)
	}
	for _, t := range p.threads {
		out = fmt.Appendf(out, "%t %t %d %t\n", t.timed, t.blocked, t.deadline, t.tied == t.deadline)
	}
	return out, nil
}

// steady reports whether what a descriptor of a real file leads to stays as it is: a file that it cannot write to, and
// of devices those of memory, such as /dev/null. A file of memfd_create(2) does not, nor does a terminal.
func steady(s *unix.Stat_t, info []byte) bool {
	const memory = 1
	_, rest, _ := bytes.Cut(info, []byte("flags:\t"))
	text, _, _ := bytes.Cut(rest, []byte("\n"))
	flags, err := strconv.ParseUint(string(text), 8, 64)
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return err == nil && flags&unix.O_ACCMODE == unix.O_RDONLY
	case unix.S_IFCHR:
		return unix.Major(s.Rdev) == memory
	}
	return true
}

// A pipes is the pipes of a run, by inode number, in the order in which they are met.
type pipes map[uint64]int

// add appends a pipe that a descriptor leads to, and what is in it.
func (of pipes) add(out []byte, name string, s *unix.Stat_t, info []byte) ([]byte, error) {
	known := of[s.Ino] != 0
	n := of.number(s.Ino)
	_, flags, _ := bytes.Cut(info, []byte("\n"))
	flags, _, _ = bytes.Cut(flags, []byte("\n"))
	out = fmt.Appendf(out, "pipe %d %s\n", n, flags)
	if known {
		return out, nil
	}
	content, err := peek(name)
	return append(out, content...), err
}

// peek reads what is in a pipe, and leaves it there.
func peek(name string) ([]byte, error) {
	from, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, errNotSummed
	}
	defer from.Close()
	var to [2]int
	if err := unix.Pipe2(to[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return nil, errNotSummed
	}
	defer unix.Close(to[0])
	defer unix.Close(to[1])
	b := make([]byte, 1<<16)
	n, err := unix.Tee(int(from.Fd()), to[1], len(b), unix.SPLICE_F_NONBLOCK)
	switch {
	case err == unix.EAGAIN || err == nil && n == 0:
		return nil, nil
	case err != nil || n == int64(len(b)): // it may hold more
		return nil, errNotSummed
	}
	got, err := unix.Read(to[0], b)
	if err != nil || int64(got) != n {
		return nil, errNotSummed
	}
	return append([]byte(strconv.Itoa(got)+":"), b[:got]...), nil
}
