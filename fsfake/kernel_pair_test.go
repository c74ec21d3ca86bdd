//go:build linux

package fsfake_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// A pair is a fake machine and a real one that do the same.
type pair struct {
	fake *fsfake.Machine
	// others are what the fake may be as well, after the kernel has granted what several
	// waited for, in an order that nothing has shown yet. They do what the fake does.
	others  []*fsfake.Machine
	real    *kernel.Machine
	see     *sight
	log     []said // what each side said
	several bool
	users   map[int]uint32 // by pid
	// seen counts what both sides answered alike.
	seen answered
	// calls counts the calls made on both sides, passed the lines that made no sense.
	calls, passed int
	// forbidden are the calls that cannot be compared here.
	forbidden []line
}

// An answer is a call and the errno that it got; 0 is success. Blocked calls count too.
type answer struct {
	call    fsfake.Call
	errno   int
	blocked bool
}

// said is a line of the transcripts.
type said struct {
	line       fmt.Stringer
	fake, real string
}

// A text is a line of the transcripts that is no line of the sequence.
type text string

func (t text) String() string { return string(t) }

// A mismatch is the first difference between the fake and the kernel.
type mismatch struct {
	what string // in a few words, without numbers: what is shrunk must keep it
	said []said
}

func (m *mismatch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n    %-44s   %-36s   %s\n", m.what, "", "fake", "kernel")
	for _, s := range m.said {
		mark := " "
		if s.fake != s.real {
			mark = "≠"
		}
		fmt.Fprintf(&b, "    %-44s   %-36s %s %s\n", s.line, s.fake, mark, s.real)
	}
	return b.String()
}

// runPair runs a sequence on both sides. The error is a fault of the machinery.
func runPair(real *kernel.Machine, s sequence, seen answered) (*pair, *mismatch, error) {
	p := &pair{
		fake: newFake(profile(), fsfake.Options{InodeNumbers: fsfake.InodesUnique, FileTimes: fileTimes()}), real: real, seen: seen, users: map[int]uint32{},
	}
	p.see = newSight(p.fake, real)
	if err := real.Reset(); err != nil {
		return p, nil, err
	}
	p.several = s.severalUsers()
	if !real.Rooted() { // there is one user, whose disk it is
		for _, dir := range []string{"/", "/tmp"} {
			p.fake.Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallChown, Path: dir, Off: int64(os.Geteuid()), Len: int64(os.Getegid())})
		}
	}
	for i, u := range s.users {
		p.users[firstPid+i] = u
		spec := fsfake.ProcSpec{Pid: firstPid + i, UID: u, GID: u, Inside: s.inside(firstPid + i)}
		if !real.Rooted() {
			spec.UID, spec.GID = uint32(os.Geteuid()), uint32(os.Getegid())
		}
		p.fake.AddProc(spec)
		if err := real.AddProc(spec); err != nil {
			return p, nil, err
		}
	}
	for _, l := range append(slices.Clip(s.lines), line{what: lineLook}) {
		m, err := p.step(l)
		if err != nil {
			return p, nil, fmt.Errorf("%q: %w", l, err)
		}
		if m != nil {
			m.said = p.log
			return p, m, nil
		}
	}
	return p, nil, nil
}

func (p *pair) step(l line) (*mismatch, error) {
	if !multigrain {
		for _, m := range p.fakes() {
			m.Advance(time.Millisecond)
		}
	}
	task := fsfake.Task{Pid: l.pid, N: 1}
	_, blocked := p.fake.Blocked(task)
	if l.what != lineLook && (!p.fake.Alive(l.pid) || blocked && l.what == lineCall || !blocked && l.what == lineInterrupt) {
		p.passed++
		return nil, nil
	}
	switch l.what {
	case lineLook:
		return p.look()
	case lineKill:
		if p.waitsBesideOthers(task) {
			// Its request ends before its locks do. Whether somebody who waited behind the one tries
			// again before the other is gone is the kernel's, and shows; so the request ends alone first.
			if m, err := p.interrupt(l, task); m != nil || err != nil {
				return m, err
			}
		}
		for _, m := range p.fakes() {
			m.KillProc(l.pid)
		}
		p.note(l, "", "")
		if err := p.real.KillProc(l.pid); err != nil {
			return nil, err
		}
		return p.wakes()
	case lineInterrupt:
		return p.interrupt(l, task)
	}
	return p.call(l, task)
}

// fakes returns all that the fake may be.
func (p *pair) fakes() []*fsfake.Machine { return append([]*fsfake.Machine{p.fake}, p.others...) }

func (p *pair) note(l line, fake, real string) {
	p.log = append(p.log, said{l, fake, real})
}

