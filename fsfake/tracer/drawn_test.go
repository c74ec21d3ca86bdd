//go:build linux && amd64

package tracer_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake/tracer"
)

var drawnPrograms = flag.Int("drawn", 0, "compare so many drawn programs with the kernel, instead of 30 or 300")

// A drawnCall is a call of testdata/calls.c: its number, and what each of its arguments may be.
type drawnCall struct {
	nr   int
	args string
}

// words are what an argument may be, by the letter that stands for it in a drawnCall.
var words = map[byte][]string{
	'P': {`"a`, `"b`, `"d`, `"d/a`, `"d/e`, `"l`, `"d/l`, `"h`, `"missing/x`, `"a/x`, `"`, `"d/`, `"a/`, `"d/../a`,
		`"d/..`, `".`, `"missing/../a`, `"l/x`, `~`},
	'T': {`"a`, `"d`, `"nowhere`, `"l`, `"`}, // targets of symlinks
	'Q': {`"a`, `"b`, `"d`, `"d/a`, `"d/e`, `"l`, `"d/l`, `"h`, `"missing/x`, `"a/x`, `"d/`, `"a/`, `"l/x`},
	'-': {"-100"},
	'D': {"-100", "-100", "-100", "-100", "99", "-1", "F", "F"},
	'O': {"0", "1", "2", "0x40", "0x41", "0x42", "0xc2", "0xc1", "0x241", "0x442", "0x402", "0x10000", "0x20000",
		"0x200000", "0x210000", "0x410002", "0x20042", "0x80042"},
	'M': {"0644", "0600", "0", "0755", "07777", "01777", "02755", "04755"},
	'B': {"@0", "@1", "@2", "!", "~"},
	'W': {"@3", "@3", "@3", "?"}, // ext4 makes a file longer when a write beyond its end fails: no ~
	'N': {"0", "1", "5", "5", "14", "100", "4000"},
	'L': {"0", "1", "3", "10", "5000", "-1"},
	'S': {"0", "1", "2", "3", "4", "7"}, // whence
	'K': {"5", "6", "8", "4", "7", "37", "36", "32", "15", "0"},
	'A': {"0", "0", "0x100", "0x1000", "0x200", "0x2000", "0x8", "0x900", "0x800", "0x6000", "0x10000", "0x400"},
	'R': {"0", "0", "1", "2", "3", "4", "8"},
	'X': {"0", "1", "2", "4", "6", "7", "8", "-1"}, // modes of access
	'U': {"0", "-1", "12"},
	'C': {"0", "1", "3", "3", "4", "1030", "1035", "77", "1032"}, // commands of fcntl
	'V': {"0", "1", "0x400", "0x800", "0xc00", "0x4000", "-1"},
	'G': {"5", "6", "36", "37"}, // locks that do not wait: F_GETLK, F_SETLK, F_OFD_GETLK, F_OFD_SETLK
	'J': {lock(0, 0, 0, 0), lock(1, 0, 0, 0), lock(2, 0, 0, 0), lock(1, 1, 2, 3), lock(0, 2, -1, 1), lock(1, 0, -5,
		1), lock(1, 0, 5, -3), lock(7, 0, 0, 0), lock(1, 3, 0, 0), lock(1, 0, 0, 0)[:49] + "0100000000000000", "~"},
	'I': {"0", "#" + strings.Repeat("00", 32), "#00000000000000000040420f" + strings.Repeat("00", 20), "~"}, // times
	// requests of ioctl
	'i': {"0x6d01", "0x5401", "0x1234567", "2", "0x5421", "0x40086d01", "0x5451"},
	'Z': {"0", "1", "4096"},       // the names of the two directories differ in length
	'f': {"0", "0", "1", "0x100"}, // modes of fallocate
	'Y': {`"user.x`, `"user.x`, `"nonsense`, "~"},
}

// lock is a struct flock.
func lock(typ, whence int16, start, length int64) string {
	return fmt.Sprintf("#%02x%02x%02x%02x00000000%s%s0000000000000000", byte(typ), byte(typ>>8), byte(whence), byte(whence>>8), little(start), little(length))
}

