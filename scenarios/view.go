package scenarios

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"lockpick/fsfake"
)

// A View is one state of the machine and its holders, as an invariant sees it. It shows
// what programs could find out, and no more: inode numbers, say, differ between states
// that are treated as one, so a view says which names lead to the same file, and not
// which number it has.
type View struct{ m *fsfake.Machine }

// NewView returns the view of a machine, for engines and for tests of invariants. Whoever
// drives the machine marks in it who holds what ([fsfake.Machine.Mark]).
func NewView(m *fsfake.Machine) View { return View{m} }

// Clone returns a machine that is as the one in view, and that its caller may change.
func (v View) Clone() *fsfake.Machine { return v.m.Clone() }

// A Holder is a task that holds a lock, from the last step of its acquisition to the
// first of its release.
type Holder struct {
	// Process is the name of its process, such as "A"; Task counts the tasks of the
	// process from 1.
	Process string
	Task    int
	// Lock is the lock's name, made of the path that Task.Acquire was given by [LockName]. Path
	// is what it was taken under, which is that path unless Hold.Path says otherwise.
	Lock, Path string
	// InPlace: what stands at Path is the object that the task acquired; or Path leads to it
	// through a symlink, as it did when the task opened it.
	InPlace bool
}

// String names the task: "A", "A.2".
func (h Holder) String() string {
	if h.Task > 1 {
		return fmt.Sprintf("%s.%d", h.Process, h.Task)
	}
	return h.Process
}

// ReusesInodes reports whether the file system gives a new file the number of one that has gone.
func (v View) ReusesInodes() bool { return v.m.ReusesInodes() }

// Holders yields those who hold, in the order of tasks.
func (v View) Holders() iter.Seq[Holder] {
	return func(yield func(Holder) bool) {
		for _, k := range v.m.Marks() {
			h := Holder{Process: ProcessName(k.Task.Pid - firstPid), Task: k.Task.N, Lock: k.Lock, Path: k.Path}
			for _, lookup := range []func(string) (fsfake.InodeID, bool){v.m.LookupName, v.m.Lookup} {
				there, ok := lookup(k.Path)
				h.InPlace = h.InPlace || ok && there == k.Inode
			}
			if !yield(h) {
				return
			}
		}
	}
}

// Stat describes what an absolute path leads to, through symlinks; ok is false when
// nothing does. The ID of the description is 0: see [View.Same].
func (v View) Stat(path string) (f fsfake.FileView, ok bool) {
	return v.describe(v.m.Lookup(path))
}

func (v View) describe(id fsfake.InodeID, there bool) (f fsfake.FileView, ok bool) {
	if there {
		f = v.m.View(id)
		f.ID = 0
	}
	return f, there
}

// ReadFile returns the content of a file; ok is false when the path leads to none.
func (v View) ReadFile(path string) (content string, ok bool) {
	f, ok := v.Stat(path)
	return f.Content, ok && f.Kind == fsfake.KindFile
}

// Same reports whether two paths lead to one object.
func (v View) Same(a, b string) bool {
	x, ok := v.m.Lookup(a)
	y, too := v.m.Lookup(b)
	return ok && too && x == y
}

// Alive reports whether a process, such as "A", has begun and has not ended.
func (v View) Alive(process string) bool {
	return len(process) == 1 && v.m.Alive(Pid(int(process[0]-'A')))
}

// Now is the time on the machine's clock.
func (v View) Now() time.Time { return v.m.Now() }

// Lstat describes what stands at an absolute path itself, a symlink included; ok is false
// when nothing does.
func (v View) Lstat(path string) (f fsfake.FileView, ok bool) {
	return v.describe(v.m.LookupName(path))
}

// Running counts the processes that run, children included, and those that Setup has added.
func (v View) Running() int { return v.RunningBut(nil) }

// RunningBut is Running without some processes, by pid: those that are there all the time, say.
func (v View) RunningBut(pids []int) int {
	n := 0
	for _, pid := range v.m.Pids() {
		if pid != 1 && !slices.Contains(pids, pid) {
			n++
		}
	}
	return n
}

// Exit says how a process, such as "A", has ended; false for one that runs, that was
// killed, or whose end was not kept ([fsfake.CallExit] with Wait).
func (v View) Exit(process string) (fsfake.Exit, bool) {
	if len(process) != 1 {
		return fsfake.Exit{}, false
	}
	return v.m.Exit(Pid(int(process[0] - 'A')))
}