func (p *pair) call(l line, task fsfake.Task) (*mismatch, error) {
	if p.mustNot(l) {
		p.passed++
		p.forbidden = append(p.forbidden, l)
		return nil, nil
	}
	var fs []fsfake.Result
	for _, m := range p.fakes() {
		fs = append(fs, m.Do(task, l.op))
	}
	f := fs[0]
	if f.Unmodelled != "" {
		p.passed++
		return nil, nil
	}
	r, err := p.real.Do(task, l.op)
	if err != nil {
		return nil, err
	}
	if r.Unmodelled != "" {
		return nil, fmt.Errorf("%s", r.Unmodelled)
	}
	p.calls++
	if l.op.Call == fsfake.CallFork && f.OK() {
		p.users[int(f.N)] = p.users[l.pid]
	}
	if m := p.compare(l, fs, r); m != nil {
		return m, nil
	}
	return p.wakes()
}

// compare notes what both sides answered to a call, and compares it. Of what the fake may
// be it keeps what has answered as the kernel has.
func (p *pair) compare(l line, fs []fsfake.Result, r fsfake.Result) *mismatch {
	f := fs[0]
	a, b := p.see.answers(l, f, r)
	if len(fs) > 1 {
		var kept []*fsfake.Machine
		for i, m := range p.fakes() {
			c := a
			if fs[i] != fs[0] {
				c, _ = p.see.answers(l, fs[i], r)
			}
			if c != b {
				continue
			}
			if len(kept) == 0 {
				a, f = c, fs[i]
			}
			kept = append(kept, m.Clone())
		}
		if len(kept) > 0 {
			*p.fake, p.others = *kept[0], kept[1:]
		}
	}
	p.note(l, a, b)
	if a != b {
		return &mismatch{what: fmt.Sprintf("%s: %s on the fake, %s on the kernel", l.op.Call, class(f, a), class(r, b))}
	}
	if !strings.Contains(l.op.Path+l.op.Path2, "\x00") { // such a path does not get to the kernel
		p.count(l.op.Call, f)
	}
	return nil
}

func (p *pair) count(c fsfake.Call, r fsfake.Result) {
	if p.seen != nil {
		p.seen[answer{c, int(r.Errno), r.Blocked}]++
	}
}

// class says what kind of answer it is.
func class(r fsfake.Result, text string) string {
	switch {
	case r.Blocked:
		return "blocks"
	case r.Errno != 0:
		return fsfake.ErrnoName(r.Errno)
	}
	return "ok"
}

func (p *pair) interrupt(l line, task fsfake.Task) (*mismatch, error) {
	op, _ := p.fake.Blocked(task)
	var fs []fsfake.Result
	for _, m := range p.fakes() {
		fs = append(fs, m.Interrupt(task))
	}
	if err := p.real.Interrupt(task); err != nil {
		return nil, err
	}
	ws, err := p.real.Woken()
	if err != nil {
		return nil, err
	}
	var r fsfake.Result
	i := slices.IndexFunc(ws, func(w kernel.Wake) bool { return w.Task == task })
	if i < 0 {
		r.Blocked = true
	} else {
		r = ws[i].Result
		ws = slices.Delete(ws, i, i+1)
	}
	if m := p.compare(line{lineInterrupt, l.pid, op}, fs, r); m != nil {
		return m, nil
	}
	return p.settle(ws)
}

// wakes compares which blocked calls have returned, and with what.
func (p *pair) wakes() (*mismatch, error) {
	if !p.anyBlocked() {
		return nil, nil
	}
	ws, err := p.real.Woken()
	if err != nil {
		return nil, err
	}
	return p.settle(ws)
}

func (p *pair) anyBlocked() bool { return len(p.blocked()) > 0 }

// blocked lists the processes that are in a blocked call, and the calls.
func (p *pair) blocked() map[int]fsfake.Call {
	all := map[int]fsfake.Call{}
	for _, pid := range p.fake.Pids() {
		if op, ok := p.fake.Blocked(fsfake.Task{Pid: pid, N: 1}); ok {
			all[pid] = op.Call
		}
	}
	return all
}

// waitsBesideOthers reports whether a task waits in flock(2) and another does.
func (p *pair) waitsBesideOthers(task fsfake.Task) bool {
	n := 0
	for _, call := range p.blocked() { // order does not matter: they are counted
		if call == fsfake.CallFlock {
			n++
		}
	}
	return n > 1 && p.blocked()[task.Pid] == fsfake.CallFlock
}

