//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"lockpick/internal/content"
	"lockpick/internal/view"
)

// workerName is the name by which a process knows that it is to run a job in a view.
const workerName = "lockpick-native"

// Only here does the main goroutine run on the main thread for sure, which is the one that traces.
func init() {
	if len(os.Args) > 0 && os.Args[0] == workerName {
		runtime.LockOSThread()
		debug.SetGCPercent(-1) // it lives for seconds
		debug.SetMemoryLimit(256 << 20)
		_ = json.NewEncoder(os.Stdout).Encode(work())
		os.Exit(0)
	}
}

// execute runs a job in a view, in a process of its own, with an environment.
func execute(ctx context.Context, j *job, env []string) (*run, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.Limit+j.stalled()+5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/proc/self/exe")
	var out, complaint bytes.Buffer
	c.Args, c.Env, c.SysProcAttr = []string{workerName}, env, view.Attr()
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), &out, &complaint
	if err := c.Start(); err != nil {
		return nil, errors.New(view.Reason(err))
	}
	waited := c.Wait()
	var r run
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return nil, fmt.Errorf("a native run came to no end: %v %v %.300s", waited, ctx.Err(), complaint.Bytes())
	}
	if r.Err != "" {
		return nil, errors.New(r.Err)
	}
	return &r, nil
}

// work is what the process in the view does.
func work() *run {
	quiet()
	// a command may send them to all
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return &run{Err: err.Error()}
	}
	v, err := view.Enter(view.Options{Dir: j.Dir, From: j.From, Copy: j.Copy, Below: j.Below})
	if err != nil {
		return &run{Err: view.Reason(err)}
	}
	for _, p := range j.Outside { // an overlay copies a file up before it is changed: now, so that nobody sees that
		if i, err := os.Lstat(p); err == nil && i.Mode().IsRegular() {
			if f, err := os.OpenFile(p, os.O_WRONLY, 0); err == nil {
				f.Close()
			}
		}
	}
	r := &runner{
		job: &j, v: v, tasks: map[int]*task{}, early: map[int]bool{}, leads: map[string]bool{},
		rng: rand.New(rand.NewPCG(j.Seed, 1)), deadline: time.Now().Add(j.Limit), res: &run{At: time.Now()},
	}
	r.held, r.dates = content.Large(j.Dir), content.DatesBelow(j.Dir)
	if err := r.run(); err != nil {
		return &run{Err: err.Error()}
	}
	if err := r.gather(); err != nil {
		return &run{Err: err.Error()}
	}
	return r.res
}

// gather notes how the commands ended and what they leave behind.
func (r *runner) gather() error {
	res := r.res
	res.Took = time.Since(res.At)
	for i, c := range r.cmds {
		printed, err := os.ReadFile(r.v.File(fmt.Sprintf("out%d", i)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		res.Exits, res.Printed = append(res.Exits, c.exit), append(res.Printed, string(printed))
		res.Pids, res.Calls = append(res.Pids, c.pids), append(res.Calls, c.calls)
	}
	res.Tree, res.Modes = map[string]string{}, map[string]string{}
	if !r.finds("--recover", r.job.Recover, false) || !r.finds("--read", r.job.Read, true) {
		return nil
	}
	err := filepath.WalkDir(r.job.Dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case name == r.job.Dir || errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			res.Tree[strings.TrimPrefix(name, r.job.Dir+"/")] = "unreadable"
			return nil
		}
		below := strings.TrimPrefix(name, r.job.Dir+"/")
		res.Tree[below] = content.Of(name, e.Type(), r.held[name])
		if i, err := e.Info(); err == nil {
			r.mode(below, i)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory itself may be gone
		return err
	}
	changes, err := r.v.Changes()
	res.Outside = map[string]string{}
	for _, c := range changes {
		switch {
		case c.Removed:
			res.Outside[c.Path] = "removed"
		case !c.Mode.IsDir():
			res.Outside[c.Path] = content.Of(c.Path, c.Mode.Type(), nil)
			if i, err := os.Lstat(c.Path); err == nil {
				r.mode(c.Path, i)
			}
		}
	}
	return err
}

// finds runs a command that looks at what is left, and reports whether files are compared as well.
func (r *runner) finds(name string, argv []string, prints bool) bool {
	if len(argv) == 0 || r.res.Cut != "" {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.job.Limit)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.WaitDelay = time.Second
	text, err := c.Output()
	if !prints {
		text = nil
	}
	r.res.Tree[name] = fmt.Sprintf("%v %q", c.ProcessState, text)
	return !prints && err == nil
}

// mode notes the permissions of a file, whose it is where it is not the caller's, and the time that it was given.
func (r *runner) mode(name string, i fs.FileInfo) {
	var is []string
	if mode := i.Mode(); mode&fs.ModeSymlink == 0 {
		is = append(is, (mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)).String())
	}
	if st, known := i.Sys().(*syscall.Stat_t); known && (int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid()) {
		is = append(is, fmt.Sprintf("of %d:%d", st.Uid, st.Gid))
	}
	if at := r.dates.Of(name, i.ModTime()); at != "" && i.Mode().IsRegular() {
		is = append(is, "time "+at)
	}
	if len(is) > 0 {
		r.res.Modes[name] = strings.Join(is, " ")
	}
}

// A command is one of those that run.
type command struct {
	argv    []string
	started bool
	pid     int
	exit    string // of its first process
	calls   int
	timers  [][3]uint64 // that run, so that a signal may come: who has set each, by which call, and its number
	killed  bool
	spared  int // see mostSpared
	tasks   []int
	pids    []int // all that it ever had
}

// A task is a thread of a command.
type task struct {
	tid, cmd int
	held     bool
	step     int     // of the script, that its call is; negative for none
	rank     float64 // where tasks are ranked, the highest goes first
}

// start starts a command: stopped at its first instruction, it gets the filter and goes on.
func (r *runner) start(i int) error {
	c := r.cmds[i]
	c.started = true
	out, err := os.Create(r.v.File(fmt.Sprintf("out%d", i)))
	if err != nil {
		return err
	}
	defer out.Close()
	in := r.v.File(fmt.Sprintf("in%d", i))
	if err := os.WriteFile(in, []byte(r.job.Commands[i].Stdin), 0o600); err != nil {
		return err
	}
	stdin, err := os.Open(in)
	if err != nil {
		return err
	}
	defer stdin.Close()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stdin, cmd.Stdout = stdin, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.pid = cmd.Process.Pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(c.pid, &ws, syscall.WALL, nil); err != nil {
		return err
	}
	if err := trace(c.pid); err != nil {
		return err
	}
	r.add(c.pid, i)
	return syscall.PtraceCont(c.pid, 0)
}

func (r *runner) add(tid, cmd int) {
	c := r.cmds[cmd]
	r.tasks[tid] = &task{tid: tid, cmd: cmd, rank: r.rng.Float64()}
	c.tasks, c.pids = append(c.tasks, tid), append(c.pids, tid)
}

func (r *runner) remove(t *task) {
	c := r.cmds[t.cmd]
	c.tasks = slices.DeleteFunc(c.tasks, func(tid int) bool { return tid == t.tid })
	delete(r.tasks, t.tid)
}
