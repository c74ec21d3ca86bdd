//go:build linux && amd64

package tracer

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