// settle has the waiters of the fake go on until nobody can any more, as they do in the
// kernel by themselves. The kernel may choose who goes on first; so any order will do in
// which those return whose calls have returned in the kernel, with the same answers.
func (p *pair) settle(ws []kernel.Wake) (*mismatch, error) {
	w := ways{seen: map[string]bool{}}
	for _, m := range p.fakes() {
		w.explore(m, ws)
	}
	if len(ws) == 0 && len(w.ends) == 0 {
		return p.nobodyGoesOn(), nil
	}
	if err := p.follow(w.ends); err != nil {
		return nil, err
	}
	ok := len(w.ends) > 0
	for _, w := range ws {
		how := "returns " + class(w.Result, "")
		p.log = append(p.log, said{text(procName(w.Task.Pid) + " " + opText(w.Op)), map[bool]string{true: how, false: "?"}[ok], how})
		if ok {
			p.count(w.Op.Call, w.Result)
		}
	}
	if !ok {
		return &mismatch{what: w.wrong}, nil
	}
	return nil, nil
}

// nobodyGoesOn words that a call still waits in the kernel and need not on the fake.
func (p *pair) nobodyGoesOn() *mismatch {
	for _, pid := range p.fake.Pids() {
		t := fsfake.Task{Pid: pid, N: 1}
		if op, blocked := p.fake.Blocked(t); blocked && p.fake.Ready(t, op) {
			c := p.fake.Clone()
			r := c.Do(t, op)
			p.log = append(p.log, said{text(procName(pid) + " " + opText(op)), "returns " + class(r, ""), "still waits"})
			return &mismatch{what: fmt.Sprintf("%s: returns %s on the fake, waits on the kernel", op.Call, class(r, ""))}
		}
	}
	panic("unreachable")
}

// ways are the orders in which the waiters of a fake can go on.
type ways struct {
	seen  map[string]bool
	ends  []*fsfake.Machine // that nobody can go on in, with the kernel's answers
	wrong string            // the first other answer, in a few words
}

// explore has whoever can go on do so, one after the other in every order. Those of ws must
// return as they did in the kernel, and nobody else.
func (w *ways) explore(m *fsfake.Machine, ws []kernel.Wake) {
	key := fmt.Sprint(len(ws), string(m.AppendKey(nil)))
	for _, k := range ws {
		key += fmt.Sprint(" ", k.Task)
	}
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	moves := false
	for _, pid := range m.Pids() {
		t := fsfake.Task{Pid: pid, N: 1}
		op, blocked := m.Blocked(t)
		if !blocked || !m.Ready(t, op) {
			continue
		}
		moves = true
		c := m.Clone()
		f := c.Do(t, op)
		i := slices.IndexFunc(ws, func(k kernel.Wake) bool { return k.Task == t })
		switch {
		case f.Blocked:
			w.explore(c, ws)
		case i >= 0 && f.Errno == ws[i].Result.Errno:
			w.explore(c, slices.Delete(slices.Clone(ws), i, i+1))
		case i >= 0:
			w.not("%s: %s on the fake, %s on the kernel, after waiting", op.Call, class(f, ""), class(ws[i].Result, ""))
		default:
			w.not("%s: returns %s on the fake, waits on the kernel", op.Call, class(f, ""))
		}
	}
	switch {
	case moves:
	case len(ws) == 0:
		w.ends = append(w.ends, m.Clone())
	default:
		w.not("%s: blocks on the fake, %s on the kernel, after waiting", ws[0].Op.Call, class(ws[0].Result, ""))
	}
}

func (w *ways) not(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

// follow makes the fake one of several that have answered the same. When they differ all
// the same, the locks that are really held decide (two who share a description have
// converted its lock). Where those do not either, later answers will: the order in which
// locks were granted shows in what F_GETLK finds first.
func (p *pair) follow(ways []*fsfake.Machine) error {
	var distinct, fit []*fsfake.Machine
	keys := map[string]bool{}
	for _, w := range ways {
		if key := string(w.AppendKey(nil)); !keys[key] {
			keys[key] = true
			distinct = append(distinct, w)
		}
	}
	if len(distinct) == 1 {
		fit = distinct
	}
	for i := 0; i < len(distinct) && len(distinct) > 1; i++ {
		*p.fake = *distinct[i].Clone()
		if _, _, err := p.lookFDs(nil); err != nil { // to know the inodes
			return err
		}
		f, r, err := p.lookLocks(p.names())
		if err != nil {
			return err
		}
		if slices.Equal(f, r) {
			fit = append(fit, distinct[i])
		}
	}
	if len(fit) == 0 { // the next look says so
		fit = distinct
	}
	if len(fit) > 0 {
		*p.fake, p.others = *fit[0].Clone(), fit[1:]
	}
	return nil
}
