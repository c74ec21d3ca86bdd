//go:build linux && amd64

package tracer_test

import (
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

var thousand = flag.Bool("thousand", false, "repeat the runs of five programs a thousand times")

// A program is one of testdata.
type program struct {
	file string
	with func(t testing.TB, file string) []string // its command
	// often: it is one of the five that are repeated a thousand times.
	often bool
}

var programs = []program{
	{"counter.sh", by("sh"), true}, {"children.sh", by("sh"), false}, {"flock.sh", by("sh", "flock"), false},
	{"tools.sh", by("sh", "mktemp", "sed", "find", "sort"), false}, {"copies.sh", by("sh", "cp", "install", "sed", "dd"), false},
	{"git.sh", by("sh", "git"), false},
	{"cwd.sh", by("sh", "find", "env"), false}, {"cwd.py", python, false},
	{"redirect.bash", by("bash"), false}, {"counter.sh", by("bash"), false},
	{"lock.py", python, false}, {"files.py", python, true}, {"descriptors.py", python, false}, {"copying.py", python, false}, {"newer.py", python, false},
	{"order.py", python, false}, {"mapped.py", python, false},
	{"lock.pl", by("perl"), false},
	{"lock.js", by("node"), false}, {"promises.js", by("node"), true},
	{"lock.c", compiled("gcc", "-O1", "-pthread", "-o"), true},
	{"lockgo/main.go", compiled("go", "build", "-o"), true},
}

// by runs a file with the first of some programs, all of which must be there.
func by(needs ...string) func(testing.TB, string) []string {
	return func(t testing.TB, file string) []string {
		for _, n := range needs {
			need(t, n)
		}
		return []string{need(t, needs[0]), file}
	}
}

func need(t testing.TB, program string) string {
	t.Helper()
	return testmain.Needs(t, program, "./fsfake/tracer")
}

// python is the interpreter itself, not a script that looks for one.
func python(t testing.TB, file string) []string {
	return []string{testmain.Python(t, "./fsfake/tracer"), file}
}

var builds sync.Map // binaries by source

// compiled runs what a compiler makes of a file.
func compiled(compiler ...string) func(testing.TB, string) []string {
	return func(t testing.TB, file string) []string {
		need(t, compiler[0])
		build := sync.OnceValues(func() (string, error) {
			bin := filepath.Join(binaries, strings.NewReplacer(".", "-", "/", "-").Replace(file))
			out, err := exec.Command(compiler[0], append(compiler[1:len(compiler):len(compiler)], bin, file)...).CombinedOutput()
			if err != nil {
				return "", &buildError{string(out)}
			}
			return bin, nil
		})
		f, _ := builds.LoadOrStore(file, build)
		bin, err := f.(func() (string, error))()
		require.NoError(t, err)
		return []string{bin}
	}
}

type buildError struct{ output string }

func (e *buildError) Error() string { return e.output }

var binaries string // a directory for them

func TestMain(m *testing.M) {
	flag.Parse()
	// What a shell or make(1) has open is no program's, natively either.
	must(unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC))
	dir, err := os.MkdirTemp("", "tracer-test")
	must(err)
	must(os.Chmod(dir, 0o755))
	binaries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// each runs f for every program that can run here.
func each(t *testing.T, f func(t *testing.T, p program, argv []string)) {
	for _, p := range programs {
		file, err := filepath.Abs(filepath.Join("testdata", p.file))
		require.NoError(t, err)
		t.Run(p.file, func(t *testing.T) { f(t, p, p.with(t, file)) })
	}
}

// A firstRun is what a program did when it ran alone for the first time.
type firstRun struct {
	outcome
	calls []string
}

var firstRuns sync.Map // firstRun by command

// first runs a program alone, unless another test has.
func first(t *testing.T, argv []string) (outcome, []string) {
	key := strings.Join(argv, "\x00")
	f, ok := firstRuns.Load(key)
	if !ok {
		var is firstRun
		is.outcome, is.calls = alone(t, newMachine(), config(argv...))
		f, _ = firstRuns.LoadOrStore(key, is)
	}
	return f.(firstRun).outcome, f.(firstRun).calls
}

// A program that runs alone cannot tell the fake from the kernel.
func TestAloneAsOnTheKernel(t *testing.T) {
	testmain.Slow(t, "interpreters take long to start", "./fsfake/tracer")
	t.Parallel()
	each(t, func(t *testing.T, _ program, argv []string) {
		want := native(t, argv...)
		got, _ := first(t, argv)
		require.Equal(t, want, got)
	})
}

// A program may lie in the virtual directory: a script, which its interpreter opens there, or
// a compiled one.
func TestProgramInTheVirtualDirectory(t *testing.T) {
	need(t, "sh")
	script := "#!/bin/sh -u\necho \"$0 $*\"; cat \"$0\" | head -1; ./other again || echo no; ./not; echo $?; cd sub && pwd && mkdir x && ../other"
	put := func(m *fsfake.Machine, name, text string, mode os.FileMode) {
		init := m.Proc(1)
		must(init.MkdirAll(dir+"/sub", 0o777))
		must(init.Chmod(dir+"/sub", 0o777))
		must(init.WriteFile(dir+"/"+name, []byte(text), 0o600))
		must(init.Chmod(dir+"/"+name, mode))
	}
	for _, how := range []string{"./deploy.sh", dir + "/deploy.sh"} {
		m := newMachine()
		put(m, "deploy.sh", script, 0o755)
		put(m, "other", "#!/usr/bin/env sh\necho other $1; exit 3", 0o755)
		put(m, "not", "#!/bin/sh\necho not", 0o644)
		got, _ := alone(t, m, config(how, "prod", "now"))
		require.Equal(t, how+" prod now\n#!/bin/sh -u\nother again\nno\n126\n"+dir+"/sub\nother\n", got.Stdout, got.Stderr)
		require.Equal(t, "exit 3", got.Exit)
	}
	bin := compiled("go", "build", "-o")(t, "testdata/lockgo/main.go")[0]
	text, err := os.ReadFile(bin)
	require.NoError(t, err)
	m := newMachine()
	put(m, "program", string(text), 0o755)
	got, _ := alone(t, m, config("./program"))
	require.Equal(t, "exit 0", got.Exit)
	require.Contains(t, got.Stdout, "renamed false")

	// One beside the directory, by a name that leads out of it.
	outside, err := filepath.Rel(dir, bin)
	require.NoError(t, err)
	got, _ = alone(t, newMachine(), config(outside))
	require.Equal(t, "exit 0", got.Exit)

	run, err := tracer.Start(config("./missing"))
	require.NoError(t, err)
	defer run.Stop()
	set, err := run.Next()
	require.NoError(t, err)
	err = run.Answer(set[0].Task, newMachine().Do(set[0].Task, set[0].Op))
	require.ErrorContains(t, err, "the program ./missing cannot be executed: no such file")
}

// Equal answers give equal calls.
func TestEqualAnswersGiveEqualCalls(t *testing.T) {
	testmain.Slow(t, "it runs programs in many languages many times", "./fsfake/tracer")
	t.Parallel()
	times := testmain.Many(2, 2, 5)
	each(t, func(t *testing.T, p program, argv []string) {
		want, calls := first(t, argv)
		n := times
		if *thousand && p.often {
			n = 1000
		}
		for range n - 1 {
			again, same := alone(t, newMachine(), config(argv...))
			require.Equal(t, calls, same)
			require.Equal(t, want, again)
		}
	})
}

// What the root leaves running goes on, also when it writes more than a pipe holds.
func TestChildrenOutliveTheirParent(t *testing.T) {
	need(t, "sh")
	got, _ := alone(t, newMachine(), config("sh", "-c", `(sleep 1; mkdir late; head -c 3000000 /dev/zero; echo $(echo end)) & exit 4`))
	require.Equal(t, "exit 4", got.Exit)
	require.Len(t, got.Stdout, 3000000+len("end\n"))
	require.Equal(t, []string{`late drwxr-xr-x ""`}, got.Tree)
}

// A lock of flock(1) is that of the command that it runs, too: kill -9 of the parent does not free
// it, on the kernel and on the fake.
func TestLockOutlivesTheParent(t *testing.T) {
	testmain.Slow(t, "it waits for what sleeps", "./fsfake/tracer")
	need(t, "flock")
	line := []string{"sh", "-c", `flock lock sleep 0.4 & sleep 0.1; kill -9 $!; flock -n lock echo free || echo held; sleep 0.6; flock -n lock echo free || echo held`}
	got, calls := alone(t, newMachine(), config(line...))
	require.Equal(t, "held\nfree\n", got.Stdout, "%v", calls)
	require.Equal(t, native(t, line...), got)
}

// A process that a signal ends while a call of it is blocked ends in the fake, too.
func TestKilledWhileBlocked(t *testing.T) {
	need(t, "flock")
	m := newMachine()
	holder(m, "lock", 50)
	got, calls := alone(t, m, config("sh", "-c", `flock lock true & sleep 1; kill -9 $!; wait $!; echo $?; flock -n lock true || echo held`))
	require.Equal(t, "137\nheld\n", got.Stdout, "%v", calls)
	for _, threads := range []string{"", "import threading; threading.Thread(target=lambda: fcntl.flock(open(\"lock\"), 2), daemon=True).start()"} {
		m := newMachine()
		holder(m, "lock", 50)
		got, calls := alone(t, m, config(python(t, "")[0], "-c", `
import os, fcntl, signal, time
f = open("lock", "w")
`+threads+`
pid = os.fork()
if pid == 0: fcntl.lockf(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_EX)
time.sleep(1); os.kill(pid, signal.SIGTERM); print(os.waitpid(pid, 0)[1]); os._exit(0)`))
		require.Equal(t, "exit 0", got.Exit, "%v", calls)
	}
}