func little(v int64) (s string) {
	for i := range 8 {
		s += fmt.Sprintf("%02x", byte(v>>(8*i)))
	}
	return s
}

var drawnCalls = []drawnCall{
	{unix.SYS_OPENAT, "DPOM"}, {unix.SYS_OPEN, "POM"}, {unix.SYS_OPENAT, "DPOM"}, {unix.SYS_OPEN, "POM"},
	{unix.SYS_CREAT, "PM"}, {unix.SYS_CLOSE, "F"}, {unix.SYS_DUP, "F"}, {unix.SYS_DUP3, "FEV"},
	{unix.SYS_READ, "FBN"}, {unix.SYS_PREAD64, "FBNL"}, {unix.SYS_WRITE, "FWN"}, {unix.SYS_WRITE, "FWN"}, {unix.SYS_PWRITE64, "FWNL"},
	{unix.SYS_LSEEK, "FLS"}, {unix.SYS_FTRUNCATE, "FL"}, {unix.SYS_TRUNCATE, "PL"}, {unix.SYS_FSYNC, "F"},
	{unix.SYS_STAT, "PB"}, {unix.SYS_LSTAT, "PB"}, {unix.SYS_FSTAT, "FB"}, {unix.SYS_NEWFSTATAT, "DPBA"}, {unix.SYS_STATX, "DPAXB"},
	{unix.SYS_UNLINK, "P"}, {unix.SYS_UNLINKAT, "DPA"}, {unix.SYS_RMDIR, "P"}, {unix.SYS_MKDIR, "PM"}, {unix.SYS_MKDIRAT, "DPM"},
	{unix.SYS_RENAME, "PQ"}, {unix.SYS_RENAMEAT2, "DQ-QR"}, {unix.SYS_LINK, "PQ"}, {unix.SYS_LINKAT, "DP-QA"},
	{unix.SYS_SYMLINK, "TP"}, {unix.SYS_SYMLINKAT, "TDP"}, {unix.SYS_READLINK, "PBN"}, {unix.SYS_READLINKAT, "DPBN"},
	{unix.SYS_CHMOD, "PM"}, {unix.SYS_FCHMOD, "FM"}, {unix.SYS_FCHMODAT, "DPM"}, {452, "DPMA"},
	{unix.SYS_CHOWN, "PUU"}, {unix.SYS_FCHOWNAT, "DPUUA"}, {unix.SYS_FCHOWN, "FUU"}, {unix.SYS_UTIMENSAT, "DPIA"},
	{unix.SYS_ACCESS, "PX"}, {unix.SYS_FACCESSAT2, "DPXA"}, {unix.SYS_FLOCK, "FK"}, {unix.SYS_FCNTL, "FGJ"}, {unix.SYS_FCNTL, "FCV"},
	{unix.SYS_GETDENTS64, "FBN"}, {unix.SYS_GETCWD, "BZ"}, {unix.SYS_CHDIR, "P"}, {unix.SYS_FCHDIR, "F"},
	{unix.SYS_FALLOCATE, "FfLL"}, {unix.SYS_IOCTL, "FiW"}, {unix.SYS_UTIMES, "PI"}, {unix.SYS_FUTIMESAT, "DPI"},
	{unix.SYS_UTIME, "PI"}, {unix.SYS_GETPEERNAME, "FBB"}, {unix.SYS_SHUTDOWN, "FN"}, {unix.SYS_LISTEN, "FN"},
}

// draw makes the arguments of a program of so many calls.
func draw(r *rand.Rand, calls int) (argv []string) {
	for i := range calls {
		c := drawnCalls[r.IntN(len(drawnCalls))]
		argv = append(argv, fmt.Sprint(c.nr))
		for _, letter := range []byte(c.args) {
			argv = append(argv, drawWord(r, letter, i))
		}
		argv = append(argv, ",")
	}
	return argv
}

func drawWord(r *rand.Rand, letter byte, call int) string {
	descriptor := func() string { return fmt.Sprint(3 + r.IntN(6)) }
	switch {
	case letter == 'F' && r.IntN(12) == 0:
		return "99"
	case letter == 'F', letter == 'E':
		return descriptor()
	}
	of := words[letter]
	if w := of[r.IntN(len(of))]; w != "F" {
		return w
	}
	return descriptor()
}

