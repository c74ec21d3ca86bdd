//go:build linux

package real

import (
	"fmt"
	"io/fs"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// compare compares what a call answered.
func (r *run) compare(who fsfake.Task, op fsfake.Op, f, real fsfake.Result) {
	if a, b := f.Describe(op), real.Describe(op); f.Blocked != real.Blocked || f.Errno != real.Errno {
		r.differ(op.String(), orOK(a), orOK(b))
		return
	}
	if f.N != real.N || f.Data != real.Data || f.Lock != real.Lock {
		r.differ(op.String(), fmt.Sprintf("%d %q %v", f.N, f.Data, f.Lock), fmt.Sprintf("%d %q %v", real.N, real.Data, real.Lock))
		return
	}
	if a, b := statText(f.Stat), statText(real.Stat); a != b {
		r.differ(op.String(), a, b)
		return
	}
	if op.Call == fsfake.CallFstat && f.OK() {
		if id, ok := r.fake.FDInode(who.Pid, op.FD); ok && !r.same(id, real.Stat.Ino) {
			r.differ(op.String(), fmt.Sprintf("inode %d", id), "another inode")
		}
	}
}

func orOK(s string) string {
	if s == "" {
		return "ok"
	}
	return s
}

func statText(s fsfake.Stat) string {
	if s.Mode.IsDir() {
		s.Size, s.Nlink = 0, 0
	}
	return fmt.Sprintf("%s %d:%d nlink %d size %d", s.Mode, s.UID, s.GID, s.Nlink, s.Size)
}

// same reports whether a real inode number may stand for an inode of the fake. Numbers
// return when their inode is gone.
func (r *run) same(id fsfake.InodeID, ino uint64) bool {
	if had, ok := r.ids[id]; ok {
		return had == ino
	}
	if old, ok := r.inos[ino]; ok && old != id && r.fake.View(old).Kind != fsfake.KindNone {
		return false
	}
	r.inos[ino], r.ids[id] = id, ino
	return true
}

// compareDisks compares every name and what is behind it.
func (r *run) compareDisks() error {
	tree, err := r.real.Tree()
	if err != nil {
		return err
	}
	r.report.Disks++
	real := map[string]kernel.Entry{}
	for _, e := range tree {
		real[e.Path] = e
	}
	root, _ := r.fake.Lookup("/")
	n := r.compareTree("/", root, real)
	if !r.lost && n != len(tree) {
		r.differ("the disk", fmt.Sprintf("%d names", n), fmt.Sprintf("%d names", len(tree)))
	}
	return nil
}

// compareTree compares what is below a name and returns how many names there are.
func (r *run) compareTree(path string, id fsfake.InodeID, real map[string]kernel.Entry) int {
	v := r.fake.View(id)
	e, ok := real[path]
	f := fsfake.Stat{Mode: v.Mode, UID: v.UID, GID: v.GID, Nlink: uint32(v.Nlink), Size: int64(len(v.Content))}
	if v.Kind == fsfake.KindNone { // a dangling symlink, which cannot be looked up from outside
		return 1
	}
	if !r.real.Rooted() {
		f.UID, f.GID = e.Stat.UID, e.Stat.GID
	}
	switch a, b := statText(f), statText(e.Stat); {
	case !ok:
		r.differ("the disk: "+path, "there", "not there")
	case e.Stat.Mode&fs.ModeSymlink != 0:
	case a != b:
		r.differ("the disk: "+path, a, b)
	case v.Kind == fsfake.KindFile && v.Content != e.Content:
		r.differ("the disk: "+path, fmt.Sprintf("%q", v.Content), fmt.Sprintf("%q", e.Content))
	case !r.same(id, e.Stat.Ino):
		r.differ("the disk: "+path, fmt.Sprintf("inode %d", id), "another inode")
	}
	n := 1
	for _, child := range v.Names {
		p := strings.TrimSuffix(path, "/") + "/" + child
		c, _ := r.fake.Lookup(p)
		if real[p].Stat.Mode&fs.ModeSymlink != 0 {
			n++
			continue
		}
		if n += r.compareTree(p, c, real); r.lost {
			break
		}
	}
	return n
}
