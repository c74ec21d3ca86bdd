package bruteforce

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Scenario renders the protocol for lockpick: its tasks are Go functions.
func (p *Protocol) Scenario() *scenarios.Scenario {
	s := &scenarios.Scenario{
		ID: "bruteforce/" + p.Name + "/drawn",
		Setting: scenarios.Setting{
			Processes: len(p.Programs), Fixed: true, Interchangeable: p.Alike,
			Crashes: p.Crashes, Mortal: p.Mortal, Stalls: p.Stalls, Daemons: p.Daemons,
		},
		Setup: func(m *fsfake.Machine) {
			for _, f := range p.Files {
				if err := m.Proc(1).WriteFile(f.Path, []byte(f.Text), 0o644); err != nil {
					panic(err)
				}
			}
		},
		Program: func(process, task int) scenarios.Program {
			return func(t *scenarios.Task) {
				r := &runner{t: t}
				if p.Pids {
					r.pid = t.Getpid()
				}
				r.run(p.tasks(process)[task-1])
			}
		},
	}
	s.Setting.FailingCalls = p.Failing
	for _, name := range p.FailWith {
		e, err := fsfake.FailingErrno(name)
		if err != nil {
			panic(err)
		}
		s.Setting.FailWith = append(s.Setting.FailWith, e)
	}
	if p.Stalls > 0 {
		s.Setting.StallFor, s.Setting.Punctual = p.stallFor(), p.Punctual
	}
	s.Setting.Assume.Sleeps = scenarios.SleepsShort
	if p.Lasts {
		s.Setting.Assume.Sleeps, s.Setting.Punctual = scenarios.SleepsLast, p.Punctual
	}
	for _, seconds := range p.Skew {
		s.Setting.Skew = append(s.Setting.Skew, time.Duration(seconds)*time.Second)
	}
	if p.Threads {
		s.Setting.Concurrency = scenarios.Threads
	}
	for _, tasks := range p.Programs {
		if len(tasks) > 1 {
			s.Setting.Tasks = make([]int, len(p.Programs))
		}
	}
	for i := range s.Setting.Tasks {
		s.Setting.Tasks[i] = len(p.Programs[i])
	}
	s.Setting.Running, s.Setting.Signals = p.Running, p.Signals
	for i, body := range p.Handlers {
		if body != nil {
			s.Setting.Handlers = append(s.Setting.Handlers, i)
		}
	}
	if p.Probe != nil {
		s.Probe = func(t *scenarios.Task) error {
			_, err := (&runner{t: t}).acquire(p.Probe)
			return err
		}
	}
	for _, name := range p.Ask {
		s.Claims = append(s.Claims, scenarios.Claim{Property: Property(name), Verdict: scenarios.Holds})
	}
	return s
}

// Property returns the property with an id; it panics when there is none.
func Property(id string) *scenarios.Property {
	p, err := scenarios.FindProperty(id)
	if err != nil {
		panic("bruteforce: " + err.Error())
	}
	return p
}

// A runner is one task as Go code.
type runner struct {
	t      *scenarios.Task
	pid    int // 0 for a program that does not use it
	reg    registers
	inside int // how many locks it holds
}

type registers struct {
	ok   bool
	text string
	cell int
	file [slots]*fsfake.File
	// What the acquisition came to.
	held   bool
	slot   int
	shared bool
}

// A leave says how a block was left.
type leave int

const (
	leaveAtEnd leave = iota
	leaveLoop
	leaveAcquire
)

func (r *runner) run(body []Stmt) leave {
	for i := range body {
		if how := r.stmt(&body[i]); how != leaveAtEnd {
			return how
		}
	}
	return leaveAtEnd
}

func (r *runner) stmt(s *Stmt) leave {
	switch s.Do {
	case If:
		if r.cond(s.Cond) {
			return r.run(s.Body)
		}
		return r.run(s.Else)
	case Retry:
		before := r.reg
		for retry := r.t.Retry(); retry.Next(); {
			r.reg = before
			switch r.run(s.Body) {
			case leaveLoop:
				return leaveAtEnd
			case leaveAcquire:
				return leaveAcquire
			}
		}
	case Break:
		return leaveLoop
	case Return:
		r.reg.held, r.reg.slot, r.reg.shared = s.N == 1, s.Slot, s.Shared
		return leaveAcquire
	case Acquire:
		r.locked(s)
	case Record:
		r.record(s)
	default:
		r.call(s)
	}
	return leaveAtEnd
}

func (r *runner) cond(c string) bool {
	switch c {
	case IfOK:
		return r.reg.ok
	case IfNot:
		return !r.reg.ok
	case IfText:
		return r.reg.text != ""
	case IfNoText:
		return r.reg.text == ""
	case IfMine:
		return r.reg.text == r.t.Process || r.pid != 0 && r.reg.text == fmt.Sprintln(r.pid)
	case IfZero:
		return r.reg.cell == 0
	case IfMore:
		return r.reg.cell != 0
	}
	panic("bruteforce: unknown condition " + c)
}

func (r *runner) locked(s *Stmt) {
	_, err := r.t.Acquire(s.Path, func() (scenarios.Hold, error) { return r.acquire(s.Body) })
	if err != nil {
		return
	}
	r.inside++
	r.run(s.Else)
	release := func() error {
		r.run(s.Release)
		return nil
	}
	if r.inside--; r.inside > 0 { // it holds another lock, too
		_ = r.t.ReleaseOf(s.Path, release)
	} else {
		_ = r.t.Release(release)
	}
}

