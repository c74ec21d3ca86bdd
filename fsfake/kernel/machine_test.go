//go:build linux

package kernel

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
)

func TestMain(m *testing.M) {
	if os.Getenv("LOCKPICK_KERNEL_TEST_WAITS") != "" {
		time.Sleep(time.Minute)
	}
	MaybeWorker()
	os.Exit(m.Run())
}

// start returns a machine with the processes 101 and 102.
func start(t *testing.T) *Machine { return startWith(t, Options{Tasks: 2}) }

func startWith(t *testing.T, o Options) *Machine {
	m, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	for _, pid := range []int{101, 102} {
		require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: pid, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}))
	}
	return m
}

func do(t *testing.T, m *Machine, task fsfake.Task, op fsfake.Op) fsfake.Result {
	r, err := m.Do(task, op)
	require.NoError(t, err)
	return r
}

var a, b = fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}

func open(path string) fsfake.Op {
	return fsfake.Op{Call: fsfake.CallOpen, Path: path, Flags: os.O_RDWR | os.O_CREATE, Mode: 0o644}
}

// A blocked call is seen as blocked, wakes when it can go on, and can be interrupted; a
// second thread of a process waits on its own.
func TestBlocked(t *testing.T) {
	m := start(t)
	ex := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	require.EqualValues(t, 3, do(t, m, a, open("/f")).N)
	require.EqualValues(t, 3, do(t, m, b, open("/f")).N)
	b2 := fsfake.Task{Pid: 102, N: 2}
	require.EqualValues(t, 4, do(t, m, b2, open("/f")).N)
	require.True(t, do(t, m, a, ex).OK())
	require.True(t, do(t, m, b, ex).Blocked)
	ws, err := m.Woken()
	require.NoError(t, err)
	require.Empty(t, ws)
	_, err = m.Do(b, ex)
	require.ErrorContains(t, err, "blocked in flock")

	require.Equal(t, syscall.EWOULDBLOCK, do(t, m, b2, fsfake.Op{Call: fsfake.CallFlock, FD: 4, Flags: fsfake.LOCK_EX | fsfake.LOCK_NB}).Errno)

	require.NoError(t, m.Interrupt(b))
	ws, err = m.Woken()
	require.NoError(t, err)
	require.Equal(t, []Wake{{b, ex, fsfake.Result{Errno: syscall.EINTR}}}, ws)

	require.True(t, do(t, m, b, ex).Blocked)
	require.NoError(t, m.KillProc(101))
	ws, err = m.Woken()
	require.NoError(t, err)
	require.Equal(t, []Wake{{b, ex, fsfake.Result{}}}, ws)

	fds := files(t, m, 102)
	require.Len(t, fds, 2)
	require.Equal(t, fds[0], fds[1])
}

// files lists what a process has open beside the standard streams, by the numbers of the descriptors.
func files(t *testing.T, m *Machine, pid int) (names []string) {
	dir := fmt.Sprintf("/proc/%d/fd/", realPid(t, m, pid))
	for fd := numStreams; fd < maxFDs; fd++ {
		if name, err := os.Readlink(dir + strconv.Itoa(fd)); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func realPid(t *testing.T, m *Machine, pid int) int {
	real, err := m.RealPid(pid)
	require.NoError(t, err)
	return real
}

// Children inherit what is open; execve keeps what has no close-on-exec; after Reset all
// is gone.
func TestProcesses(t *testing.T) {
	t.Run("executed", func(t *testing.T) { processes(t, start(t)) })
	t.Run("forked", func(t *testing.T) { processes(t, startWith(t, Options{CallsOnly: true})) })
}

func processes(t *testing.T, m *Machine) {
	do(t, m, a, open("/f"))
	closed := open("/f")
	closed.Flags |= fsfake.O_CLOEXEC
	require.EqualValues(t, 4, do(t, m, a, closed).N)
	require.EqualValues(t, 103, do(t, m, a, fsfake.Op{Call: fsfake.CallFork}).N)
	fds := files(t, m, 103)
	require.Len(t, fds, 2)
	require.EqualValues(t, 1, do(t, m, fsfake.Task{Pid: 103, N: 1}, fsfake.Op{Call: fsfake.CallGetfd, FD: 4}).N)
	require.True(t, do(t, m, a, fsfake.Op{Call: fsfake.CallExec}).OK())
	fds = files(t, m, 101)
	require.Len(t, fds, 1)
	require.True(t, do(t, m, a, fsfake.Op{Call: fsfake.CallKill, Pid: 103}).OK())
	do(t, m, fsfake.Task{Pid: 103, N: 1}, fsfake.Op{Call: fsfake.CallExit})
	require.Equal(t, syscall.ESRCH, do(t, m, a, fsfake.Op{Call: fsfake.CallKill, Pid: 103}).Errno)

	require.NoError(t, m.Reset())
	_, err := m.Do(a, open("/f"))
	require.ErrorContains(t, err, "no process 101")
	tree, err := m.Tree()
	require.NoError(t, err)
	require.Len(t, tree, 2)
	require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 101, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}))
	require.EqualValues(t, 3, do(t, m, a, open("/f")).N)
}

