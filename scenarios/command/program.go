package command

import (
	"errors"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/model"
	"lockpick/scenarios"
)

// program is the program of a process. What the command is known to do comes from the record;
// from there on it runs under the tracer, and asks the machine whatever the command asks.
func (s *Spec) program(process, _ int) scenarios.Program {
	if f := s.Commands[process].Func; f != nil {
		return s.function(f)
	}
	return func(t *scenarios.Task) {
		d := &driver{spec: s, t: t, process: process, root: scenarios.Pid(process), children: map[int]bool{},
			order: s.mixed, orderKnown: s.mixed > 0}
		if err := d.recorded(); err != nil {
			t.Fault(fmt.Errorf("command: %s (%s): %w", t.Process, s.Commands[process], err))
		}
	}
}

// A driver answers the calls of one run of a command.
type driver struct {
	spec     *Spec
	t        *scenarios.Task
	process  int
	root     int
	children map[int]bool // by pid: it runs
	run      *tracer.Run
	probes   bool        // one more run, alone, with time passing
	exit     tracer.Exit // how it has ended
	killed   bool        // its first process was
	choices  int         // made among its own calls
	rounds   rounds      // between its sleeps
	inside   bool
	markDir  bool // what marks the section is a directory
	acquires bool // an acquisition has been invoked
	changed  bool // a call of it has changed a file

	// The execution in the record: how many calls it has made, the place where it made the last
	// one, or nil, and the answer there.
	calls  int
	at     *place
	answer fsfake.Result
	notes  []any           // since that call
	told   []fsfake.Result // answers that were given while the record served, and still are to be

	// serves is where the command is while the record serves, and nil afterwards.
	serves *place

	// stands is the task whose call waits on the machine although nobody has been told that it does.
	stands fsfake.Task

	records []heldBy // what its processes may hold record locks by
	wentOff int      // timers, while a call waited for a lock

	uses   map[descriptorOf]use // by its threads, see threads.go
	looked bool                 // the call that goes on is a look that may have gone first

	converts bool // the call that goes on gives a lock back and then waits for another

	parents []int         // pids by which processes were started
	resting []fsfake.Task // whose calls rest
	// overtaking are the pids before whose calls one goes that begins or ends a process, overtaken those before which such
	// a one has printed. hasPrinted is how much was printed.
	overtaking, overtaken []int
	hasPrinted            int

	lineage int  // which execution it is, or is cloned from
	cloned  bool // it is no execution from the start
	// leaves: a snapshot is to be left on the way.
	leaves  bool
	answers []fsfake.Result // all so far, while leaves
	reply   *reply          // that it has not been told yet
	seen    int             // looks at processes so far
	chooser fsfake.Task     // who chooses next

	// order is that of its own calls, where few are followed: 0 for the first. orderKnown: it was chosen, or is drawn.
	order      uint64
	orderKnown bool
	went       fsfake.Task   // in such an order
	vain       []fsfake.Task // have tried in vain to lock since
	slept      int           // timers have gone off where all others had

	alike   *place // where it would be if its first process had not been killed, as far as that is known
	leaveAt []int  // after so many calls it may
}

// A reply is the answer to a task's call.
type reply struct {
	task   fsfake.Task
	answer fsfake.Result
}

// recorded follows the record as far as it goes, and an execution from there on. That is one from
// the start, which is told the same answers; or one from a snapshot on the way, while it is only learned
// what the command does, and when that is looked at again where executions from the start have made the
// same calls. A kill that leaves no process of the command needs no execution: its threads die together.
func (d *driver) recorded() error {
	rec, learns := d.spec.record, d.t.Learning != nil && !d.t.Learning.Again
	d.t.Note(scenarios.Remembers{Memory: d.memory, State: d.state})
	var last *place
	var lone []int // where no child runs
	for at := rec.begin(d.spec.start(d.process), learns); at != nil; {
		for _, v := range at.notes {
			d.t.Note(v)
		}
		if at.ended {
			d.exit = at.exit
			return nil
		}
		r := d.lets(at.op)
		plain, _ := withoutDelay(r)
		killed, is := plain.Value.(scenarios.Killed)
		if is && at.children == 0 { // no call follows, so there is nothing to execute
			d.serves = nil
			return nil
		}
		if at.children == 0 {
			lone = append(lone, len(d.told))
		}
		d.told = append(d.told, r)
		was := at
		last, at = at, rec.after(at, r, learns)
		if is && was.apart && !killed.Begun {
			var whole bool
			if at, whole = d.bereft(was.again(), at, learns); whole {
				return nil
			}
			last = nil
		}
		d.serves = at
	}
	if learns || d.t.Learning != nil && (d.t.Learning.Tries || rec.mayClone(d, last)) {
		return d.execute(lone)
	}
	return d.drive()
}

