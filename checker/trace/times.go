package trace

import "lockpick/fsfake"

// Ages reports whether watched files differ in age in the course of the run: the clock
// moves, a file is older than the start, or a call sets times.
func (w *Walk) Ages() bool {
	for i := range w.Start.Files {
		if f := &w.Start.Files[i]; f.Exists && f.Mtime != w.Start.Clock.UnixNano() {
			return true
		}
	}
	for i := range w.Steps {
		if !w.Steps[i].After.Clock.Equal(w.Start.Clock) {
			return true
		}
		for _, c := range w.Steps[i].Calls {
			if c.Op.Call.Is(fsfake.SetsTimes) {
				return true
			}
		}
	}
	return false
}

// Renumbers reports whether a process sees one inode number for two files, or two numbers
// for one: then the numbers matter by which it knows them.
func (w *Walk) Renumbers() bool {
	type sight struct {
		pid int
		ino uint64
	}
	files, numbers := map[sight]fsfake.InodeID{}, map[fsfake.FDRef]uint64{}
	for i := range w.Steps {
		st := &w.Steps[i]
		for k, c := range st.Calls {
			if c.Result.Stat.Ino == 0 || len(st.Targets[k]) == 0 {
				continue
			}
			id, pid := st.Targets[k][0].ID, st.pidOf(&c)
			seen, file := sight{pid, c.Result.Stat.Ino}, fsfake.FDRef{Pid: pid, FD: int(id)}
			if old, ok := files[seen]; ok && old != id {
				return true
			}
			if old, ok := numbers[file]; ok && old != seen.ino {
				return true
			}
			files[seen], numbers[file] = id, seen.ino
		}
	}
	return false
}