// A program that makes any calls cannot tell the fake from the kernel. What is drawn has names that exist and that do
// not, descriptors that are open and that are not, flags that are valid and that are not, and memory that ends.
func TestDrawnProgramsAsOnTheKernel(t *testing.T) {
	argv := compiled("gcc", "-O1", "-o")(t, file(t, "calls.c"))
	n := 300
	if testing.Short() {
		n = 30
	}
	if *drawnPrograms > 0 {
		n = *drawnPrograms
	}
	beyond := 0
	for seed := range n {
		command := append(argv[:1:1], draw(rand.New(rand.NewPCG(1, uint64(seed))), 40)...)
		got, modelled := drawn(t, command)
		if !modelled {
			beyond++
			continue
		}
		want := native(t, command...)
		want.Stdout = withDirectories(want.Stdout, got.Stdout, command[1:])
		if want.Stdout != got.Stdout {
			require.Fail(t, "another answer", "seed %d: %s", seed, differing(want.Stdout, got.Stdout, command[1:]))
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
	require.Less(t, beyond, 1+n/4, "programs that make a call that is not modelled")
}

// mtiocget is MTIOCGET, by which programs ask whether a file is a tape.
const mtiocget = "0x80306d02"

// What has been answered otherwise than by the kernel, and is not among what is drawn.
func TestAnswersAsOnTheKernel(t *testing.T) {
	calls := compiled("gcc", "-O1", "-o")(t, file(t, "calls.c"))[0]
	open, creat := fmt.Sprint(unix.SYS_OPEN), fmt.Sprint(unix.SYS_CREAT)
	affinity, rename := fmt.Sprint(unix.SYS_SCHED_SETAFFINITY), fmt.Sprint(unix.SYS_RENAME)
	link, linkat := fmt.Sprint(unix.SYS_LINK), fmt.Sprint(unix.SYS_LINKAT)
	symlink, mkdir, mknod := fmt.Sprint(unix.SYS_SYMLINK), fmt.Sprint(unix.SYS_MKDIR), fmt.Sprint(unix.SYS_MKNOD)
	unlink, rmdir := fmt.Sprint(unix.SYS_UNLINK), fmt.Sprint(unix.SYS_RMDIR)
	for _, argv := range [][]string{
		{calls, fmt.Sprint(unix.SYS_GETPID), ",", fmt.Sprint(unix.SYS_CAPGET), "^0", "@0"},
		{calls, affinity, "-1", "8", "#ff", ",", affinity, "0", "8", "~", ",", affinity, "0", "8", "#00", ",", affinity, "0", "8", "#ff"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_WRITE), "3", "~", "5"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_FALLOCATE), "3", "1", "0", "9", ",",
			fmt.Sprint(unix.SYS_FSTAT), "3", "@0"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_FALLOCATE), "3", "0", "2", "9", ",",
			fmt.Sprint(unix.SYS_FALLOCATE), "3", "0", "0", "4", ",", fmt.Sprint(unix.SYS_LSEEK), "3", "0", "2"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_IOCTL), "3", mtiocget, "@0", ",",
			fmt.Sprint(unix.SYS_IOCTL), "3", "0x5413", "@0", ",", fmt.Sprint(unix.SYS_IOCTL), "3", "77", "@0"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_READLINKAT), "3", `"`, "@0", "9", ",",
			open, `"a`, "0x200000", "0", ",", fmt.Sprint(unix.SYS_READLINKAT), "4", `"`, "@0", "9"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_GETXATTR), `"a`, `"user.x`, "@0", "9", ",",
			fmt.Sprint(unix.SYS_GETXATTR), `"a`, `"system.posix_acl_access`, "@0", "9", ",",
			fmt.Sprint(unix.SYS_GETXATTR), `"a`, `"nonsense`, "@0", "9", ",", fmt.Sprint(unix.SYS_LISTXATTR), `"a`, "@0", "9"},
		{calls, fmt.Sprint(unix.SYS_READLINK), `"/proc/1/exe`, "@0", "9"},
		{calls, fmt.Sprint(unix.SYS_RENAME), `"`, `"/tmp/x`, ",", fmt.Sprint(unix.SYS_RENAMEAT), "99", `"a`, "-100", `"b`},
		{calls, fmt.Sprint(unix.SYS_RENAME), `"missing/a`, `"/tmp/x`, ",",
			fmt.Sprint(unix.SYS_LINK), `"missing`, `"/tmp/x`, ",",
			creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_LINK), `"a`, `"/etc/passwd`},
		{calls, creat, `"a`, "0644", ",", link, `"/proc/self/fd/3`, `"b`, ",", link, `"/proc/self/fd/3`, `"a`, ",",
			link, `"/proc/self`, `"b`, ",", link, `"/proc/self`, `"a`, ",", link, `"/proc/self/none`, `"b`, ",",
			link, `"a`, `"/proc/self/fd/3`, ",", link, `"a`, `"/proc/self`, ",", link, `"a`, `"/proc/self/fd/99`, ",",
			link, `"missing`, `"/proc/self`, ",", link, `"/etc/passwd`, `"a`, ",",
			rename, `"/proc/self/fd/3`, `"b`, ",", rename, `"a`, `"/proc/self/fd/3`},
		{calls, creat, `"a`, "0644", ",", symlink, `"t`, `"/proc/self/fd/3`, ",",
			mkdir, `"/proc/self/fd/3`, "0777", ",", unlink, `"/proc/self/fd/3`, ",", rmdir, `"/proc/self/fd/3`, ",",
			mkdir, `"/proc/self/fd/99`, "0777", ",",
			mkdir, `"/proc/self/fd/3/x`, "0777", ",", mknod, `"/proc/self/fd/3`, "0100644", "0", ",",
			open, `".`, "0x10000", "0", ",", symlink, `"t`, `"/proc/self/fd/4/y`, ",", unlink, `"/proc/self/fd/4/y`},
		{calls, open, `"a`, "0x42", "0644", ",", fmt.Sprint(unix.SYS_WRITE), "3", "#31323334", "4", ",",
			fmt.Sprint(unix.SYS_CHMOD), `"/proc/self/fd/3`, "0600", ",", fmt.Sprint(unix.SYS_STAT), `"a`, "@0", ",",
			fmt.Sprint(unix.SYS_LSTAT), `"/proc/self/fd/3`, "@0", ",",
			fmt.Sprint(unix.SYS_TRUNCATE), `"/dev/fd/3`, "2", ",", fmt.Sprint(unix.SYS_FSTAT), "3", "@0", ",",
			fmt.Sprint(unix.SYS_CHOWN), `"/dev/fd/3`, "-1", "-1", ",",
			fmt.Sprint(unix.SYS_UTIMES), `"/proc/self/fd/3`, "#" + little(5) + little(0) + little(7) + little(0), ",",
			fmt.Sprint(unix.SYS_STAT), `"a`, "@0", ",", fmt.Sprint(unix.SYS_CHMOD), `"/proc/self/fd/99`, "0600", ",",
			fmt.Sprint(unix.SYS_UNLINK), `"a`, ",", fmt.Sprint(unix.SYS_TRUNCATE), `"/proc/self/fd/3`, "9", ",",
			fmt.Sprint(unix.SYS_FSTAT), "3", "@0"},
		{calls, open, `".`, "0x410001", "0644", ",", link, `"/proc/self/fd/3`, `"b`, ",",
			linkat, "-100", `"/proc/self/fd/3`, "-100", `"b`, "0x400", ",",
			linkat, "-100", `"/proc/self/fd/3`, "-100", `"b`, "0x400"},
		{calls, open, `"a`, "0x42", "0644", ",",
			fmt.Sprint(unix.SYS_WRITE), "3", "#31323334353637383930", "10", ",",
			fmt.Sprint(unix.SYS_LSEEK), "3", "0", "0", ",", fmt.Sprint(unix.SYS_READ), "3", "~", "5", ",",
			fmt.Sprint(unix.SYS_READ), "3", "!", "10", ",", fmt.Sprint(unix.SYS_READ), "3", "@0", "5"},
		{calls, creat, `"a`, "0644", ",", open, `".`, "0x10000", "0", ",",
			fmt.Sprint(unix.SYS_GETDENTS64), "4", "~", "4000", ",", fmt.Sprint(unix.SYS_GETDENTS64), "4", "@0", "4000"},
		{calls, creat, `"a`, "0644", ",", fmt.Sprint(unix.SYS_SYMLINK), `"a`, `"l`, ",",
			"452", "-100", `"l`,
			"0600", "0x100", ",", fmt.Sprint(unix.SYS_STAT), `"a`, "@0"},
		{calls, creat, `"a`, "0644", ",",
			fmt.Sprint(unix.SYS_SETRLIMIT), "7", "#" + little(5) + little(5), ",",
			open, `"a`, "0", ",", open, `"a`, "0"},
		{calls, open, `"a`, "0x42", "0644", ",", open, `"a`, "0x200000", "0", ",",
			fmt.Sprint(unix.SYS_FCNTL), "4", "4", "0x400", ",", fmt.Sprint(unix.SYS_FCNTL), "4", "1025", "0"},
		{calls, fmt.Sprint(unix.SYS_GETXATTR), `"missing`, `"user.x`, "@0", "9", ",", fmt.Sprint(unix.SYS_LISTXATTR), `"missing`, "@0", "9"},
		{need(t, "sh"), "-c", "ulimit -n 12; exec 3>a 4>b 5>c; for i in 1 2 3 4 5 6 7 8 9; do : 6<a 7<b 8<c 9<a || echo $i; done; ls; echo $?"},
	} {
		got, _ := alone(t, newMachine(), config(argv...))
		require.Equal(t, native(t, argv...).Stdout, got.Stdout, argv)
	}
	got, _ := alone(t, newMachine(), config("sh", "-c", "echo 1 > x; cat /no-such-directory/.."+dir+"/x || echo none"))
	require.Equal(t, "none\n", got.Stdout)
	if unix.Getuid() == 0 { // who may do less than the fake knows is not followed
		_, modelled := drawn(t, []string{calls, fmt.Sprint(unix.SYS_GETPID), ",",
			fmt.Sprint(unix.SYS_CAPSET), "^0", "#" + little(0)})
		require.False(t, modelled)
	}
}

