//go:build linux

package osfs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// Each call of the adapter must be a step of its own for each system call that package os
// makes, in the same order: for between two of them others may run. What package os makes
// is seen with strace(1).

const (
	tracedEnv  = "LOCKPICK_TRACED"         // the directory to work in, in the process that is traced
	markerPath = "/lockpick-begins-a-step" // nobody has it; to ask for it marks a place in the trace
)

// tracedSequences is how many drawn sequences are traced.
const tracedSequences = 60

// runTraced makes package os run the sequences.
func runTraced(real string) {
	runtime.LockOSThread()
	syscall.Umask(umask)
	for seed := range tracedSequences {
		s := newSubject("package os", osCalls{osfs.OS()}, realDir(real, strconv.Itoa(seed)), osFile{})
		for _, st := range sequences.Example(seed) {
			_, _ = os.Stat(markerPath)
			s.answer(st)
		}
		_, _ = os.Stat(markerPath)
		s.close()
	}
	_, _ = os.Stat(markerPath)
}

func TestSystemCallsOfPackageOS(t *testing.T) {
	if real := os.Getenv(tracedEnv); real != "" {
		runTraced(real)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("SKIPPED: strace is not installed, so the system calls that package os makes were not compared; where it is, go test ./fsfake/osfs runs it")
	}
	real := realRoot(t)
	traces := t.TempDir()
	cmd := exec.Command(strace, "-ff", "-qq", "-s", "1", "-o", traces+"/trace", os.Args[0], "-test.run", "^TestSystemCallsOfPackageOS$")
	cmd.Env = append(os.Environ(), tracedEnv+"="+real)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace cannot trace here, so the system calls that package os makes were not compared; where it can, go test ./fsfake/osfs runs it: %v\n%s", err, out)
	}
	var traced []string
	files, err := filepath.Glob(traces + "/trace.*") // one of each thread
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		traced = append(traced, tracedCalls(string(text))...)
	}
	const each = stepsInSequence + 1 // and one for what is between two sequences
	require.Equal(t, tracedSequences*each, len(traced))

	several := 0
	for seed := range tracedSequences {
		p := &recorder{m: fakeMachine(t)}
		s := newSubject("osfs.On", osfs.On(fsfake.NewProc(p, 101, 1)), below, (*fsfake.File)(nil))
		for i, st := range sequences.Example(seed) {
			p.calls = nil
			s.answer(st)
			want := traced[seed*each+i]
			if strings.Contains(st.name+st.name2, "\x00") {
				continue // package syscall refuses such a path; the machine takes a step to do so
			}
			require.Equal(t, want, strings.Join(p.calls, " "), "sequence %d, step %d, %s", seed, i+1, st)
			if len(p.calls) > 1 {
				several++
			}
		}
	}
	require.Greater(t, several, tracedSequences, "hardly any step makes several calls")
}

// A recorder notes the calls that a Proc makes.
type recorder struct {
	m     *fsfake.Machine
	calls []string
}

func (r *recorder) Do(op fsfake.Op) fsfake.Result {
	r.calls = append(r.calls, op.Call.String())
	return r.m.Do(fsfake.Task{Pid: 101, N: 1}, op)
}

func (*recorder) Note(any) {}

var traceLine = regexp.MustCompile(`^([a-z0-9_]+)\((.*)`)

// callNames are the names that the calls have in the fake; the others are none of its
// business. Where a flag makes the difference it is in the key.
var callNames = map[string]string{
	"openat": "open", "newfstatat": "stat", "newfstatat AT_SYMLINK_NOFOLLOW": "lstat", "newfstatat AT_EMPTY_PATH": "fstat", "fstat": "fstat",
	"unlinkat": "unlink", "unlinkat AT_REMOVEDIR": "rmdir", "unlink": "unlink", "rmdir": "rmdir", "renameat": "rename", "rename": "rename",
	"linkat": "link", "symlinkat": "symlink", "readlinkat": "readlink", "mkdirat": "mkdir", "truncate": "truncate", "utimensat": "utimes",
	"fchmodat": "chmod", "fchownat": "chown", "read": "read", "pread64": "pread", "write": "write", "pwrite64": "pwrite", "lseek": "lseek",
	"close": "close", "ftruncate": "ftruncate", "fsync": "fsync", "getdents64": "readdir", "flock": "flock",
}

// tracedCalls returns the calls between the markers of a thread's trace. Directories are
// read until nothing comes any more, which is one call of the fake.
func tracedCalls(trace string) []string {
	var steps []string
	var calls []string
	begun := false
	for _, l := range strings.Split(trace, "\n") {
		m := traceLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		call, arguments := m[1], m[2]
		if strings.Contains(arguments, markerPath) {
			if begun {
				steps = append(steps, strings.Join(calls, " "))
			}
			begun, calls = true, nil
			continue
		}
		for _, flag := range []string{"AT_SYMLINK_NOFOLLOW", "AT_EMPTY_PATH", "AT_REMOVEDIR"} {
			if strings.Contains(arguments, flag) {
				call += " " + flag
			}
		}
		name := callNames[call]
		if name == "" || name == "readdir" && len(calls) > 0 && calls[len(calls)-1] == name {
			continue
		}
		calls = append(calls, name)
	}
	return steps
}

// TestTracedCalls: what the names of a trace mean.
func TestTracedCalls(t *testing.T) {
	begin := fmt.Sprintf("newfstatat(AT_FDCWD, %q, 0x1, 0) = -1 ENOENT (No such file)\n", markerPath)
	trace := "read(3, \"\", 1) = 0\n" + begin +
		"newfstatat(AT_FDCWD, \"/\"..., {st_mode=S_IFDIR}, AT_SYMLINK_NOFOLLOW) = 0\nepoll_ctl(4) = 0\n" +
		"unlinkat(AT_FDCWD, \"/\"..., AT_REMOVEDIR) = 0\ngetdents64(3, 0x1, 8192) = 48\ngetdents64(3, 0x1, 8192) = 0\n" + begin + begin
	require.Equal(t, []string{"lstat rmdir readdir", ""}, tracedCalls(trace))
	names := fsfakeNames()
	for _, name := range callNames {
		require.True(t, slices.Contains(names, name), name)
	}
}

// fsfakeNames lists the names of the fake's calls.
func fsfakeNames() []string {
	var names []string
	for c := fsfake.CallOpen; !strings.HasPrefix(c.String(), "call("); c++ {
		names = append(names, c.String())
	}
	return names
}
