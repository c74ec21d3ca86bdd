package bruteforce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// key describes a state: states with equal keys have equal futures. It is made from what may
// be looked at in a machine, and not from the machine's own key. Inodes are numbered in the
// order in which the description comes to them.
func (x *space) key(s *state) string {
	k := &keyer{m: s.m, base: s.base, b: make([]byte, 0, 512)}
	k.int(s.m.Now().UnixNano()).int(int64(s.crashes)).int(int64(s.failing)).int(int64(s.signals)).int(int64(s.stalls)).int(int64(s.rest))
	k.int(s.base)
	if x.property == scenarios.Serializable {
		k.text(fmt.Sprint(s.dead))
	}
	root, _ := s.m.Lookup("/")
	k.inode(root, "/")
	for p := range x.p.Programs {
		pid := 101 + p
		k.text("\np").bool(s.m.Alive(pid))
		for _, c := range s.cells[p] {
			k.text(c.name).text("=").int(int64(c.value))
		}
		for _, fd := range s.m.FDs(pid) {
			k.text(" fd").int(int64(fd.FD)).int(int64(fd.Flags)).int(fd.Offset).int(int64(fd.Flock)).int(int64(fd.Shared))
			k.inode(fd.ID, "")
		}
	}
	for _, files := range s.shown {
		k.text("\nshown")
		for _, id := range files {
			if id == 0 {
				k.text("free")
			} else {
				k.inode(id, "")
			}
		}
	}
	for i := range s.tasks {
		k.actor(&s.tasks[i])
	}
	k.history(s.history)
	return string(k.b)
}

type keyer struct {
	m    *fsfake.Machine
	b    []byte
	seen []fsfake.InodeID
	base int64
}

func (k *keyer) int(n int64) *keyer {
	k.b = append(strconv.AppendInt(k.b, n, 36), ',')
	return k
}

func (k *keyer) text(s string) *keyer {
	k.b = append(k.b, s...)
	return k
}

func (k *keyer) bool(v bool) *keyer {
	k.b = strconv.AppendBool(k.b, v)
	return k
}

// inode refers to an inode, and describes it when it comes up first. path is its name, when it
// may be a directory.
func (k *keyer) inode(id fsfake.InodeID, path string) {
	if n := slices.Index(k.seen, id); n >= 0 {
		k.text("i").int(int64(n))
		return
	}
	v := k.m.View(id)
	if v.Kind == fsfake.KindNone {
		k.text("gone") // nobody can meet it again
		return
	}
	k.seen = append(k.seen, id)
	k.text("{").int(int64(v.Kind)).int(int64(v.Mode)).int(int64(v.Nlink)).int(v.Atime).int(v.Mtime).int(v.Ctime).int(v.Btime)
	k.b = strconv.AppendQuote(k.b, v.Content)
	k.b = strconv.AppendQuote(k.b, v.Target)
	if len(v.Flocks)+len(v.Records) > 0 {
		k.text(fmt.Sprint(v.Flocks, v.Records))
	}
	names := slices.Sorted(slices.Values(v.Names))
	for _, name := range names {
		k.text(" ").text(name).text("=")
		below := strings.TrimSuffix(path, "/") + "/" + name
		if child, ok := k.m.Lookup(below); ok {
			k.inode(child, below)
		}
	}
	k.text("}")
}

// actor describes where a task is.
func (k *keyer) actor(a *actor) {
	if a.gone {
		k.text("\ngone")
		return
	}
	if a.dormant {
		k.text("\nnot started")
		return
	}
	k.text("\n@").int(int64(a.pc))
	if a.begun {
		k.text("punctual").int(max(0, a.wakes-k.m.Now().UnixNano()))
	}
	k.int(a.lead)
	if a.ended() {
		return // where it came from does not matter any more
	}
	k.bool(a.until > 0).int(max(0, a.until-k.base))
	for _, did := range a.changed {
		k.bool(did)
	}
	k.regs(&a.reg)
	for i := range a.saved {
		k.text("/")
		k.regs(&a.saved[i])
	}
	w := a.blocked
	if w == nil { // otherwise what came before the call is over
		k.bool(a.invokes != nil).text(a.letsGo)
	} else {
		k.text("waits").int(int64(w.fd)).bool(w.closed).text(w.on)
		if w.file != 0 {
			k.inode(w.file, "")
		}
	}
	for _, h := range a.held {
		k.text("holds").text(h.path).int(int64(h.times))
		k.inode(h.file, "")
	}
}

func (k *keyer) regs(g *regs) {
	k.bool(g.ok).bool(g.held).bool(g.shared).int(int64(g.cell)).int(int64(g.slot)).int(g.mtime)
	for _, fd := range g.fd {
		k.int(int64(fd))
	}
	k.b = strconv.AppendQuote(k.b, g.text)
	k.text(g.trail)
	if g.file != 0 {
		k.inode(g.file, "")
	}
}

// history describes what matters of a history: of every operation what it asked, how it
// ended, and how many operations of each client had ended when it began.
func (k *keyer) history(h history) {
	for _, ops := range h {
		k.text("\n")
		for i := range ops {
			o := &ops[i]
			k.text(o.text).int(int64(o.state))
			for _, n := range o.before {
				k.int(int64(n))
			}
		}
	}
}
