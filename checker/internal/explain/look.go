package explain

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"syscall"
	"time"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/sched"
)

// A look is the last that a task has learned of what stands at a name: by a call that
// tells, or because the task has changed it itself.
type look struct {
	how  glance
	task sched.Task
	path string
	// step is the one that a person is pointed to. A change after since makes the look
	// stale: for a read that is the step of the open.
	step, since int
	// file is what stood there.
	file trace.FileState
	// ino is the inode number that the look showed; 0 when it showed none.
	ino uint64
	// text is what was read.
	text string
	// opened is, for a read, the look that opened the file.
	opened *look
	// prior is, of a look that only shows that the file is there still, the read before it.
	prior *look
	// open is the step of the open whose descriptor the look has, or 0.
	open int
	// did is what the task did itself.
	did *trace.Change
	// judged is what the task asked besides, to make up its mind; dated that it knows when
	// the file was last changed.
	judged []judgement
	dated  bool
}

// A glance is how a look came about.
type glance uint8

const (
	missing glance = iota + 1 // nothing was there
	met                       // a call was refused, because something was there
	saw                       // stat
	opened
	created
	read
	listed // in its directory
	acted  // the task has changed it
)

// A judgement is what a task asked about the owner or the age of what it had seen.
type judgement struct {
	step int
	call fsfake.Call
	pid  int
	cell string
	err  syscall.Errno
	// clock is what the clock said when the file held a time, or was last changed at another, which is dated then.
	clock, dated time.Time
}

// knowing returns the look by which the task knows most of the file: a read.
func (l *look) knowing() *look {
	if l.how == read {
		return l
	}
	return l.prior
}

// told says what the look told: "found no .sync.lock at step 2".
func (t *teller) told(l *look) string {
	if l.prior != nil {
		again := "saw it there still"
		if l.how == opened {
			again = "opened it again"
		}
		return fmt.Sprintf("%s, %s %s", t.told(l.prior), again, t.at(l.step))
	}
	name, at := t.called(&l.file), t.at(l.step)
	switch l.how {
	case missing:
		return fmt.Sprintf("found no %s %s", t.walk.Names.Short(l.path), at)
	case met:
		return fmt.Sprintf("met %s %s", name, at)
	case saw:
		return fmt.Sprintf("saw %s %s", name, at)
	case opened:
		return fmt.Sprintf("opened %s %s", name, at)
	case created:
		return fmt.Sprintf("%s %s %s", making(&l.file), name, at)
	case listed:
		return fmt.Sprintf("found %s in its directory %s", name, at)
	case read:
		if l.text == "" {
			return fmt.Sprintf("found %s empty %s", name, at)
		}
		return fmt.Sprintf("read %s from %s %s", t.data(l.text), name, at)
	}
	if l.did.Kind == trace.Touched {
		return "touched " + name + " " + at
	}
	return t.whole(&change{Change: l.did}) + " " + at
}

// making is the verb for what somebody has made: files are created, the rest is made.
func making(f *trace.FileState) string {
	if f.Kind == fsfake.KindFile {
		return "created"
	}
	return "made"
}

// judgements says what else the task asked after one step and before another: " and found
// pid 99 dead at step 5". Of several answers to one question the last counts.
func (t *teller) judgements(l *look, after, before int) string {
	if l.how == created || l.how == acted {
		return ""
	}
	var out []string
	for i, j := range l.judged {
		again := func(o judgement) bool {
			return o.call == j.call && o.pid == j.pid && o.cell == j.cell && o.step < before
		}
		text := t.judgement(j)
		if text != "" && j.step > after && j.step < before && !slices.ContainsFunc(l.judged[i+1:], again) {
			out = append(out, text+" "+t.at(j.step))
		}
	}
	switch len(out) {
	case 0:
		return ""
	case 1:
		return " and " + out[0]
	}
	return ", " + numbers.List(out)
}

// judgement tells one thing that a task asked, after "had" as well as alone.
func (t *teller) judgement(j judgement) string {
	switch {
	case j.call == fsfake.CallNow && !j.dated.IsZero():
		return "found it " + t.walk.OldText(j.clock, j.dated)
	case j.call == fsfake.CallNow:
		if j.clock.IsZero() {
			return ""
		}
		return "read " + t.walk.TimeText(j.clock) + " from the clock"
	case j.call == fsfake.CallCellLoad:
		return "found nothing in " + j.cell
	case j.call.IsLock():
		return "got no lock on it"
	case j.err == 0:
		return "found " + t.asked(j) + " alive"
	case j.err == syscall.EPERM:
		return "found " + t.asked(j) + " alive, but somebody else's,"
	}
	return "found " + t.asked(j) + " dead"
}

// asked names the process that a task asked about.
func (t *teller) asked(j judgement) string {
	if who := t.walk.Who(j.pid); who != "pid "+strconv.Itoa(j.pid) {
		return fmt.Sprintf("%s (pid %d)", who, j.pid)
	}
	return fmt.Sprintf("pid %d", j.pid)
}

// judge adds what a task asks to what it has seen last.
func (s *story) judge(st *trace.Walked, c *trace.Call) {
	l := s.recent[st.Choice.Task]
	if l == nil {
		return
	}
	j := judgement{step: st.N, call: c.Op.Call, pid: c.Op.Pid, cell: c.Op.Cell, err: c.Result.Errno}
	switch {
	case c.Op.Call == fsfake.CallKill, c.Op.Call == fsfake.CallStartTime:
	case c.Op.Call == fsfake.CallNow:
		switch {
		case l.how == read && s.walk.Quote(l.text, len(l.text)) != trace.Quote(l.text, len(l.text)):
			j.clock = time.Unix(0, c.Result.N)
		case l.dated && c.Result.N != l.file.Mtime:
			j.clock, j.dated = time.Unix(0, c.Result.N), time.Unix(0, l.file.Mtime)
		}
	case c.Op.Call == fsfake.CallCellLoad && c.Result.Value == nil:
	case c.Op.Call.IsLock() && c.Result.Errno != 0:
	default:
		return
	}
	l.judged = append(slices.Clip(l.judged), j)
	if dir := s.looks[lookKey{l.task, path.Dir(l.path)}]; dir != nil && dir.file.Exists && j.pid > 0 {
		dir.judged = append(slices.Clip(dir.judged), j) // the directory is the lock, and a file in it says whose
	}
}
