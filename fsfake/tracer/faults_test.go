//go:build linux && amd64

package tracer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// failure runs a program to its fault.
func failure(t *testing.T, c tracer.Config) error {
	t.Helper()
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	m := newMachine()
	m.AddProc(fsfake.ProcSpec{Pid: 7, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Cwd: "/"}) // somebody else
	for {
		set, err := run.Next()
		if err != nil {
			return err
		}
		require.NotEmpty(t, set, "it ended: %s%s", run.Stdout(), run.Stderr())
		p, ok := pick(m, set)
		require.True(t, ok)
		if err := run.Answer(p.Task, m.Do(p.Task, p.Op)); err != nil {
			return err
		}
	}
}

// What the tracer does not handle is an error with the program's name and the call.
func TestFaults(t *testing.T) {
	testmain.Slow(t, "it runs programs that are faulty, with all their time limits", "./fsfake/tracer")
	t.Parallel()
	python := python(t, "")[0]
	for _, c := range []struct{ name, program, want string }{
		{"shared mapping", `import mmap
f = open("f", "w+b"); f.write(b"x"); f.flush()
mmap.mmap(f.fileno(), 1)`, `mmap.*a shared mapping of a file of the fake \(/virtual/dir/f|f\) is not modelled`},
		{"datagram socket", `import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("s")`,
			`bind.*a socket.* \(s\) that is no stream is not modelled`},
		{"accept", `import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); s.accept()`,
			`accept.*what others send to the socket s is not modelled`},
		{"poll of a socket", `import socket, select
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); select.select([s], [], [], 1)`,
			`what others send to the socket s is not modelled`},
		{"write to a socket", `import socket, os
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("s"); os.write(c.fileno(), b"x")`,
			`write.*what the owner of the socket s sends is not modelled`},
		{"more connections than a queue has room for", `import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(20)
cs = [socket.socket(socket.AF_UNIX) for _ in range(22)]
for c in cs[:21]: c.connect("s")
try: cs[21].connect("s")
finally: __import__("os")._exit(0)`, `connecting to a socket whose queue of connections is full is not modelled`},
		{"socket with two descriptors", `import socket, os
s = socket.socket(socket.AF_UNIX); d = os.dup(s.fileno()); s.bind("s")`,
			`bind.*one that has several descriptors already, is not modelled`},
		{"shared memory with a key", `import ctypes
ctypes.CDLL(None).shmget(77, 4096, 0o1600)`, `shmget.*memory that commands share by a key is not modelled`},
		{"fifo", `import os, select
os.mkfifo("p"); f = os.open("p", os.O_RDWR); p = select.poll()
p.register(f); p.poll()`, `waiting for a FIFO \(.*p\) in another call than read\(2\) is not modelled`},
		{"device", `import os
os.mknod("p", 0o020600, 0)`, `mknod of a device is not modelled`},
		{"symlink that leads out", `import os
os.symlink("/etc/passwd", "out"); open("out")`, `the fake has no answer: the path "/etc/passwd", which leads out of /virtual/dir, is not modelled`},
		{"empty name", `import os
os.symlink("a", "s")
os.readlink("", dir_fd=os.open("s", os.O_PATH | os.O_NOFOLLOW))`, `readlinkat.*of a file of the fake .*, by an empty name, it is not modelled`},
		{"unknown", `import ctypes
ctypes.CDLL(None).syscall(159, 0)`, `system call 159: this system call is not handled`},
		{"waits for input", `import os
r, w = os.pipe()
os.read(r, 1)`, `it waits for something that nobody will do: python3.* in read\(`},
		{"job control", `import os, signal
os.kill(os.getpid(), signal.SIGSTOP)`, `stopped by SIGSTOP: job control is not handled`},
		{"killing a group of others", `import os
os.killpg(7, 15)`, `kill.*a signal to process group 7, which is not one of its own, is not modelled`},
		{"asking for a group of others", `import os
os.killpg(7, 0)`, `kill.*a signal to process group 7, which is not one of its own, is not modelled`},
		{"the group of others", `import os
os.getpgid(7)`, `getpgid\(7\): a question about process 7, which is not one of its own, is not modelled`},
		{"the priority of others", `import os
os.getpriority(os.PRIO_PROCESS, 7)`, `getpriority.*a question about process 7, which is not one of its own, is not modelled`},
		{"a descriptor of the parent", `import os
f = open("f", "w")
if os.fork(): os.wait()
else: os.close(f.fileno()); open("/proc/%d/fd/%d" % (os.getppid(), f.fileno()))`, `open.*/proc/100/fd/[0-9]+.*a descriptor of process 100, another one, that is open on a file of the fake \(.*f\) is not modelled`},
		{"the working directory of the parent", `import os
if os.fork(): os.wait()
else: open("/proc/%d/cwd/f" % os.getppid(), "w")`, `open.*/proc/100/cwd/f.*the working directory of process 100, which is in the fake, is not modelled there`},
		{"where the working directory is", `import os
os.readlink("/proc/self/cwd")`, `readlink.*the working directory of process 100, which is in the fake, is not modelled there`},
		{"a working directory that is shared", `import ctypes
ctypes.CDLL(None).syscall(56, 0x200 | 17, 0, 0, 0, 0)`, `clone\(.*a process that shares its working directory and umask is not handled`},
		{"abstract socket", `import socket
socket.socket(socket.AF_UNIX).bind("\0lock")`, `bind.*an abstract address \("\\x00lock"\), which commands share, is not modelled`},
		{"port", `import socket
socket.socket().bind(("127.0.0.1", 45671))`, `bind.*port 45671, which commands share, is not modelled`},
		{"a descriptor that is sent", `import socket
a, b = socket.socketpair()
f = open("f", "w")
socket.send_fds(a, [b"x"], [f.fileno()])`, `sendmsg.*sending a descriptor of a file of the fake \(.*f\) is not modelled`},
		{"poll of a process", `import os, select
p = select.poll(); p.register(os.pidfd_open(1)); p.poll()`, `poll.*waiting for the end of process 1, which`},
		{"select of a process", `import os, select
select.select([os.pidfd_open(1)], [], [])`, `select.*waiting for the end of process 1, which is not one of its own`},
		{"epoll of a process", `import os, select
select.epoll().register(os.pidfd_open(1))`, `epoll_ctl.*waiting for the end of process 1, which is not one of its own`},
		{"limit of the size of files", `import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, -1)); resource.setrlimit(resource.RLIMIT_FSIZE, (1024, -1))`, `prlimit64.*a limit of 1024 bytes for the size of files \(RLIMIT_FSIZE, ulimit -f\) is not modelled; have the program do without it`},
		{"flags of a write", `import os
os.pwritev(os.open("f", os.O_CREAT | os.O_WRONLY), [b"x"], 0, os.RWF_DSYNC)`, `pwritev2\(.*with flags 0x2 it is not modelled; have the program do without it`},
		{"endless", `while True: pass`, `it computes for longer than 1s without a call`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(python, "-IS", "-c", c.program) // which starts sooner without its site
			if c.name == "endless" {
				cfg.Timeout = time.Second
			}
			err := failure(t, cfg)
			var fault *tracer.Error
			fakes := []string{"symlink that leads out", "fifo", "device", "more connections than a queue has room for"}
			if !slices.Contains(fakes, c.name) { // what the fake says is no error of the tracer
				require.ErrorAs(t, err, &fault)
			}
			require.Regexp(t, `^tracer: python3.* \(pid 10[01]\): .*`+c.want, err.Error())
		})
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		c    tracer.Config
		want string
	}{
		{tracer.Config{Dir: "/data"}, "no command"},
		{tracer.Config{Argv: []string{"sh"}, Dir: "data"}, "an absolute path"},
		{tracer.Config{Argv: []string{"sh"}, Dir: "/"}, "not the root"},
		{tracer.Config{Argv: []string{"sh"}, Dir: "/data", Cwd: "/database"}, "is not in the virtual directory"},
		{tracer.Config{Argv: []string{"sh"}, Dir: "/data", Work: "x"}, "an absolute path"},
		{tracer.Config{Argv: []string{"no-such-program"}, Dir: "/data"}, "no program no-such-program in PATH"},
		{tracer.Config{Argv: []string{"/no/such"}, Dir: "/data"}, "no such file"},
	} {
		_, err := tracer.Start(c.c)
		require.ErrorContains(t, err, c.want)
	}
}

