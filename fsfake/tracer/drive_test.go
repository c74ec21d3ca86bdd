//go:build linux && amd64

package tracer_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// An outcome is what a program leaves behind.
type outcome struct {
	Exit   string
	Stdout string
	Stderr string
	Tree   []string // "name kind mode contents", sorted
}

const dir = "/virtual/dir"

// env is what both sides run with.
var env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "LC_CTYPE=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "PERL_HASH_SEED=0"}

// newMachine is a machine with the virtual directory and the program's process.
func newMachine() *fsfake.Machine { return newMachineWith(dir) }

// newMachineWith is newMachine with another virtual directory.
func newMachineWith(dir string) *fsfake.Machine {
	m := fsfake.New(fsfake.Options{Umask: fsfake.NoUmask})
	uid, gid := os.Getuid(), os.Getgid()
	init := m.Proc(1)
	must(init.MkdirAll(dir, 0o755))
	must(init.Do(fsfake.Op{Call: fsfake.CallChown, Path: dir, Off: int64(uid), Len: int64(gid)}).Errno)
	m.SetBorder(dir)
	m.AddProc(fsfake.ProcSpec{Pid: 100, Parent: 1, UID: uint32(uid), GID: uint32(gid), Cwd: dir})
	return m
}

func must(err error) {
	if e, ok := err.(syscall.Errno); err != nil && (!ok || e != 0) {
		panic(err)
	}
}

// config runs a command in the virtual directory.
func config(argv ...string) tracer.Config {
	return tracer.Config{Argv: argv, Dir: dir, Cwd: dir, Env: env}
}

// alone runs a program against a machine: of what is asked, the first that can go on is
// answered; time passes when nothing else is left. It returns the calls with their answers.
func alone(t testing.TB, m *fsfake.Machine, c tracer.Config) (outcome, []string) {
	t.Helper()
	return aloneAs(t, m, c, 100)
}

// aloneAs is alone for a root process with another pid.
func aloneAs(t testing.TB, m *fsfake.Machine, c tracer.Config, pid int) (outcome, []string) {
	t.Helper()
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	var calls []string
	toItsEnd(t, m, run, func(p tracer.Pending, r fsfake.Result) {
		calls = append(calls, fmt.Sprintf("%v %v = %v", p.Task, p.Op, r))
	})
	exit, ok := run.Exit(pid)
	require.True(t, ok)
	return outcome{Exit: exit.String(), Stdout: run.Stdout(), Stderr: run.Stderr(), Tree: machineTree(m, dir, "")}, calls
}

// toItsEnd answers what a run asks, until it asks no more. each sees every call, which still waits for
// its answer.
func toItsEnd(t testing.TB, m *fsfake.Machine, run *tracer.Run, each func(p tracer.Pending, r fsfake.Result)) {
	t.Helper()
	for {
		set, err := run.Next()
		require.NoError(t, err, "%s%s", run.Stdout(), run.Stderr())
		if len(set) == 0 {
			return
		}
		p, ok := pickOrInterrupt(m, set)
		require.True(t, ok, "all are blocked: %v", set)
		r := answer(m, p)
		each(p, r)
		require.NoError(t, run.Answer(p.Task, r), "%v", p)
	}
}

// answer is what the machine says to a call.
func answer(m *fsfake.Machine, p tracer.Pending) fsfake.Result {
	if p.Interrupted {
		return m.Interrupt(p.Task)
	}
	return m.Do(p.Task, p.Op)
}

func pickOrInterrupt(m *fsfake.Machine, set []tracer.Pending) (tracer.Pending, bool) {
	for _, p := range set {
		if p.Interrupted {
			return p, true
		}
	}
	return pick(m, set)
}

func pick(m *fsfake.Machine, set []tracer.Pending) (tracer.Pending, bool) {
	for _, timers := range []bool{false, true} {
		for _, p := range set {
			if p.Timer == timers && m.Ready(p.Task, p.Op) {
				return p, true
			}
		}
	}
	return tracer.Pending{}, false
}

func skipUntraceable(t testing.TB, err error) {
	t.Helper()
	testmain.Traced(t, err, "./fsfake/tracer")
}

// native runs a program on the kernel in an empty directory.
func native(t testing.TB, argv ...string) outcome {
	t.Helper()
	work := t.TempDir()
	require.NoError(t, os.Chmod(work, 0o755))
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = work, env
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); !ok {
		require.NoError(t, err)
	}
	exit := tracer.Exit{Status: cmd.ProcessState.ExitCode()}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		exit = tracer.Exit{Signal: int(s.Signal())}
	}
	return outcome{Exit: exit.String(), Stdout: stdout.String(), Stderr: stderr.String(), Tree: realTree(t, work)}
}

func realTree(t testing.TB, root string) []string {
	var tree []string
	require.NoError(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		var content string
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = string(b)
		case fi.Mode()&fs.ModeSymlink != 0:
			content, _ = os.Readlink(name)
		}
		tree = append(tree, entry(strings.TrimPrefix(name, root+"/"), fi.Mode(), content))
		return nil
	}))
	slices.Sort(tree)
	return tree
}

func machineTree(m *fsfake.Machine, name, rel string) []string {
	id, _ := m.Lookup(name)
	var tree []string
	v := m.View(id)
	for _, n := range v.Names {
		init := m.Proc(1)
		fi, err := init.Lstat(name + "/" + n)
		must(err)
		var content string
		switch {
		case fi.IsDir():
			tree = append(tree, machineTree(m, name+"/"+n, rel+n+"/")...)
		case fi.Mode()&fs.ModeSymlink != 0:
			content, _ = init.Readlink(name + "/" + n)
		default:
			b, err := init.ReadFile(name + "/" + n)
			must(err)
			content = string(b)
		}
		tree = append(tree, entry(rel+n, fi.Mode(), content))
	}
	slices.Sort(tree)
	return tree
}

func entry(name string, mode fs.FileMode, content string) string {
	if mode&fs.ModeSymlink != 0 {
		mode = fs.ModeSymlink
	}
	return fmt.Sprintf("%s %v %q", name, mode, content)
}