// Where processes are forked, they have one task; a process that has
// made execve is forked like any other; a nursery that has forked many is not used again.
func TestCallsOnly(t *testing.T) {
	_, err := New(Options{CallsOnly: true, Tasks: 2})
	require.ErrorContains(t, err, "several tasks")
	m := startWith(t, Options{CallsOnly: true})
	require.True(t, do(t, m, a, fsfake.Op{Call: fsfake.CallExec}).OK())
	for i := range 20 {
		require.EqualValues(t, 103+i, do(t, m, a, fsfake.Op{Call: fsfake.CallFork}).N)
		child := fsfake.Task{Pid: 103 + i, N: 1}
		require.EqualValues(t, 3, do(t, m, child, open("/f")).N)
		require.NoError(t, m.KillProc(child.Pid))
	}
	m.nursery.forked = maxForks + 1
	was, nursery := realPid(t, m, 101), m.nursery.pid
	require.NoError(t, m.Reset())
	for pid := 101; pid <= 103; pid++ {
		require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: pid, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}))
		require.NotEqual(t, was, realPid(t, m, pid))
		require.EqualValues(t, 3, do(t, m, fsfake.Task{Pid: pid, N: 1}, open("/f")).N)
	}
	require.NotEqual(t, nursery, m.nursery.pid)
}

// A nursery that does not say that it is well is not used.
func TestNurseryThatIsNotWell(t *testing.T) {
	start := func(name string) int {
		pid, err := syscall.ForkExec("/proc/self/exe", []string{name}, &syscall.ProcAttr{Env: []string{"LOCKPICK_KERNEL_TEST_WAITS=1"}})
		require.NoError(t, err)
		return pid
	}
	var s slots
	require.NoError(t, s.open())
	defer s.close()
	worker := channel{r: s.workers[0].r, w: s.workers[0].w}
	nursery := start("nursery")
	p := &process{channel: s.drivers[0], pid: start("executed")}
	require.NoError(t, syscall.Kill(p.pid, syscall.SIGKILL))
	var e encoder
	e.result(&fsfake.Result{N: int64(nursery)})
	require.NoError(t, worker.send(frameResult, e.b))
	require.NoError(t, p.born())
	require.False(t, p.greeted)
	require.Equal(t, nursery, p.pid)
	p.kill()
}

// A fake's disk is made again.
func TestImport(t *testing.T) {
	f := fsfake.New(fsfake.Options{})
	p := f.Proc(1)
	require.NoError(t, p.MkdirAll("/x/y", 0o750))
	require.NoError(t, p.WriteFile("/x/f", []byte("hello"), 0o600))
	require.NoError(t, p.Link("/x/f", "/x/y/g"))
	require.NoError(t, p.Symlink("y/g", "/x/s"))
	m, err := New(Options{})
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.Import(f))
	tree, err := m.Tree()
	require.NoError(t, err)
	var names []string
	for _, e := range tree {
		names = append(names, e.Path+" "+e.Stat.Mode.String()+" "+e.Content)
	}
	require.Equal(t, []string{
		"/ drwxr-xr-x ", "/tmp dtrwxrwxrwx ", "/x drwxr-x--- ", "/x/f -rw------- hello", "/x/s Lrwxrwxrwx y/g",
		"/x/y drwxr-x--- ", "/x/y/g -rw------- hello",
	}, names)
	require.Equal(t, tree[3].Stat.Ino, tree[6].Stat.Ino)
	require.Equal(t, p.Now().UnixNano(), tree[3].Stat.Mtime)

	_, err = p.Open("/x/f")
	require.NoError(t, err)
	require.ErrorContains(t, m.Import(f), "open files")
}

func TestWire(t *testing.T) {
	op := fsfake.Op{
		Call: fsfake.CallOpen, Flags: -1, FD: 5, FD2: 6, Mode: 0o7777, Off: -5, Len: 1 << 62, Path: "/a", Path2: "b",
		Data: "x\x00y", Pid: 7, Time: -1, Time2: 1 << 60, Wait: true,
	}
	r := fsfake.Result{
		Errno: syscall.EIO, N: -1, Data: "d", Stat: fsfake.Stat{Ino: 1, Dev: 2, Nlink: 3, Mode: fs.ModeDir | 0o755, UID: 4, GID: 5, Size: 6, Atime: 7, Mtime: 8, Ctime: 9, Btime: 10},
		Lock: fsfake.RecordLock{Type: 1, Start: 2, Len: 3, Pid: -1}, Unmodelled: "u",
	}
	var e encoder
	e.op(&op)
	e.result(&r)
	d := decoder(e)
	require.Equal(t, op, d.op())
	require.Equal(t, r, d.result())
	require.Empty(t, d.b)
}
