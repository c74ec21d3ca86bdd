package bruteforce

import (
	"fmt"
	"os"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
)

// A task is a program at a place between two calls. It is a value: stepping it makes a
// changed copy.
type task struct {
	code  []instr
	who   string // the process's name
	pc    int    // of the call that comes next, or of opEnd
	reg   regs
	saved []regs // of the loops that it is in; never changed in place
	// The operation that is under way, and what comes with the next call.
	open    any
	invokes any
	letsGo  string // the lock that a release lets go of
	first   bool   // it is the first task's
	// loops are what became of the loops that it is in since its last call.
	loops []turning
	// trails: keep regs.trail.
	trails bool
}

type regs struct {
	ok     bool
	text   string
	cell   int
	fd     [slots]int // -1 for none
	held   bool
	slot   int
	shared bool
	// Between the two calls of a statement: the file that fstat showed, or the time of the
	// last change.
	file  fsfake.InodeID
	mtime int64
	// told lists the files whose inode numbers the task was told, but for those of rounds that
	// were left again. Never changed in place.
	told []fsfake.InodeID
	// trail is every result so far, but for those of rounds that were left again. It is kept
	// for starvation only: the smallest way into a cycle depends on when a task counts as being
	// where it was before, and that is when it has seen the same results.
	trail string
}

// A remark is what a task did between two calls, in order.
type remark struct {
	kind remarkKind
	// answer of an operation, or the path of a lock that is held from now on.
	input, output any
	path          string
	fd            int
}

// A turning is what happens with a loop.
type turning uint8

const (
	entered turning = iota
	round
	left
)

type remarkKind uint8

const (
	answered remarkKind = iota + 1
	holds
)

func newTask(code []instr, who string) (*task, error) {
	t := &task{code: code, who: who}
	for i := range t.reg.fd {
		t.reg.fd[i] = -1
	}
	remarks, err := t.proceed()
	if err == nil && len(remarks) > 0 {
		err = fmt.Errorf("bruteforce: an operation makes no call")
	}
	return t, err
}

func (t *task) ended() bool { return t.code[t.pc].op == opEnd }

// op is the call that the task makes next.
func (t *task) op() fsfake.Op {
	in := &t.code[t.pc]
	s := in.stmt
	switch {
	case s.Do == Same && in.part == partSecond, s.Do == Stat, s.Do == Old && in.part == partOnly:
		return fsfake.Op{Call: fsfake.CallStat, Path: s.Path}
	case s.Do == Old:
		return fsfake.Op{Call: fsfake.CallNow}
	case in.part == partWait:
		op := fsfake.Op{Call: fsfake.CallCellWait, Cell: s.Path}
		if t.reg.cell != 0 {
			op.Value = t.reg.cell
		}
		return op
	}
	fd := -1
	if s.usesFile() {
		fd = t.reg.fd[s.Slot]
	}
	switch s.Do {
	case Open:
		return fsfake.Op{Call: fsfake.CallOpen, Path: s.Path, Flags: s.Flags | fsfake.O_CLOEXEC, Mode: 0o644}
	case Close:
		return fsfake.Op{Call: fsfake.CallClose, FD: fd}
	case Write:
		return fsfake.Op{Call: fsfake.CallWrite, FD: fd, Data: t.written(s.Text)}
	case Read:
		return fsfake.Op{Call: fsfake.CallRead, FD: fd, Len: 16}
	case Empty:
		return fsfake.Op{Call: fsfake.CallFtruncate, FD: fd}
	case Same:
		return fsfake.Op{Call: fsfake.CallFstat, FD: fd}
	case Unlink:
		return fsfake.Op{Call: fsfake.CallUnlink, Path: s.Path}
	case Rename:
		return fsfake.Op{Call: fsfake.CallRename, Path: s.Path, Path2: s.To}
	case Link:
		return fsfake.Op{Call: fsfake.CallLink, Path: s.Path, Path2: s.To}
	case Mkdir:
		return fsfake.Op{Call: fsfake.CallMkdir, Path: s.Path, Mode: 0o755}
	case Rmdir:
		return fsfake.Op{Call: fsfake.CallRmdir, Path: s.Path}
	case Flock:
		return fsfake.Op{Call: fsfake.CallFlock, FD: fd, Flags: s.Flags}
	case Fcntl, OFD:
		op := fsfake.Op{Call: fsfake.CallSetlk, FD: fd, Flags: s.Flags, Off: s.N, Len: s.Len, Wait: s.Wait}
		if s.Do == OFD {
			op.Call = fsfake.CallOFDSetlk
		}
		return op
	case Alive:
		return fsfake.Op{Call: fsfake.CallKill, Pid: pidOf(t.reg.text)}
	case Sleep:
		return fsfake.Op{Call: fsfake.CallSleep, Time: int64(s.sleepFor())}
	case Work:
		return fsfake.Op{Call: fsfake.CallWork}
	case Exit:
		return fsfake.Op{Call: fsfake.CallExit}
	case Start:
		return fsfake.Op{Call: fsfake.CallStart, Len: s.N}
	case Load, Await:
		return fsfake.Op{Call: fsfake.CallCellLoad, Cell: s.Path}
	case Store, Add:
		op := fsfake.Op{Call: fsfake.CallCellStore, Cell: s.Path}
		if v := t.stored(s); v != 0 {
			op.Value = v
		}
		return op
	case CAS:
		return fsfake.Op{Call: fsfake.CallCellCAS, Cell: s.Path, Value: fsfake.Swap{Old: value(s.Len), New: value(s.N)}}
	}
	panic(fmt.Sprintf("bruteforce: unknown statement %q", s.Do))
}