// An answer for who has not asked is refused, and does no harm.
func TestAnswersThatWereNotAsked(t *testing.T) {
	run, err := tracer.Start(config("sh", "-c", "mkdir d"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	_, err = run.Next()
	require.NoError(t, err)
	require.ErrorContains(t, run.Answer(fsfake.Task{Pid: 99, N: 1}, fsfake.Result{}), "does not run")
	require.ErrorContains(t, run.Answer(fsfake.Task{Pid: 100, N: 2}, fsfake.Result{}), "has not asked")
	require.ErrorContains(t, run.Answer(fsfake.Task{Pid: 100, N: 1}, fsfake.Result{Unmodelled: "it is not"}), "it is not")
	run.Stop()
	_, err = run.Next()
	require.ErrorContains(t, err, "the run is over")
}

// children lists our children, by /proc.
func children(t *testing.T) []string {
	var own []string
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if rest[1] == strconv.Itoa(os.Getpid()) {
			own = append(own, string(b))
		}
	}
	return own
}

// Stop ends a tree in the middle; nothing is left of it, neither a process nor a file.
func TestNothingIsLeft(t *testing.T) {
	need(t, "sh")
	before := children(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	c := config("sh", "-c", "sleep 1000 | cat & (sleep 500; echo) & echo > f; sleep 100; cat")
	c.Cwd = ""
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	m := newMachine()
	for range 6 {
		set, err := run.Next()
		require.NoError(t, err)
		p, _ := pick(m, set)
		require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
	}
	run.Stop()
	run.Stop()
	require.Equal(t, before, children(t))
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// helper is an environment variable that makes the test binary trace a program until it is
// killed.
const helper = "LOCKPICK_TRACER_HELPER"

// When the tracer dies, by whatever signal, the programs die with it.
func TestProgramsDieWithTheTracer(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGINT} {
		cmd := exec.Command(os.Args[0], "-test.run", "TestHelperTraces")
		marker := "lockpick-left-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(int(sig))
		cmd.Env = append(os.Environ(), helper+"="+marker, "TMPDIR="+t.TempDir())
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		b := make([]byte, 7)
		_, _ = out.Read(b)
		if string(b) == "SKIPPED" {
			_ = cmd.Wait()
			t.Skip("SKIPPED: it kills what runs programs under ptrace(2), which is not possible here; on linux/amd64, where that is allowed, go test ./fsfake/tracer runs it")
		}
		require.Equal(t, "pending", string(b))
		require.Len(t, withArgument(marker), 2, "the program and its child run")
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait()
		require.Eventually(t, func() bool { return len(withArgument(marker)) == 0 }, time.Minute, 10*time.Millisecond)
	}
}

// withArgument lists the processes that were given an argument.
func withArgument(marker string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), marker+"\x00") {
			found = append(found, f)
		}
	}
	return found
}

