package certificate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lockpick/fsfake"
)

// A known is a view, and what it says of each file and process: a text without refs, and the refs.
type known struct {
	config
	key    string
	things map[int]thing
	order  []int
	loud   bool // others may notice the next step of its process
}

type thing struct {
	text string
	refs []int
}

func describe(c config) *known {
	k := &known{config: c, key: c.key(), things: map[int]thing{}}
	for i := range c.Procs {
		ref := -c.Procs[i].Pid
		k.order = append(k.order, ref)
		k.things[ref] = thing{text: fmt.Sprint("process ", c.Procs[i].Dead)}
	}
	for _, n := range c.Inodes {
		t := thing{}
		n = n.named(0)
		n.mapped(func(ref int) int { t.refs = append(t.refs, ref); return ref })
		t.text = fmt.Sprintf("%#v", n.mapped(func(ref int) int {
			if ref < 0 {
				return -low
			}
			return root
		}))
		k.order = append(k.order, int(n.ID))
		k.things[int(n.ID)] = t
	}
	return k
}

// A gluing takes files and processes of w for some of v. Process p of v is not process q of w: each sees the other as
// one of the others, or not at all.
type gluing struct {
	v, w     *known
	to, back map[int]int // of w in v, and of v in w
	visit    func(config)
}

// glue visits every configuration of two processes of which v and w may be the views.
func glue(v, w *known, visit func(config)) {
	g := &gluing{v, w, map[int]int{}, map[int]int{}, visit}
	if g.same(root, root) {
		g.decide(0)
	}
}

// same takes y of w for x of v, and whatever they refer to. It is false where they differ.
func (g *gluing) same(x, y int) bool {
	if g.to[y] != 0 || g.back[x] != 0 {
		return g.to[y] == x
	}
	a, b := g.v.things[x], g.w.things[y]
	if a.text != b.text || len(a.refs) != len(b.refs) || x == -low && y == -low {
		return false
	}
	g.to[y], g.back[x] = x, y
	for i := range a.refs {
		if !g.same(a.refs[i], b.refs[i]) {
			return false
		}
	}
	return true
}

// decide takes each thing of w from number i on for each thing of v that is like it, or for a new one.
func (g *gluing) decide(i int) {
	if i == len(g.w.order) {
		g.build()
		return
	}
	y := g.w.order[i]
	if g.to[y] != 0 {
		g.decide(i + 1)
		return
	}
	fresh := root
	if y < 0 {
		fresh = -low
	}
	for g.v.things[fresh].text != "" || g.back[fresh] != 0 {
		fresh += max(-1, min(1, y))
	}
	for _, x := range append(slices.Clone(g.v.order), fresh) {
		h := &gluing{g.v, g.w, maps.Clone(g.to), maps.Clone(g.back), g.visit}
		if x == fresh {
			h.to[y], h.back[x] = x, y
			h.decide(i + 1)
		} else if (x < 0) == (y < 0) && g.back[x] == 0 && h.same(x, y) {
			h.decide(i + 1)
		}
	}
}

// build makes the configuration, unless two files have one name, or a file has more names than links, or is locked by
// a process that is full and has no such lock.
func (g *gluing) build() {
	u := config{slices.Clone(g.v.Inodes), slices.Clone(g.v.Procs), nil}
	to := func(ref int) int { return g.to[ref] }
	for _, n := range g.w.Inodes {
		n = n.mapped(to)
		old := u.inode(n.ID)
		if old == nil {
			u.Inodes = append(u.Inodes, n)
			continue
		}
		old.Names = slices.Clone(old.Names)
		for _, e := range n.Names {
			if !slices.Contains(old.Names, e) {
				old.Names = append(old.Names, e)
			}
		}
		slices.SortFunc(old.Names, func(a, b fsfake.SnapshotName) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, q := range g.w.Procs {
		q = q.mapped(to)
		if old := u.proc(q.Pid); old == nil {
			u.Procs = append(u.Procs, q)
		} else if q.Full {
			*old = q
		}
	}
	links := map[fsfake.InodeID]uint32{}
	for _, n := range u.Inodes {
		if p := u.proc(n.Flock); p != nil && p.Full && !slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool {
			return f.Inode == n.ID && f.Flock != 0
		}) {
			return
		}
		if p := u.proc(n.RecordBy); p != nil && p.Full && !slices.ContainsFunc(p.Records,
			func(r fsfake.SnapshotRecord) bool { return r.Inode == n.ID }) {
			return
		}
		seen := map[string]bool{}
		for _, e := range n.Names {
			links[e.Inode]++
			to := u.inode(e.Inode)
			if seen[e.Name] || links[e.Inode] > to.Nlink || to.Kind == fsfake.KindDir && links[e.Inode] > 1 {
				return
			}
			seen[e.Name] = true
		}
	}
	g.visit(u)
}
