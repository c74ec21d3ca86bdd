//go:build linux && amd64

package tracer_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// throughKernel runs a program whose calls are made for real, and compares each answer with
// the machine's.
func throughKernel(t *testing.T, m *fsfake.Machine, c tracer.Config) outcome {
	t.Helper()
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	toItsEndThrough(t, m, run, func(tracer.Pending, fsfake.Result) {})
	exit, _ := run.Exit(100)
	return outcome{Exit: exit.String(), Stdout: run.Stdout(), Stderr: run.Stderr(), Tree: realTree(t, c.Through)}
}

// toItsEndThrough lets a run make its calls, and compares each answer with the machine's. each sees every call when it
// has been made.
func toItsEndThrough(t *testing.T, m *fsfake.Machine, run *tracer.Run, each func(p tracer.Pending, r fsfake.Result)) {
	t.Helper()
	for {
		set, err := run.Next()
		require.NoError(t, err, "%s%s", run.Stdout(), run.Stderr())
		if len(set) == 0 {
			return
		}
		p, ok := pick(m, set)
		require.True(t, ok)
		want := m.Do(p.Task, p.Op)
		got, err := run.Let(p.Task, want)
		require.NoError(t, err)
		require.Equal(t, seen(p.Op, want), seen(p.Op, got), "%v %v", p.Task, p.Op)
		each(p, got)
	}
}

// seen is what both sides must agree on.
func seen(op fsfake.Op, r fsfake.Result) fsfake.Result {
	s := fsfake.Result{Errno: r.Errno, N: r.N, Data: r.Data, Blocked: r.Blocked}
	s.Stat = fsfake.Stat{Mode: r.Stat.Mode, UID: r.Stat.UID, GID: r.Stat.GID, Size: r.Stat.Size, Nlink: r.Stat.Nlink}
	if r.Stat.Mode.IsDir() { // file systems differ
		s.Stat.Size, s.Stat.Nlink = 0, 0
	}
	if op.Call == fsfake.CallReadlink {
		s.N = 0
	}
	return s
}

// A relative path that leads in from outside leads into the directory that stands for the virtual one, which is real itself here.
func TestRelativePathFromOutsideThroughTheKernel(t *testing.T) {
	need(t, "sh")
	for _, script := range []string{
		"cd ..; echo 1 > NAME/n; cat NAME/n",
		"echo 1 > ../NAME/n; cat n",
		"cd ..; cd NAME; echo 1 > n; mv ../NAME/n m; cat m",
		"mkdir sub; cd sub; echo 1 > ../../NAME/sub/n; cat n",
		"exec 5< ..; cd /proc/self/fd/5/NAME; echo 1 > n; cat n",
	} {
		real, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		c := config("sh", "-c", strings.ReplaceAll(script, "NAME", filepath.Base(real)))
		c.Dir, c.Cwd, c.Work, c.Through = real, real, real, t.TempDir()
		got := throughKernel(t, newMachineWith(real), c)
		require.Equal(t, "exit 0", got.Exit, "%s: %s", script, got.Stderr)
		require.Equal(t, "1\n", got.Stdout, script)
		left, err := os.ReadDir(real)
		require.NoError(t, err)
		require.Empty(t, left, script)
	}
}

// Call by call, the kernel answers what the fake answers.
func TestEachCallAsOnTheKernel(t *testing.T) {
	testmain.Slow(t, "interpreters take long to start", "./fsfake/tracer")
	t.Parallel()
	each(t, func(t *testing.T, _ program, argv []string) {
		m := newMachine()
		want, _ := first(t, argv)
		c := config(argv...)
		c.Through = t.TempDir()
		require.NoError(t, os.Chmod(c.Through, 0o755))
		require.Equal(t, want, throughKernel(t, m, c))
	})
}

// Two runs share a real directory: a lock that one holds blocks the other in the kernel, and
// the calls are made in the order that the driver wants.
func TestLocksBetweenRunsOnTheKernel(t *testing.T) {
	need(t, "flock")
	real := t.TempDir()
	m := newMachine()
	uid, gid := os.Getuid(), os.Getgid()
	m.AddProc(fsfake.ProcSpec{Pid: 200, Parent: 1, UID: uint32(uid), GID: uint32(gid), Cwd: dir})
	var runs []*tracer.Run
	for _, pid := range []int{100, 200} {
		c := config("flock", "lock", "sh", "-c", "echo in; mkdir cs && rmdir cs")
		c.Through, c.Pid = real, pid
		run, err := tracer.Start(c)
		skipUntraceable(t, err)
		require.NoError(t, err)
		defer run.Stop()
		runs = append(runs, run)
	}
	step := func(run *tracer.Run, until fsfake.Call) fsfake.Result {
		for {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				return fsfake.Result{}
			}
			p := set[0]
			require.False(t, p.Blocked)
			want := m.Do(p.Task, p.Op)
			got, err := run.Let(p.Task, want)
			require.NoError(t, err)
			require.Equal(t, seen(p.Op, want), seen(p.Op, got), "%v %v", p.Task, p.Op)
			if p.Op.Call == until {
				return got
			}
		}
	}
	step(runs[0], fsfake.CallMkdir)
	require.True(t, step(runs[1], fsfake.CallFlock).Blocked)
	set, err := runs[1].Next()
	require.NoError(t, err)
	require.True(t, set[0].Blocked)
	again, err := runs[1].Let(set[0].Task, fsfake.Result{Blocked: true})
	require.NoError(t, err)
	require.True(t, again.Blocked, "the lock is held")
	step(runs[0], fsfake.CallNone) // to its end
	got, err := runs[1].Let(set[0].Task, fsfake.Result{})
	require.NoError(t, err)
	require.Equal(t, fsfake.Result{}, got, "it tries again, and gets the lock")
	set, err = runs[1].Next()
	require.NoError(t, err)
	require.False(t, set[0].Blocked)
	require.Equal(t, "in\n", runs[0].Stdout())
}

// A copy is a step that reads and one that writes, on the kernel as well: what others change between them is not copied.
func TestOthersComeBetweenTheStepsOfACopy(t *testing.T) {
	for _, c := range []struct{ name, program string }{
		{"sendfile", "os.sendfile(m, n, None, 100)"}, {"copy_file_range", "os.copy_file_range(n, m, 100)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(python(t, "")[0], "-c", "import os; n, m = os.open('n', os.O_RDONLY), os.open('m', os.O_WRONLY); "+c.program)
			cfg.Through = t.TempDir()
			m := newMachine()
			write := func(name, text string) {
				must(m.Proc(100).WriteFile(dir+"/"+name, []byte(text), 0o644))
				require.NoError(t, os.WriteFile(filepath.Join(cfg.Through, name), []byte(text), 0o644))
			}
			write("n", "old")
			write("m", "")
			run, err := tracer.Start(cfg)
			skipUntraceable(t, err)
			require.NoError(t, err)
			defer run.Stop()
			toItsEndThrough(t, m, run, func(p tracer.Pending, r fsfake.Result) {
				if p.Op.Call == fsfake.CallRead && r.Data == "old" {
					write("n", "new")
				}
			})
			got, err := os.ReadFile(filepath.Join(cfg.Through, "m"))
			require.NoError(t, err)
			require.Equal(t, "old", string(got))
			fake, err := m.Proc(1).ReadFile(dir + "/m")
			require.NoError(t, err)
			require.Equal(t, "old", string(fake))
		})
	}
}