func TestHelperTraces(t *testing.T) {
	marker := os.Getenv(helper)
	if marker == "" {
		return
	}
	run, err := tracer.Start(config("sh", "-c", "(mkdir d; mkdir e) & mkdir f; wait", marker))
	if err != nil {
		os.Stdout.WriteString("SKIPPED")
		return
	}
	set, err := run.Next()
	must(err)
	must(run.Answer(set[0].Task, fsfake.Result{N: 101}))
	for len(set) < 2 {
		set, err = run.Next()
		must(err)
		for _, p := range set {
			if p.Op.Call == fsfake.CallFork {
				must(run.Answer(p.Task, fsfake.Result{N: 102}))
			}
		}
	}
	os.Stdout.WriteString("pending")
	time.Sleep(time.Hour)
}

// Nothing of it needs a privilege: the programs run as nobody, too.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: it runs tests as nobody, and all of them run without privileges here; as root go test ./fsfake/tracer runs it")
	}
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	bin := filepath.Join(binaries, "test-binary")
	require.NoError(t, os.WriteFile(bin, self, 0o755))
	data := filepath.Join(binaries, "testdata")
	require.NoError(t, os.CopyFS(data, os.DirFS("testdata")))
	cmd := exec.Command(bin, "-test.v", "-test.run", `TestAloneAsOnTheKernel/(counter.sh|children.sh|flock.sh|redirect.bash|lock.pl|lock.js)`)
	cmd.Dir = binaries
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "SKIPPED: it runs programs under ptrace(2)") {
		t.Skip("SKIPPED: it runs programs under ptrace(2) as nobody, which is not possible here; where that is allowed go test ./fsfake/tracer runs it")
	}
	require.NoError(t, err, "%s", out)
	require.GreaterOrEqual(t, strings.Count(string(out), "--- PASS"), 2, "%s", out)
}
