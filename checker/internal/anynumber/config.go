package anynumber

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// An Inode is a file. Maker is who has made it, while it lives; 0 where that is not remembered.
type Inode struct {
	fsfake.SnapshotInode
	Maker int
}

// A Hold is a lock that a process has acquired: its name, under which path, and which inode.
type Hold struct {
	Lock, Path string
	Inode      fsfake.InodeID
}

// A Place is where a process is in its program: a node of the automaton, which was learned as process 101; whom
// it has been told of (102, 103, … in the automaton); and what it holds.
type Place struct {
	Node  uint32
	Begun bool
	Told  []int
	Holds []Hold
	Apart []Apart
}

// An Apart is what a process has seen to differ: the inode number of a file that it has open, and one that it was
// shown, in the order of Seen.
type Apart struct{ FD, Number int }

// A Proc is a process. One that is not full is a stub: known are its pid, whether it lives, and its locks, which
// are its descriptors.
type Proc struct {
	fsfake.SnapshotProc
	Dead, Full bool
	Place      Place
}

// A Config is a configuration: files, full processes, and stubs of others that something names or feels.
// Inside lists the locks that somebody else holds, if that is remembered.
type Config struct {
	Inodes []Inode // sorted by identity
	Procs  []Proc
	Inside []string
	why    refusal // what it has that no view has; nothing where it is one
}

func (c *Config) inode(id fsfake.InodeID) *Inode {
	at, ok := slices.BinarySearchFunc(c.Inodes, id, func(n Inode, id fsfake.InodeID) int { return int(n.ID - id) })
	if !ok {
		return nil
	}
	return &c.Inodes[at]
}

func (c *Config) proc(pid int) *Proc {
	for i := range c.Procs {
		if c.Procs[i].Pid == pid {
			return &c.Procs[i]
		}
	}
	return nil
}

// full lists the pids of the full processes.
func (c *Config) full() (all []int) {
	for i := range c.Procs {
		if c.Procs[i].Full {
			all = append(all, c.Procs[i].Pid)
		}
	}
	return all
}

// lockers lists who holds a lock of the kernel on an inode: an flock, and a record lock.
func (c *Config) lockers(id fsfake.InodeID) (by [2]int) {
	for i := range c.Procs {
		p := &c.Procs[i]
		for _, f := range p.FDs {
			if f.Inode == id && f.Flock != 0 {
				by[0] = p.Pid
			}
		}
		for _, r := range p.Records {
			if r.Inode == id {
				by[1] = p.Pid
			}
		}
	}
	return by
}

// clone returns a copy of which procs may be replaced, and inodes too.
func (c *Config) clone() Config {
	return Config{Inodes: slices.Clone(c.Inodes), Procs: slices.Clone(c.Procs), Inside: c.Inside}
}

// machine is the configuration as a machine. Rest are processes that no configuration lists.
func (c *Config) machine(kind *fsfake.Machine, rest []fsfake.SnapshotProc) *fsfake.Machine {
	s := fsfake.Snapshot{Procs: slices.Clone(rest)}
	for i := range c.Inodes {
		s.Inodes = append(s.Inodes, c.Inodes[i].SnapshotInode)
	}
	for i := range c.Procs {
		if !c.Procs[i].Dead {
			s.Procs = append(s.Procs, c.Procs[i].SnapshotProc)
		}
	}
	slices.SortFunc(s.Procs, func(a, b fsfake.SnapshotProc) int { return a.Pid - b.Pid })
	return kind.Of(&s)
}

// holds lists the names of the locks that a process holds.
func (p *Proc) holds() []string {
	return lists.Map(p.Place.Holds, func(h Hold) string { return h.Lock })
}

func union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	a = append(slices.Clone(a), b...)
	slices.Sort(a)
	return slices.Compact(a)
}

// key is the configuration as a text. Equal configurations have equal keys.
func (c *Config) key() string {
	b := make([]byte, 0, 256)
	num := func(ns ...int64) {
		for _, n := range ns {
			b = binary.AppendVarint(b, n)
		}
	}
	text := func(s string) {
		num(int64(len(s)))
		b = append(b, s...)
	}
	flag := func(on bool) int64 {
		if on {
			return 1
		}
		return 0
	}
	num(int64(len(c.Inodes)))
	for i := range c.Inodes {
		n := &c.Inodes[i]
		num(int64(n.ID), int64(n.Kind), int64(n.Mode), int64(n.UID), int64(n.GID), int64(n.Nlink), int64(n.Parent),
			int64(n.Maker))
		num(n.Times[:]...)
		text(n.Data)
		num(int64(len(n.Names)))
		for _, e := range n.Names {
			text(e.Name)
			num(int64(e.Inode))
		}
	}
	for i := range c.Procs {
		p := &c.Procs[i]
		num(int64(p.Pid), int64(p.UID), int64(p.GID), p.Start, int64(p.Cwd),
			flag(p.Pinned)|flag(p.Dead)<<1|flag(p.Full)<<2|flag(p.Place.Begun)<<3)
		num(int64(p.Place.Node), int64(len(p.FDs)), int64(len(p.Seen)), int64(len(p.Place.Told)),
			int64(len(p.Place.Holds)), int64(len(p.Place.Apart)))
		for _, f := range p.FDs {
			num(int64(f.FD), int64(f.Inode), int64(f.Flags), f.Offset, int64(f.Flock), flag(f.Cloexec))
		}
		for _, id := range p.Seen {
			num(int64(id))
		}
		num(int64(len(p.Records)))
		for _, r := range p.Records {
			num(int64(r.Inode), r.Start, r.End, int64(r.FD))
		}
		for _, q := range p.Place.Told {
			num(int64(q))
		}
		for _, a := range p.Place.Apart {
			num(int64(a.FD), int64(a.Number))
		}
		for _, h := range p.Place.Holds {
			text(h.Lock)
			text(h.Path)
			num(int64(h.Inode))
		}
	}
	text(strings.Join(c.Inside, "\x00"))
	return string(b)
}

// low is scenarios.Pid(0), and root the inode of "/".
const low = 101
const root fsfake.InodeID = 1

// In texts a process is named by its pid, 101 to 126, or by its start time, 1000 to 1025: a run of digits that is
// one of these is a token. Other numbers are text.

// tokens visits the tokens of a text: whose it is, and where it stands.
func tokens(s string, visit func(pid, from, to int)) {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && '0' <= s[j] && s[j] <= '9' {
			j++
		}
		if j-i == 3 || j-i == 4 {
			n, _ := strconv.Atoi(s[i:j])
			if j-i == 4 {
				n -= int(scenarios.ProcID(0).Start) - scenarios.Pid(0)
			}
			if _, ok := scenarios.ProcessOf(n); ok {
				visit(n, i, j)
			}
		}
		i = max(j, i+1)
	}
}

// pidsIn lists whom a text names, in its order.
func pidsIn(s string) (all []int) {
	tokens(s, func(pid, _, _ int) { all = append(all, pid) })
	return all
}

// startOf is the start time of the process with a pid.
func startOf(pid int) int64 { return scenarios.ProcID(pid - scenarios.Pid(0)).Start }

// renamed is a text with other processes in it.
func renamed(s string, to func(pid int) int) string {
	var b strings.Builder
	done := 0
	tokens(s, func(pid, from, end int) {
		b.WriteString(s[done:from])
		q := to(pid)
		if end-from == 4 {
			q = int(startOf(q))
		}
		b.WriteString(strconv.Itoa(q))
		done = end
	})
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}
