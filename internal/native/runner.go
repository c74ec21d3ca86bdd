//go:build linux && amd64

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"lockpick/internal/content"
	"lockpick/internal/lists"
	"lockpick/internal/view"
)

// A runner lets commands run in an order. One of them has the turn; the others are held at their next shared call.
type runner struct {
	job       *job
	v         *view.View
	cmds      []*command
	tasks     map[int]*task
	early     map[int]bool // tasks that were stopped before their parents told of them
	leads     map[string]bool
	held      map[string][]byte // what large files held; see content
	dates     content.Dates
	rng       *rand.Rand
	turn      int
	left      int // shared calls of the turn; negative for any number
	events    int
	abandoned int // tasks that are not waited for
	deadline  time.Time
	script    script
	signals   bool // the script has commands send signals
	res       *run
}

// run carries out the script, then the turns, then everything to its end.
func (r *runner) run() error {
	for _, c := range r.job.Commands {
		r.cmds = append(r.cmds, &command{argv: c.Argv})
	}
	r.script = script{steps: r.job.Script, taken: make([]bool, len(r.job.Script)), window: r.job.Window}
	r.signals = slices.ContainsFunc(r.job.Script, func(s Step) bool { return s.Call == "kill" })
	for r.script.next() {
		i := r.script.command()
		if i == Nobody {
			time.Sleep(r.job.StallFor)
			r.deadline = r.deadline.Add(r.job.StallFor)
			continue
		}
		if end, err := r.give(i, -1); err != nil || end == unended {
			return err
		}
		if r.script.kills() {
			r.kill(i)
		}
	}
	r.res.Skipped, r.res.Parts = r.script.skipped(), len(r.res.Turns)
	r.script.steps = nil
	for k, t := range r.job.Turns {
		if r.over(t.Command) {
			continue
		}
		end, err := r.give(t.Command, t.Calls)
		if err != nil || end == unended {
			return err
		}
		there := end == held && r.res.Turns[len(r.res.Turns)-1].Calls == t.Calls
		if r.job.Kill != "" && len(r.job.Script) == 0 && k == r.job.KillAfter && there {
			r.kill(t.Command)
		}
	}
	return r.finish()
}

// kill kills a command, or if it has been killed what it has started, and waits until that is gone.
func (r *runner) kill(i int) {
	c := r.cmds[i]
	if c.exit != "" && !c.killed { // it has ended by itself
		return
	}
	c.killed = true
	r.res.Killed = append(r.res.Killed, len(r.res.Turns))
	all := r.job.Kill == withChildren || c.exit != ""
	for _, tid := range slices.Clone(c.tasks) {
		if all || tid == c.pid {
			_ = syscall.Kill(tid, syscall.SIGKILL)
		}
	}
	r.turn, r.left = i, 0
	for (c.exit == "" || all && len(c.tasks) > 0) && r.collect(0) {
	}
}

// over reports whether a command has ended.
func (r *runner) over(i int) bool { return r.cmds[i].started && len(r.cmds[i].tasks) == 0 }

// manyCalls is how many shared calls a command makes that goes round in vain: those of some rounds.
const manyCalls = 20

// finish lets all commands run to their ends, one after the other as far as they can. Where some are to go round, it
// lets all go on in turn until these have made many calls and the others wait or have ended.
func (r *runner) finish() error {
	calls, begin := -1, lists.Map(r.cmds, func(c *command) int { return c.calls })
	if len(r.job.Polls) > 0 {
		calls = manyCalls
	}
	for still := 0; ; {
		open, moved, round := false, false, calls > 0
		for i, c := range r.cmds {
			polls := slices.Contains(r.job.Polls, i)
			if r.over(i) || !c.started && r.job.Only {
				round = round && !polls
				continue
			}
			open = true
			events := r.events
			end, err := r.give(i, calls)
			if err != nil || end == unended {
				return err
			}
			round = round && (c.calls >= begin[i]+manyCalls || end == waiting && !polls)
			moved = moved || r.events != events || end == ended || end == asleep
		}
		switch {
		case !open:
			return nil
		case round:
			r.res.Cut = polling
			return nil
		case moved:
			still = 0
		case still < 2:
			still++
		case !r.stirs(500 * time.Millisecond):
			if slices.ContainsFunc(r.cmds, func(c *command) bool { return len(c.tasks) > 0 && c.exit == "" }) {
				r.res.Cut = deadlock
				if r.abandoned > 0 { // what sleeps there may hold what the others wait for
					r.res.Cut = string(unended)
				}
			}
			return nil
		}
	}
}