// drawn runs a program against a machine; false when it makes a call that is not modelled.
func drawn(t *testing.T, argv []string) (is outcome, modelled bool) {
	run, err := tracer.Start(config(argv...))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	m := newMachine()
	set, err := run.Next()
	for err == nil && len(set) > 0 {
		set, err = run.AnswerNext(set[0].Task, m.Do(set[0].Task, set[0].Op))
	}
	if err != nil {
		require.ErrorContains(t, err, "not modelled", argv)
		return is, false
	}
	exit, _ := run.Exit(100)
	return outcome{Exit: exit.String(), Stdout: run.Stdout(), Stderr: run.Stderr(), Tree: machineTree(m, dir, "")}, true
}

// withDirectories is what the kernel has answered, with EISDIR for a read(2) of a directory that was read to its end:
// that is EINVAL on ext4 alone.
func withDirectories(want, got string, argv []string) string {
	calls := strings.Split(strings.Join(argv, " "), " ,")
	answers, lines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(calls), len(answers), len(lines)) {
		nr, _, _ := strings.Cut(strings.TrimSpace(calls[i]), " ")
		read := nr == fmt.Sprint(unix.SYS_READ) || nr == fmt.Sprint(unix.SYS_PREAD64)
		if was, is := strings.CutSuffix(lines[i], ": EINVAL"); read && is && answers[i] == was+": EISDIR" {
			lines[i] = answers[i]
		}
	}
	return strings.Join(lines, "\n")
}

// differing are the calls of a program up to the first that was answered otherwise, with the kernel's answers.
func differing(want, got string, argv []string) string {
	var out strings.Builder
	calls, answers := strings.Split(strings.Join(argv, " "), " ,"), strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(calls) {
			break
		}
		fmt.Fprintf(&out, "\n%s = %s", calls[i], line)
		if i >= len(answers) || answers[i] != line {
			return out.String() + ", and under the tracer " + strings.Join(answers[min(i, len(answers)-1):][:1], "")
		}
	}
	return out.String()
}

func file(t *testing.T, name string) string {
	name, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return name
}