// drive executes the command from its start.
func (d *driver) drive() error {
	switch s := d.spec; {
	case s.stopped != nil && s.stopped() != nil:
		return s.stopped()
	case s.tooLong(1):
		return ErrTooLong
	}
	config := d.spec.config(d.process)
	config.Pid, config.AskTime = d.root, d.probes || d.spec.lasting
	run := d.spec.early.take(d.process, d.root)
	if run == nil {
		var err error
		if run, err = tracer.Start(config); err != nil {
			return err
		}
	}
	d.run, d.lineage = run, d.spec.record.begins()
	return d.follow()
}

// follow answers the run's calls to its end.
func (d *driver) follow() error {
	defer func() {
		d.spec.record.did(d.run)
		if d.run.Renamed() {
			d.spec.record.programs.renames(d.process)
		}
		d.run.Stop()
	}()
	for {
		set, err := next(d.run, d.reply)
		if err != nil {
			return err
		}
		if d.reply != nil {
			d.prints(d.reply.task)
		}
		d.reply = nil
		if err := d.leave(set); err != nil {
			return err
		}
		if len(set) == 0 {
			return d.ended()
		}
		set = d.inOrder(set)
		p, err := d.pick(set)
		if err != nil {
			return err
		}
		if p != nil {
			d.wake(set, *p)
		}
		switch {
		case p == nil: // killed before it has chosen
		case p.Signalled:
			err = d.signalled(*p)
		case d.converts:
			err = d.convert(*p)
		case d.timed(set) && p.Task != d.stands:
			err = d.waitInTime(*p, set[1:])
		case d.spec.ownOrders > 0 || d.order > 0:
			err = d.goesInTurn(*p)
		default:
			err = d.goOn(*p)
		}
		if err != nil {
			return err
		}
	}
}

// goOn makes a call on the machine, and tells the command what that answers.
func (d *driver) goOn(p tracer.Pending) error {
	r, err := d.ask(p)
	if err != nil || notMade(r) {
		return err
	}
	d.reply = &reply{p.Task, r}
	return nil
}

// note notes what the command does before its next call.
func (d *driver) note(v any) { d.notes = append(d.notes, v) }

// do makes a call on the machine, unless it was made while the record served.
func (d *driver) do(op fsfake.Op) (fsfake.Result, error) {
	if err := d.come(&place{op: op, children: len(d.children)}); err != nil {
		return fsfake.Result{}, err
	}
	if len(d.told) > 0 {
		d.answer, d.told = d.told[0], d.told[1:]
	} else {
		d.answer = d.lets(op)
	}
	d.calls++
	d.changed = d.changed || op.Call.Changes() && d.answer.OK()
	if d.leaves {
		d.answers = append(d.answers, d.answer)
	}
	d.alike = d.spec.record.alike(d.alike, d.answer, true)
	r, by := withoutDelay(d.answer)
	if by > 0 {
		d.run.Pass(by)
	}
	if killed, is := r.Value.(scenarios.Killed); is {
		if d.at != nil && d.at.apart && !killed.Begun {
			d.alike = d.at.again()
		}
		d.killed = true
		return r, d.run.Kill(d.root)
	}
	if s, is := r.Interrupts(); is {
		d.stands = fsfake.Task{}
		return r, d.run.Signal(s)
	}
	return r, nil
}