// stirs reports whether anything happens within a time in which all wait.
func (r *runner) stirs(within time.Duration) bool {
	events := r.events
	for end := time.Now().Add(within); time.Now().Before(end) && r.events == events; {
		if !r.collect(unix.WNOHANG) {
			time.Sleep(time.Millisecond)
		}
	}
	return r.events != events
}

// give lets a command go on for so many shared calls, and waits until it does not go on.
func (r *runner) give(i, calls int) (rest, error) {
	c := r.cmds[i]
	before := c.calls
	r.turn, r.left = i, calls
	if !c.started {
		if err := r.start(i); err != nil {
			if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) &&
				!errors.Is(err, fs.ErrPermission) {
				return "", fmt.Errorf("starting %q: %w", c.argv[0], err)
			}
			c.exit = "exit 127"
		}
	}
	for _, tid := range slices.Clone(c.tasks) {
		if t := r.tasks[tid]; t != nil && t.held && r.left != 0 {
			r.release(t)
		}
	}
	end := r.settle(i)
	r.res.Turns = append(r.res.Turns, turnEnd{i, c.calls - before, end})
	if end == unended {
		r.res.Cut = string(unended)
	}
	return end, nil
}

// release lets a held task make its call, if the script has it now.
func (r *runner) release(t *task) {
	if !r.script.allows(t.cmd, t.step) {
		return
	}
	t.held = false
	if r.signals && signalled(t.tid) && again(t.tid) == nil {
		_ = syscall.PtraceCont(t.tid, 0)
		return
	}
	r.goes(t)
}

// goes counts a shared call, and lets the task make it.
func (r *runner) goes(t *task) {
	r.cmds[t.cmd].calls++
	if r.left > 0 {
		r.left--
	}
	r.script.take(t.cmd, t.step)
	_ = syscall.PtraceCont(t.tid, 0)
}

// collect handles an event of a task. It waits for one, until a signal comes, unless options say WNOHANG, and reports
// whether there was one.
func (r *runner) collect(options int) bool {
	var status uint32 // the scheduler is not told: who waits here goes on within a microsecond
	got, _, err := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)),
		uintptr(unix.WALL|options), 0, 0, 0)
	if err == unix.ECHILD { // there is nobody to wait for
		time.Sleep(tick)
	}
	if err != 0 || got == 0 {
		return false
	}
	tid, ws := int(got), syscall.WaitStatus(status)
	r.events++
	t := r.tasks[tid]
	switch {
	case t == nil:
		if ws.Stopped() {
			r.early[tid] = true
		}
	case ws.Exited() || ws.Signaled():
		r.ends(t, ws)
	case ws.Stopped():
		r.stopped(t, ws)
	}
	return true
}

func (r *runner) ends(t *task, ws syscall.WaitStatus) {
	c := r.cmds[t.cmd]
	r.remove(t)
	if t.tid != c.pid {
		return
	}
	if c.exit = fmt.Sprintf("exit %d", ws.ExitStatus()); ws.Signaled() {
		c.exit = fmt.Sprintf("signal %d", ws.Signal())
	}
}

// stopped handles a stop of a task.
func (r *runner) stopped(t *task, ws syscall.WaitStatus) {
	sig := ws.StopSignal()
	switch {
	case sig == syscall.SIGSTOP: // that of a new task
		sig = 0
	case sig != syscall.SIGTRAP:
	case ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		r.atCall(t)
		return
	default:
		sig = 0
		r.atEvent(t, ws.TrapCause())
	}
	_ = syscall.PtraceCont(t.tid, int(sig))
}

// atEvent notes new tasks, and those that an exec has ended.
func (r *runner) atEvent(t *task, event int) {
	other, err := syscall.PtraceGetEventMsg(t.tid)
	if err != nil {
		return
	}
	tid := int(other)
	switch event {
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		r.add(tid, t.cmd)
		if r.early[tid] {
			delete(r.early, tid)
			_ = syscall.PtraceCont(tid, 0)
		}
	case unix.PTRACE_EVENT_EXEC:
		if old := r.tasks[tid]; old != nil && tid != t.tid {
			r.remove(old)
		}
	}
}

// atCall lets a task make a call, or holds it there.
func (r *runner) atCall(t *task) {
	s, err := r.look(t)
	if err != nil || len(s.paths) == 0 && !s.ends {
		_ = syscall.PtraceCont(t.tid, 0)
		return
	}
	t.step = r.script.match(t.cmd, s.name, s.paths)
	c := r.cmds[t.cmd]
	mine := r.turn == t.cmd && r.left != 0
	waits := mine && len(c.tasks) > 1 && (r.job.Ranked || r.job.Jitter > 0 && r.rng.Float64() < r.job.Jitter)
	if !mine || waits || !r.script.allows(t.cmd, t.step) {
		t.held = true
		return
	}
	r.goes(t)
}
