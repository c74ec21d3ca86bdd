//go:build linux

package fsfake_test

import (
	"fmt"
	"io/fs"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// A sight translates what the two sides show of inodes and times into words that can be
// compared. Inode numbers are compared by what they identify. Of times, one that a program
// has set long ago must be equal; of the others only whether they changed since they were
// looked at last.
type sight struct {
	fake *fsfake.Machine
	real *kernel.Machine
	ids  map[uint64]fsfake.InodeID // real inode number -> the fake's inode
	inos map[fsfake.InodeID]uint64
	last map[fsfake.InodeID]*times
}

// times are those of an inode when it was looked at last.
type times struct{ fake, real fsfake.Stat }

func newSight(f *fsfake.Machine, r *kernel.Machine) *sight {
	return &sight{f, r, map[uint64]fsfake.InodeID{}, map[fsfake.InodeID]uint64{}, map[fsfake.InodeID]*times{}}
}

// idOf returns the inode behind a number of the fake: with InodesUnique both count up.
func idOf(ino uint64) fsfake.InodeID { return fsfake.InodeID(ino - 1) }

// same reports whether a real inode number may stand for an inode of the fake. The kernel
// gives a number again once its inode is gone.
func (s *sight) same(id fsfake.InodeID, ino uint64) bool {
	if had, ok := s.inos[id]; ok {
		return had == ino
	}
	if old, ok := s.ids[ino]; ok && old != id && s.fake.View(old).Kind != fsfake.KindNone {
		return false
	}
	s.ids[ino], s.inos[id] = id, ino
	return true
}

// long ago is any time that programs set with utimes.
const longAgo = 1_300_000_000_000_000_000

func timeText(t int64) string {
	if t < longAgo {
		return fmt.Sprint(t)
	}
	return "now"
}

// multigrain says whether a time that has been looked at differs after the next change;
// see probeTimes.
var multigrain bool

// fileTimes is how the fake's files get their times: as this kernel's do.
func fileTimes() fsfake.TimePolicy {
	if multigrain {
		return fsfake.TimesMultigrain
	}
	return fsfake.TimesCoarse
}

// dirLinks says whether a directory's link count is 2 and its subdirectories.
var dirLinks bool

// stats words two Stats of what should be one inode.
func (s *sight) stats(f, r fsfake.Stat) (string, string) {
	id := idOf(f.Ino)
	texts := [2]string{}
	realIno := "another inode"
	if s.same(id, r.Ino) {
		realIno = fmt.Sprintf("inode %d", f.Ino)
	}
	was := s.last[id]
	if was == nil {
		was = &times{f, r}
		s.last[id] = was
	}
	for i, x := range [...]struct {
		now, was fsfake.Stat
		ino      string
	}{{f, was.fake, fmt.Sprintf("inode %d", f.Ino)}, {r, was.real, realIno}} {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s", x.ino, x.now.Mode)
		if x.now.Mode&fs.ModeDir == 0 {
			fmt.Fprintf(&b, " size %d", x.now.Size)
		}
		if x.now.Mode&fs.ModeDir == 0 || dirLinks {
			fmt.Fprintf(&b, " nlink %d", x.now.Nlink)
		}
		fmt.Fprintf(&b, " %d:%d mtime %s", x.now.UID, x.now.GID, timeText(x.now.Mtime))
		for _, t := range s.changed(f, r, was) {
			if t.by[i] {
				b.WriteString(" new " + t.name)
			}
		}
		texts[i] = b.String()
	}
	// Reading changes a real atime, so that a time set is old or now.
	if texts[0] == texts[1] && r.Atime < longAgo && r.Atime != f.Atime {
		texts[0] += fmt.Sprintf(" atime %d", f.Atime)
		texts[1] += fmt.Sprintf(" atime %d", r.Atime)
	}
	*was = times{f, r}
	return texts[0], texts[1]
}

// A change says on which sides a time differs from what it was.
type change struct {
	name string
	by   [2]bool
}

// changed compares times with what they were. A real time may have been changed without
// being another: always on a kernel with coarse timestamps; elsewhere those of directories,
// which some calls give the time of the file that they remove. So there a change is only
// wrong when the fake knows nothing of it.
func (s *sight) changed(f, r fsfake.Stat, was *times) []change {
	cs := []change{
		{"mtime", [2]bool{f.Mtime != was.fake.Mtime, r.Mtime != was.real.Mtime}},
		{"ctime", [2]bool{f.Ctime != was.fake.Ctime, r.Ctime != was.real.Ctime}},
		{"btime", [2]bool{f.Btime != was.fake.Btime, r.Btime != was.real.Btime}},
	}
	for i := range cs {
		if !multigrain || f.Mode.IsDir() {
			cs[i].by[0] = cs[i].by[0] && cs[i].by[1]
		}
	}
	return cs
}

// answers words what both sides answered.
func (s *sight) answers(l line, f, r fsfake.Result) (string, string) {
	if f.OK() && r.OK() && rowOf(l.op.Call).answer == holdsStat {
		return s.stats(f.Stat, r.Stat)
	}
	return answerText(l.op, f), answerText(l.op, r)
}

func answerText(op fsfake.Op, r fsfake.Result) string {
	switch {
	case r.Blocked:
		return "blocks"
	case r.Errno != 0:
		return fsfake.ErrnoName(r.Errno)
	}
	switch rowOf(op.Call).answer {
	case holdsNumber:
		return fmt.Sprint(r.N)
	case holdsData:
		return fmt.Sprint(r.N, " ", quote(r.Data))
	case holdsNames:
		return fmt.Sprint(r.N, " ", quote(strings.ReplaceAll(r.Data, "\x00", " ")))
	case holdsLock:
		return lockText(r.Lock)
	case holdsStat:
		return r.Stat.Mode.String()
	}
	return "ok"
}

func lockText(l fsfake.RecordLock) string {
	t := fmt.Sprint(l.Type)
	if l.Type >= 0 && l.Type < 3 {
		t = lockTypes[l.Type]
	}
	return fmt.Sprintf("%s %d+%d pid %d", t, l.Start, l.Len, l.Pid)
}