// come records where the command has come, and passes on what it has noted.
func (d *driver) come(is *place) (err error) {
	is.notes, is.chooser = d.notes, d.chooser
	d.notes, d.chooser = nil, fsfake.Task{}
	if d.looks(is); d.killed {
		err = d.sees(is)
	}
	if err != nil {
		return err
	}
	if d.at, err = d.spec.record.come(d, is); err != nil {
		return err
	}
	if len(d.told) == 0 {
		for _, v := range is.notes {
			d.t.Note(v)
		}
	}
	return nil
}

// ask makes a call of the command on the machine.
func (d *driver) ask(p tracer.Pending) (fsfake.Result, error) {
	op := p.Op
	switch op.Call {
	case fsfake.CallFork:
		op = fsfake.Op{Call: fsfake.CallForkAs, Pid: d.newPid(p.Task.Pid)}
		d.parents = append(slices.Clip(d.parents), p.Task.Pid)
	case fsfake.CallExit:
		if p.Task.Pid == d.root && !d.probes {
			op = fsfake.Op{Call: fsfake.CallEnd, Flags: endFlags(p.Exit) | d.idle(), Data: d.printed()}
		}
	}
	if p.Clock && !d.probes {
		d.note(scenarios.ClockSeen)
	}
	if p.Maps {
		d.note(scenarios.Mapped)
	}
	if err := d.maySignal(op); err != nil {
		return fsfake.Result{}, err
	}
	d.using(p, d.looked)
	acquires := d.acquires
	leaves := d.before(op, p)
	if main := (fsfake.Task{Pid: d.root, N: 1}); p.Task != main {
		d.note(scenarios.By{Task: p.Task})
	}
	r, err := d.do(op)
	if err != nil {
		return r, err
	}
	if d.spec.read {
		r = justRead(r)
	}
	if killed, is := r.Value.(scenarios.Killed); is {
		if !killed.Begun {
			d.acquires = acquires // what was noted of it is void, and it is asked again if it still stands
		}
		if op.Call == fsfake.CallForkAs {
			delete(d.children, op.Pid)
		}
		if killed.Begun {
			d.stands = p.Task
		}
		return r, nil
	}
	if _, is := r.Interrupts(); is {
		if op.Call == fsfake.CallForkAs {
			delete(d.children, op.Pid)
		}
		return r, nil
	}
	d.rounds.add(op, r, p.Timer)
	if p.Task == d.stands {
		d.stands = fsfake.Task{}
	}
	if op.Call == fsfake.CallExit {
		delete(d.children, p.Task.Pid)
	}
	if r.OK() {
		d.locks(p.Task.Pid, op)
	}
	if looksAtKin(op) && !d.looksAtOwn(p.Task.Pid, op) {
		d.spec.record.looked()
	}
	if d.probes && op.Call == fsfake.CallSleep {
		d.note(fsfake.RoundTop{})
	}
	return r, d.after(op, p.Path, r, leaves)
}

// endFlags is how a process ends, as a [fsfake.CallEnd] says it.
func endFlags(e tracer.Exit) int { return e.Status + e.Signal<<8 }

// idle is [fsfake.ExitIdle] at the end of the first process: the command has changed no file, and no process that it
// has started can change one later. Who makes the call leaves it out where that does not matter.
func (d *driver) idle() int {
	if d.changed || len(d.children) > 0 || len(d.run.Outside()) > 0 {
		return 0
	}
	return fsfake.ExitIdle
}

// lets makes a call of a place on the machine.
func (d *driver) lets(op fsfake.Op) fsfake.Result {
	if op.Call == fsfake.CallEnd && !d.spec.Refused.Skips {
		op.Flags &^= fsfake.ExitIdle
	}
	return d.t.Do(op)
}

// printed is what the command has printed, when its first process ends.
func (d *driver) printed() string {
	if d.spec.NoStdout {
		return ""
	}
	return d.run.Stdout()
}

// onMark reports whether a call is about the name that marks the critical section.
func (d *driver) onMark(name string) bool { return name == d.spec.at(d.spec.Inside) }

// removes reports whether a call takes the mark away if it succeeds. Programs try to unlink what they
// then remove as a directory: a call that cannot succeed is none.
func (d *driver) removes(op fsfake.Op, name string) bool {
	switch {
	case !d.onMark(name):
		return false
	case op.Call == fsfake.CallRename:
		return op.Flags&fsfake.RENAME_EXCHANGE == 0
	}
	return op.Call == fsfake.CallRmdir && d.markDir || op.Call == fsfake.CallUnlink && !d.markDir
}