func (t *task) stored(s *Stmt) int {
	if s.Do == Add {
		return t.reg.cell + int(s.N)
	}
	return int(s.N)
}

// usesFile reports whether a statement is a call on the file in a slot.
func (s *Stmt) usesFile() bool {
	switch s.Do {
	case Close, Write, Read, Empty, Same, Flock, Fcntl, OFD:
		return true
	}
	return false
}

func (t *task) name(text string) string {
	if text == "$" {
		return t.who
	}
	return text
}

func (t *task) written(text string) string {
	if text == "+$" {
		return t.reg.text + t.who
	}
	return t.name(text)
}

// pidOf returns the pid of the process with a name of one letter, or the pid in a line of its own; 0 for neither.
func pidOf(name string) int {
	if len(name) == 1 && name[0] >= 'A' && name[0] <= 'Z' {
		return 101 + int(name[0]-'A')
	}
	if len(name) == 4 && name[:2] == "10" && name[2] >= '1' && name[2] <= '9' && name[3] == '\n' {
		return 100 + int(name[2]-'0')
	}
	return 0
}

// take gives the task the result of its call and runs it up to its next. file is the inode
// that a stat or fstat was about.
func (t *task) take(r fsfake.Result, file fsfake.InodeID) ([]remark, error) {
	in := &t.code[t.pc]
	s := in.stmt
	g := &t.reg
	t.invokes, t.letsGo, t.first = nil, "", false
	t.pc++
	ok := r.Errno == 0
	if t.trails {
		g.trail += fmt.Sprint(r)
	}
	switch {
	case s.Do == Open:
		g.ok, g.fd[s.Slot] = ok, -1
		if ok {
			g.fd[s.Slot] = int(r.N)
		}
	case s.Do == Close:
		g.ok, g.fd[s.Slot] = ok, -1
	case s.Do == Read:
		g.ok, g.text = ok, r.Data
	case s.Do == Same && in.part == partOnly:
		g.file = file // its failure is remembered as no file at all
		if !ok {
			g.file = 0
		}
	case s.Do == Same:
		g.ok, g.file = ok && g.file != 0 && g.file == file, 0
	case s.Do == Old && in.part == partOnly:
		if g.mtime = r.Stat.Mtime; !ok {
			g.ok, g.mtime = false, 0
			t.pc++
		}
	case s.Do == Old:
		g.ok, g.mtime = r.N-g.mtime > s.N*int64(time.Second), 0
	case s.Do == Load:
		g.ok, g.cell = true, number(r.Value)
	case s.Do == Await && in.part == partOnly:
		if g.cell = number(r.Value); g.cell == int(s.N) {
			g.ok = true
			t.pc += 2
		}
	case s.Do == CAS:
		g.ok = r.N == 1
	case s.Do == Await: // the wait is over: look again
	default:
		g.ok = ok
	}
	return t.proceed()
}

// value is how a machine keeps a number in a cell.
func value(n int64) any {
	if n == 0 {
		return nil
	}
	return int(n)
}

func number(v any) int {
	if v == nil {
		return 0
	}
	return v.(int)
}