func (r *runner) acquire(body []Stmt) (scenarios.Hold, error) {
	r.reg.held, r.reg.slot, r.reg.shared = false, -1, false
	r.run(body)
	if !r.reg.held {
		return scenarios.Hold{}, scenarios.ErrLocked
	}
	h := scenarios.Hold{Shared: r.reg.shared}
	if r.reg.slot >= 0 {
		h.File = r.reg.file[r.reg.slot]
	}
	return h, nil
}

func (r *runner) record(s *Stmt) {
	key := r.name(s.To)
	switch s.Text {
	case OpAdd:
		scenarios.Record(r.t, model.Add{Key: key}, func() model.Added { r.run(s.Body); return model.Added{} })
	case OpContains:
		scenarios.Record(r.t, model.Contains{Key: key}, func() model.Found {
			r.run(s.Body)
			return model.Found{Yes: strings.Contains(r.reg.text, key)}
		})
	case OpAppend:
		scenarios.Record(r.t, model.Append{Entry: int(s.N)}, func() model.Appended { r.run(s.Body); return model.Appended{} })
	case OpWrite:
		scenarios.Record(r.t, model.Write{Value: key}, func() model.Written { r.run(s.Body); return model.Written{} })
	case OpRead:
		scenarios.Record(r.t, model.Read{}, func() model.ReadValue { r.run(s.Body); return model.ReadValue{Value: r.reg.text} })
	case OpWho:
		scenarios.Record(r.t, model.WhoHolds{Lock: s.Path}, func() model.Holder { r.run(s.Body); return model.Holder{Owner: r.reg.text} })
	default:
		panic("bruteforce: unknown operation " + s.Text)
	}
}

// name replaces "$" by the name of the process.
func (r *runner) name(text string) string {
	if text == "$" {
		return r.t.Process
	}
	return text
}

// written is what Write writes.
func (r *runner) written(text string) string {
	if text == "+$" {
		return r.reg.text + r.t.Process
	}
	return r.name(text)
}

// call makes the calls of one statement.
func (r *runner) call(s *Stmt) {
	reg := &r.reg
	done := func(err error) { reg.ok = err == nil }
	switch s.Do {
	case Open:
		f, err := r.t.OpenFile(s.Path, s.Flags, 0o644)
		reg.file[s.Slot] = f
		done(err)
	case Stat:
		_, err := r.t.Stat(s.Path)
		done(err)
	case Old:
		st, err := r.t.Stat(s.Path)
		reg.ok = err == nil && r.t.Now().Sub(st.ModTime()) > time.Duration(s.N)*time.Second
	case Unlink:
		done(r.t.Unlink(s.Path))
	case Rename:
		done(r.t.Rename2(s.Path, s.To, 0))
	case Link:
		done(r.t.Link(s.Path, s.To))
	case Mkdir:
		done(r.t.Mkdir(s.Path, 0o755))
	case Rmdir:
		done(r.t.Rmdir(s.Path))
	case Alive:
		reg.ok = false
		if len(reg.text) == 1 && reg.text >= "A" && reg.text <= "Z" {
			done(r.t.Kill(scenarios.Pid(int(reg.text[0] - 'A'))))
		} else if pid, err := strconv.Atoi(strings.TrimSuffix(reg.text, "\n")); err == nil && r.pid != 0 {
			done(r.t.Kill(pid))
		}
	case Sleep:
		r.t.Sleep(s.sleepFor())
		reg.ok = true
	case Work:
		r.t.Work()
		reg.ok = true
	case Exit:
		r.t.Exit()
	case Leave:
		r.t.Leave(s.Path, func() { r.run(s.Body) })
	case Start:
		r.t.Start(int(s.N))
		reg.ok = true
	case Load:
		reg.cell = r.cell(s).Load(r.t.Proc)
		reg.ok = true
	case Store:
		r.cell(s).Store(r.t.Proc, int(s.N))
		reg.ok = true
	case Add:
		r.cell(s).Store(r.t.Proc, reg.cell+int(s.N))
		reg.ok = true
	case CAS:
		reg.ok = r.cell(s).CompareAndSwap(r.t.Proc, int(s.Len), int(s.N))
	case Await:
		reg.cell = r.cell(s).Wait(r.t.Proc, func(v int) bool { return v == int(s.N) })
		reg.ok = true
	default:
		r.callFile(s)
	}
}

func (r *runner) cell(s *Stmt) fsfake.Cell[int] { return fsfake.Cell[int]{Name: s.Path} }

// callFile makes a call on the file in a slot.
func (r *runner) callFile(s *Stmt) {
	f := r.reg.file[s.Slot]
	r.reg.ok = false
	if f == nil {
		return
	}
	var err error
	switch s.Do {
	case Close:
		err = f.Close()
		r.reg.file[s.Slot] = nil
	case Write:
		_, err = f.WriteString(r.written(s.Text))
	case Read:
		buf := make([]byte, 16)
		n, readErr := f.Read(buf)
		r.reg.text = string(buf[:n])
		if fsfake.Errno(readErr) != 0 {
			err = readErr
		}
	case Empty:
		err = f.Truncate(0)
	case Same:
		a, errA := f.Stat()
		b, errB := r.t.Stat(s.Path)
		r.reg.ok = errA == nil && errB == nil && fsfake.SameFile(a, b)
		return
	case Flock:
		err = f.Flock(s.Flags)
	case Fcntl:
		err = f.FcntlLock(fsfake.RecordLock{Type: s.Flags, Start: s.N, Len: s.Len}, s.Wait)
	case OFD:
		err = f.OFDLock(fsfake.RecordLock{Type: s.Flags, Start: s.N, Len: s.Len}, s.Wait)
	default:
		panic(fmt.Sprintf("bruteforce: unknown statement %q", s.Do))
	}
	r.reg.ok = err == nil
}