// endsLast reports whether a call by a process is the end of the last one of the command.
func (d *driver) endsLast(op fsfake.Op, pid int) bool {
	if op.Call == fsfake.CallEnd {
		return len(d.children) == 0
	}
	_, ended := d.run.Exit(d.root)
	return op.Call == fsfake.CallExit && ended && !d.killed && d.children[pid] && len(d.children) == 1
}

// before notes what begins with a call: an attempt to get inside, or the way out.
func (d *driver) before(op fsfake.Op, p tracer.Pending) (leaves bool) {
	if d.spec.Inside == "" {
		return false
	}
	leaves = d.inside && (d.removes(op, p.Path) || d.endsLast(op, p.Task.Pid))
	switch {
	case leaves:
		d.note(scenarios.LetGo{})
		d.note(scenarios.Invoked{Input: model.Release{Owner: d.t.Process}})
	case !d.inside && !d.acquires:
		d.note(scenarios.Invoked{Input: model.Acquire{Owner: d.t.Process}})
		d.acquires = true
	}
	return leaves
}

// makes reports whether a call makes the mark. Whoever finds it there when he makes it is inside as well: so is
// somebody else.
func (d *driver) makes(op fsfake.Op, name string, r fsfake.Result) bool {
	return makesName(op) && d.onMark(name) && (r.Errno == 0 || r.Errno == fsfake.EEXIST || r.Errno == fsfake.EISDIR)
}

// makesName reports whether a call makes the mark where it has that name.
func makesName(op fsfake.Op) bool {
	return op.Call == fsfake.CallMkdir || op.Call == fsfake.CallSymlink || op.Call == fsfake.CallMknod ||
		op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0
}

// after notes what ended with a call. The error is that the mark does not say where the section ends.
func (d *driver) after(op fsfake.Op, name string, r fsfake.Result, leaves bool) error {
	if d.spec.Inside == "" {
		return nil
	}
	switch removes := op.Call == fsfake.CallRmdir || op.Call == fsfake.CallUnlink; {
	case leaves && r.Errno != 0 && r.Errno != fsfake.ENOENT:
		return fmt.Errorf("%s, which marks its critical section, cannot be removed (%s: %s): keep it empty, and remove it in one call", d.spec.Inside, op, fsfake.ErrnoName(r.Errno))
	case leaves:
		d.note(scenarios.Returned{Output: model.Released{}})
		d.inside, d.acquires = false, false
	case d.inside && removes && d.onMark(name) && r.Errno == 0:
		return fmt.Errorf("%s, which marks critical sections, is a file here and a directory there: make it one of both everywhere", d.spec.Inside)
	case !d.inside && d.makes(op, name, r):
		d.note(scenarios.Returned{Output: model.Acquired{OK: true}})
		d.note(scenarios.Holding{Path: d.spec.at(d.spec.Inside), FD: -1})
		d.inside, d.markDir = true, op.Call == fsfake.CallMkdir || r.Errno == fsfake.EISDIR
	}
	return nil
}

// said is noted at the end: what the command has written to its standard error, and which of its calls were refused
// because they are not modelled.
type said struct {
	text    string
	refused []string
}

// ErrTooLong is that a kill takes more than [mostKilledRuns] executions in a trial of a repair.
var ErrTooLong = fmt.Errorf("it takes more than %d runs of the commands", mostKilledRuns)

var errNeverStarted = errors.New("it made no call in the virtual directory and was not asked to end")

// ended is the end of the command and all that it has started.
func (d *driver) ended() error {
	var ok bool
	if d.exit, ok = d.run.Exit(d.root); !ok {
		return errNeverStarted
	}
	d.note(said{d.run.Stderr(), d.run.Refused()})
	if d.spec.Inside != "" && d.acquires && !d.inside && !d.killed {
		d.note(scenarios.Returned{Output: model.Acquired{}})
	}
	return d.come(&place{ended: true, exit: d.exit})
}