// proceed runs the task up to its next call, or to its end.
func (t *task) proceed() ([]remark, error) {
	var out []remark
	g := &t.reg
	t.loops = nil
	for n := 0; ; n++ {
		if n > 10_000 {
			return nil, fmt.Errorf("bruteforce: a round makes no call")
		}
		in := &t.code[t.pc]
		switch in.op {
		case opEnd:
			if t.invokes != nil {
				return nil, fmt.Errorf("bruteforce: an operation makes no call")
			}
			return out, nil
		case opCall:
			s := in.stmt
			if s.usesFile() && g.fd[s.Slot] < 0 && in.part == partOnly || s.Do == Alive && pidOf(g.text) == 0 {
				g.ok = false
				if t.pc++; s.Do == Same {
					t.pc++
				}
				continue
			}
			return out, nil
		case opUnless:
			if !t.cond(in.stmt.Cond) {
				t.pc = in.to
				continue
			}
		case opFree:
			if !g.held {
				t.pc = in.to
				continue
			}
		case opJump:
			t.pc = in.to
			continue
		case opPush:
			t.saved = append(t.saved[:len(t.saved):len(t.saved)], *g)
			t.loops = append(t.loops, entered)
			t.pc++ // its top
		case opTop:
			*g = t.saved[len(t.saved)-1]
			t.loops = append(t.loops, round)
		case opPop:
			t.saved = t.saved[:len(t.saved)-in.part]
			for range in.part {
				t.loops = append(t.loops, left)
			}
		case opClear:
			g.held, g.slot, g.shared = false, -1, false
		case opHeld:
			g.held, g.slot, g.shared = in.stmt.N == 1, in.stmt.Slot, in.stmt.Shared
		case opLetGo:
			t.letsGo, t.first = in.stmt.Path, in.first
		case opInvoke:
			t.invokes = t.input(in)
			t.open = t.invokes
		case opAnswer:
			if t.invokes != nil {
				return nil, fmt.Errorf("bruteforce: an operation makes no call")
			}
			out = append(out, remark{kind: answered, input: t.open, output: t.output(in)})
			t.open = nil
		case opHold:
			if g.held {
				fd := -1
				if g.slot >= 0 {
					fd = g.fd[g.slot]
				}
				out = append(out, remark{kind: holds, path: in.stmt.Path, fd: fd})
			}
		}
		t.pc++
	}
}

func (t *task) cond(c string) bool {
	g := &t.reg
	switch c {
	case IfOK:
		return g.ok
	case IfNot:
		return !g.ok
	case IfText:
		return g.text != ""
	case IfNoText:
		return g.text == ""
	case IfMine:
		return g.text != "" && pidOf(g.text) == pidOf(t.who)
	case IfZero:
		return g.cell == 0
	case IfMore:
		return g.cell != 0
	}
	panic("bruteforce: unknown condition " + c)
}

// input is what the operation of an instruction asks.
func (t *task) input(in *instr) any {
	s := in.stmt
	switch {
	case in.release:
		return model.Release{Owner: t.who, Lock: s.Path}
	case s.Do == Acquire:
		return model.Acquire{Owner: t.who, Lock: s.Path}
	}
	switch key := t.name(s.To); s.Text {
	case OpAdd:
		return model.Add{Key: key}
	case OpContains:
		return model.Contains{Key: key}
	case OpAppend:
		return model.Append{Entry: int(s.N)}
	case OpWrite:
		return model.Write{Value: key}
	case OpRead:
		return model.Read{}
	case OpWho:
		lock := s.Path
		if lock == "" { // it does not say which, where there is one
			lock = lockPath
		}
		return model.WhoHolds{Lock: lock}
	}
	panic("bruteforce: unknown operation " + s.Text)
}

// output is what it answers.
func (t *task) output(in *instr) any {
	s := in.stmt
	switch {
	case in.release:
		return model.Released{}
	case s.Do == Acquire:
		return model.Acquired{OK: t.reg.held, Shared: t.reg.held && t.reg.shared}
	}
	switch s.Text {
	case OpAdd:
		return model.Added{}
	case OpContains:
		return model.Found{Yes: strings.Contains(t.reg.text, t.name(s.To))}
	case OpAppend:
		return model.Appended{}
	case OpWrite:
		return model.Written{}
	case OpRead:
		return model.ReadValue{Value: t.reg.text}
	}
	return model.Holder{Owner: t.reg.text}
}

// Flags of Open, for whoever writes protocols.
const (
	Exclusive = os.O_CREATE | os.O_EXCL | os.O_RDWR
	Create    = os.O_CREATE | os.O_RDWR
	Truncate  = os.O_CREATE | os.O_TRUNC | os.O_RDWR
	Existing  = os.O_RDWR
)
