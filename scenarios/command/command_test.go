package command_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// programs are pairs (or more) of real programs with their verdicts. The scripts are in
// testdata.
var programs = []struct {
	name    string
	needs   string // a program that must be installed
	lines   []string
	files   map[string]string
	setting string // lines for Spec.Set
	verdict string // of the property serializable, or of the one named in front of a colon
}{
	{name: "counter in sh", needs: "sh", lines: twice("sh counter.sh"), files: map[string]string{"n": "0\n"}, verdict: "broken"},
	{name: "counter in sh under flock(1)", needs: "flock", lines: twice("flock lock sh counter.sh"), files: map[string]string{"n": "0\n", "lock": ""}, verdict: "holds"},
	{name: "counter in sh under a polling mkdir", needs: "sh", lines: twice("sh mkdir-counter.sh"), files: map[string]string{"n": "0\n"}, verdict: "holds"},
	{name: "JSON store in python", needs: "python3", lines: []string{"python3 store.py a", "python3 store.py b"}, files: map[string]string{"store.json": "{}"}, verdict: "broken"},
	{name: "JSON store in python under flock", needs: "python3", lines: []string{"python3 store.py a lock", "python3 store.py b lock"}, files: map[string]string{"store.json": "{}"}, verdict: "holds"},
	{name: "counter in node", needs: "node", lines: twice("node counter.js"), files: map[string]string{"n": "0"}, verdict: "broken"},
	{name: "stat-then-write in sh", needs: "sh", lines: twice("sh stat-then-write.sh"), setting: "inside cs\nrefused 1", verdict: "mutual-exclusion:broken"},
	{name: "flock, compare fd with name, retry", needs: "flock", lines: twice("sh locked.sh"), files: map[string]string{"n": "0\n"}, verdict: "holds"},
	{name: "two looks at a file that is replaced", needs: "stat", lines: []string{"sh replaced.sh", "mv g f"}, files: map[string]string{"f": "", "g": ""}, setting: "refused none", verdict: "broken"},
	{name: "two readings between equal inode numbers, which come back", needs: "stat", lines: []string{"sh aba.sh", "sh anew.sh"}, files: map[string]string{"f": "old\n"}, setting: "refused none\nstdout off", verdict: "broken"},
	{name: "inode numbers are one however one asks", needs: "python3", lines: []string{"python3 inodes.py"},
		setting: "refused none", verdict: "holds"},
	{name: "inode numbers that are written down", needs: "stat", setting: "refused none", verdict: "holds",
		lines: []string{"sh -c ': > a; : > b; stat -c %i a b > i'", "sh -c ': > c; : > d; stat -c %i c d > j'"}},
	{name: "temporary names from addresses, as of py_compile", needs: "python3", verdict: "holds", setting: "refused none",
		lines: twice(`python3 -c "import os; n = 't.%d' % id([]); open(n, 'x').close(); os.rename(n, 'f')"`)},
	{name: "vim empties what another program reads", needs: "vim",
		lines: []string{"vim -u NONE -es -c s/one/two/ -c wq f", "sh -c 'read x < f; echo $x > g'"},
		files: map[string]string{"f": "one\n"}, setting: "refused none", verdict: "broken"},
	{name: "links with temporary names", needs: "ln", lines: []string{"ln -f a f", "ln -f b f"}, files: map[string]string{"a": "a", "b": "b", "f": "c"}, setting: "refused none", verdict: "holds"},
	{name: "two locks in two orders", needs: "flock", lines: []string{"flock a flock b cat n", "flock b flock a cat n"}, files: map[string]string{"n": "0\n", "a": "", "b": ""}, verdict: "deadlock:broken"},
	{name: "where am I, while it is renamed", needs: "mv", lines: []string{"sh -c 'cd d && env pwd'", "mv d e"}, files: map[string]string{"d/": ""}, setting: "refused none", verdict: "broken"},
	{name: "two files in one directory, while it is renamed", needs: "mv", lines: []string{"sh -c 'cd d && echo 1 > a && echo 2 > b'", "sh -c 'mv d e && mkdir d'"}, files: map[string]string{"d/": ""}, setting: "refused 2", verdict: "holds"},
	{name: "a link from another file system, which fails", needs: "ln", verdict: "holds",
		lines: twice("sh -c 'ln /proc/self/status f 2>/dev/null || echo 1 > f'")},
	{name: "permissions that two take away", needs: "chmod", lines: []string{"chmod u-w f", "chmod g-w f"},
		files: map[string]string{"f": ""}, verdict: "broken"},
	{name: "a writer beside a cleaner", needs: "python3", lines: []string{"python3 publish.py", "sh -c 'rm -f *.tmp'"}, setting: "refused none", verdict: "broken"},
}

func twice(line string) []string { return []string{line, line} }

func TestPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			switch p.name {
			case "inode numbers are one however one asks", "flock, compare fd with name, retry", "JSON store in python",
				"counter in node", "two looks at a file that is replaced":
				testmain.OnlyLong(t, "others read and write so, in these languages, too", "./scenarios/command")
			}
			if testing.Short() && p.needs != "sh" {
				t.Skip("SKIPPED with -short: interpreters take long to start; go test ./scenarios/command runs it")
			}
			if p.name == "JSON store in python under flock" {
				testmain.OnlyLong(t, "TestCounters has python under flock(1) with fewer calls", "./scenarios/command")
			}
			sc := scenario(t, p.needs, p.lines, p.files, p.setting)
			id, want, named := strings.Cut(p.verdict, ":")
			if !named {
				id, want = "serializable", p.verdict
			}
			property, err := scenarios.FindProperty(id, sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, property, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, want, r.Verdict.String(), r.Why)
			if cx := r.Counterexample; cx != nil {
				t.Logf("%s %s: %s", property, cx.Schedule, cx.Trace[len(cx.Trace)-1].Choice)
				ran, err := checker.Replay(r.Scenario, property, cx.Schedule)
				require.NoError(t, err)
				require.True(t, ran.Broken)
			}
			t.Logf("%d executions, %d answers, %d states", r.Stats.Coroutines, r.Stats.Edges, r.Stats.States)
		})
	}
}

// scenario makes the scenario of some command lines over the scripts of testdata.
func scenario(t testing.TB, needs string, lines []string, files map[string]string, setting string, change ...func(*command.Spec)) scenarios.Scenario {
	t.Helper()
	testmain.OneWorker(t) // TestWorkersShareCommands has several
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: programs are traced on linux/amd64 only; go test ./scenarios/command runs it there")
	}
	testmain.Needs(t, needs, "./scenarios/command")
	spec := command.Spec{ID: "test/commands/run", Timeout: time.Minute}
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "python3 "); ok {
			l = testmain.Python(t, "./scenarios/command") + " -SE " + rest
		}
		spec.Commands = append(spec.Commands, command.Line{Shell: l})
	}
	scripts, err := command.Copy("testdata", time.Now())
	require.NoError(t, err)
	spec.Files = used(lines, scripts)
	for name, text := range files {
		f := command.File{Name: name, Content: text, Mode: 0o666}
		if strings.HasSuffix(name, "/") {
			f.Mode = 0 // the usual one: nobody but root gets into a directory with that of a file
		}
		spec.Files = append(spec.Files, f)
	}
	for line := range strings.Lines(setting) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.NoError(t, spec.Set(name, value))
	}
	for _, f := range change {
		f(&spec)
	}
	sc, err := spec.Scenario()
	needTracing(t, err)
	require.NoError(t, err)
	return sc
}

// needTracing skips a test whose scenario could not be made because programs cannot be traced.
func needTracing(t testing.TB, err error) {
	t.Helper()
	testmain.Traced(t, err, "./scenarios/command")
}

// used are the scripts that lines name, and those that these name: every start of a command writes all that
// there are.
func used(lines []string, scripts []command.File) (out []command.File) {
	texts := slices.Clone(lines)
	for n := 0; n < len(texts); n++ {
		scripts = slices.DeleteFunc(scripts, func(f command.File) bool {
			if !strings.Contains(texts[n], f.Name) {
				return false
			}
			texts, out = append(texts, f.Content), append(out, f)
			return true
		})
	}
	return out
}

// Files that commands change outside of the directory for real are not judged, so nothing holds, and they are named.
func TestOutsideIsNamed(t *testing.T) {
	out, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	sc := scenario(t, "sh", twice(fmt.Sprintf("sh -c 'echo 1 > %s/n; echo > here'", out)), nil, "outside real")
	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Unknown, r.Verdict)
	require.Contains(t, r.Why, fmt.Sprintf("change or lock outside /data is not judged: %s/n; ", out))
	sc = scenario(t, "sh", twice("sh -c 'echo > here; echo > /dev/null'"), nil, "")
	r, err = checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict)
}

// A symbolic link that leads out of the directory leads to what is not shared yet, and to no missing file.
func TestLinkThatLeadsOut(t *testing.T) {
	testmain.Needs(t, "sh", "./scenarios/command")
	for target, to := range map[string]string{"../state": "/state/n", "/var": "/var/n"} {
		spec := command.Spec{
			Commands: []command.Line{{Shell: "sh -c 'cat link/n; echo > here'"}, {Shell: "sh -c 'echo > here'"}},
			Files:    []command.File{{Name: "link", Link: target}},
		}
		_, err := spec.Scenario()
		needTracing(t, err)
		got, _ := fsfake.LeadsTo(err.Error())
		require.Equal(t, to, got, "%v", err)
	}
}

// A directory that is named by a symbolic link is copied.
func TestCopyOfALink(t *testing.T) {
	d := t.TempDir()
	require.NoError(t, os.Mkdir(d+"/real", 0o755))
	require.NoError(t, os.WriteFile(d+"/real/n", []byte("0\n"), 0o644))
	require.NoError(t, os.Symlink("real", d+"/link"))
	files, err := command.Copy(d+"/link", time.Now())
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, "n", files[1].Name)
}

// Unrelated processes that live all the time change nothing in what is judged when the commands have ended.
func TestLivingStrangers(t *testing.T) {
	sc := scenario(t, "sh", twice("sh counter.sh"), map[string]string{"n": "0\n"}, "refused none\nliving 99\nliving 50")
	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	for _, pid := range []int{1, 101, 102, 101002, 900, 905} {
		_, err := command.Spec{Commands: []command.Line{{Shell: "sh x"}}, Living: []int{pid}}.Scenario()
		require.ErrorContains(t, err, fmt.Sprintf("command: living %d: ", pid))
	}
	_, err = command.Spec{Commands: []command.Line{{Shell: "sh x"}}, Living: []int{50, 50}}.Scenario()
	require.ErrorContains(t, err, "give each process a pid of its own")
}

// What cannot be judged is an error that says what to do, and no verdict.
func TestNothingToSay(t *testing.T) {
	testmain.Slow(t, "it executes commands that cannot be judged", "./scenarios/command")
	for _, c := range []struct{ line, want string }{
		{"sh nosuch.sh", "fails with exit 2"},
		{"nosuchprogram x", "fails with exit 127: "},
		{"true", "makes no call on a file"},
		{"sh wait-for-ever.sh", "make one command of both"},
		{"sh counter.sh", "never makes cs"},
	} {
		t.Run(c.line, func(t *testing.T) {
			testmain.Needs(t, "sh", "./scenarios/command")
			files, err := command.Copy("testdata", time.Now())
			require.NoError(t, err)
			inside := ""
			if strings.HasPrefix(c.want, "never makes ") {
				inside = "cs"
			}
			_, err = command.Spec{Commands: []command.Line{{Shell: c.line}, {Shell: c.line}}, Files: append(files, command.File{Name: "n", Content: "0\n"}), Inside: inside}.Scenario()
			require.Error(t, err)
			needTracing(t, err)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A file from 1970, as archives hold them, is one of the oldest that there can be.
func TestOldestFiles(t *testing.T) {
	d := t.TempDir()
	require.NoError(t, os.WriteFile(d+"/n", []byte("0\n"), 0o644))
	require.NoError(t, os.Chtimes(d+"/n", time.Unix(0, 0), time.Unix(0, 0)))
	files, err := command.Copy(d, time.Now())
	require.NoError(t, err)
	sc, err := command.Spec{Commands: []command.Line{{Shell: "read x < n"}, {Shell: ": >> n"}}, Files: files}.Scenario()
	needTracing(t, err)
	require.NoError(t, err)
	_, err = checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
}

// Who makes no other call in the directory is told which call is not modelled, too.
func TestRefusedCallIsTheOnlyOne(t *testing.T) {
	line := testmain.Python(t, "./scenarios/command") + ` -I -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(437, -100, b"n", (ctypes.c_ulonglong * 3)(0, 0, 8), 24) < 0)'`
	_, err := command.Spec{Commands: []command.Line{{Shell: line}, {Shell: line}}, Files: []command.File{{Name: "n", Content: "0\n"}}}.Scenario()
	needTracing(t, err)
	require.ErrorContains(t, err, `openat2("n", resolve 0x8) = ENOSYS: have the program do without it`)
}

// A program that goes on another way after a call that is not modelled was not seen to go the first one, so
// nothing holds: here it locks only where sendfile(2) fails.
func TestRefusedCallThatMatters(t *testing.T) {
	testmain.OneWorker(t)
	const text = `import ctypes, fcntl, os, sys
m, f = os.memfd_create("m"), os.open("n", os.O_RDWR)
try:
    if sys.argv[1] == "ring":
        if ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
            raise OSError
        x = os.read(f, 9)
    else:
        os.sendfile(m, f, 0, 9)
        x = os.pread(m, 9, 0)
except OSError:
    fcntl.flock(os.open("lock", os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)
    x = os.read(f, 9)
os.pwrite(f, b"%d" % (int(x) + 1), 0)`
	for way, call := range map[string]string{"copy": "sendfile(3, 4, ", "ring": "io_uring_setup(8, "} {
		line := command.Line{Shell: testmain.Python(t, "./scenarios/command") + ` -I -S up.py ` + way}
		files := []command.File{{Name: "n", Content: "0\n"}, {Name: "up.py", Content: text}}
		sc, err := command.Spec{Commands: []command.Line{line, line}, Files: files}.Scenario()
		needTracing(t, err)
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, checker.Unknown, r.Verdict)
		require.Contains(t, r.Why, "refused a call that it does not model: "+call)
	}
}

// Extended attributes are refused as some file systems do, after which sed goes on: that is no doubt.
func TestRefusedCallAsElsewhere(t *testing.T) {
	sc := scenario(t, "sed", twice("flock lock sed -i s/0/1/ n"), map[string]string{"n": "0\n", "lock": ""}, "")
	decide(t, sc, sc.Claims[0].Property, "holds")
	require.Equal(t, []string{"lockpick does not model these calls and refused them, as a kernel without them does: " +
		`fsetxattr("system.posix_acl_access") = EOPNOTSUPP`}, scenarios.Texts(sc.Assumed()))
	// So is a copy from a file that lies elsewhere, as between two file systems.
	sc = scenario(t, "python3", []string{"python3 elsewhere.py"}, nil, "refused none")
	decide(t, sc, sc.Claims[0].Property, "holds")
}

// What is refused without a doubt about the verdict is assumed all the same.
func TestRefusedCallIsAssumed(t *testing.T) {
	line := testmain.Python(t, "./scenarios/command") + ` -I -S -c 'import ctypes, os; c = ctypes.CDLL(None); ` +
		`c.fallocate(os.open("n", os.O_RDWR), 3, 0, 1); ` +
		`c.syscall(444, 0, 0, 1)'` // as xz(1) does
	sc := scenario(t, "sh", twice(line), map[string]string{"n": "0\n"}, "")
	decide(t, sc, sc.Claims[0].Property, "holds")
	require.Equal(t, []string{"lockpick does not model these calls and refused them, as a kernel without them does: " +
		"fallocate(3, 3, 0, 1) = EOPNOTSUPP, landlock_create_ruleset(0, 0, 1) = ENOSYS"}, scenarios.Texts(sc.Assumed()))
}

// Who fails because a call is not modelled is told which, and not to work alone first.
func TestRefusedCallIsNamed(t *testing.T) {
	const call = `python3 -c 'import os, ctypes, sys
f = os.open("n", os.O_RDWR)
def failing(r): sys.exit(r < 0)
def openat2(resolve): return ctypes.CDLL(None).syscall(437, -100, b"n", (ctypes.c_ulonglong * 3)(0, 0, resolve), 24)
CALL'`
	testmain.Slow(t, "it runs programs that each start python", "./scenarios/command")
	for _, c := range []struct{ call, want string }{
		{`os.setxattr("n", "trusted.a", b"")`, `does not model a call of it and answered setxattr("n") = EOPNOTSUPP: have the program do without it`},
		{`os.sendfile(1, f, 0, 4)`, `sendfile(1, 3, `},
		{`failing(openat2(8))`, `openat2("n", resolve 0x8) = ENOSYS: have the program do without it`},
		{`os.open("n", os.O_DIRECT)`, `open n: open with flags 0x4000 is not modelled; have the program do without it`},
		{`os.truncate(f, 9000); os.lseek(f, 0, os.SEEK_HOLE)`, `lseek fd 3 0 SEEK_HOLE: SEEK_DATA and SEEK_HOLE in a file with a block of zeros is not modelled; have the program do without it`},
	} {
		t.Run(c.call, func(t *testing.T) {
			t.Parallel()
			line := strings.Replace(strings.Replace(call, "CALL", c.call, 1), "python3",
				testmain.Python(t, "./scenarios/command"), 1)
			_, err := command.Spec{Commands: []command.Line{{Shell: line}, {Shell: line}}, Files: []command.File{{Name: "n", Content: "0\n"}}}.Scenario()
			needTracing(t, err)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "work alone first")
		})
	}
}

// Commands that do nothing but refuse, or that only look, leave nothing behind that could be wrong: they do not hold.
// What is wrong all the same is broken.
func TestNothingToJudge(t *testing.T) {
	for _, c := range []struct{ line, setting, want string }{
		{"sh -c 'read x < n; exit 75'", "refused 75", "cannot be judged by serializable: in whatever order they run, the commands do nothing but refuse ("},
		{"sh -c 'read x < n; exit 75'", "refused 75\ncrashes 1", "do nothing but refuse"},
		{"sh -c 'read x < n; exit 75'", "refused 75\nliving 99", "holds"}, // who lives may be what keeps them out
		{"sh -c 'mkdir d 2>&-; rmdir d 2>&- || : > f; exit 75'", "refused 75", "broken"},
		{"sh -c 'read x < n'", "refused none", "no command changes, makes or locks a file"},
		{"sh -c 'read x < n'", "refused none\nliving 99", "holds"},
		{"sh -c ': >> n'", "refused none", "holds"},
	} {
		sc := scenario(t, "sh", twice(c.line), map[string]string{"n": "0\n"}, c.setting)
		p, err := scenarios.FindProperty(scenarios.Serializable.ID, sc)
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), &sc, p, checker.Options{SkipOdds: true})
		if c.want == "holds" || c.want == "broken" {
			require.NoError(t, err, c.setting)
			require.Equal(t, c.want, r.Verdict.String())
			continue
		}
		require.ErrorIs(t, err, checker.ErrNothingToJudge)
		require.ErrorContains(t, err, c.want)
	}
}

func TestParse(t *testing.T) {
	text, err := os.ReadFile("testdata/race.txtar")
	require.NoError(t, err)
	s, err := command.Parse(text)
	require.NoError(t, err)
	require.Equal(t, "sh bump.sh", s.Commands[0].String())
	require.Len(t, s.Commands, 2)
	require.Equal(t, "/srv", s.Dir)
	require.Equal(t, []int{75}, s.Refused.Statuses)
	require.Len(t, s.Files, 2)
	for _, bad := range []string{"", "-- commands --\n\n", "-- commands --\ntrue\n-- setting --\nnosuch 1\n", "-- commands --\ntrue\n-- setting --\ncrashes -1\n"} {
		_, err := command.Parse([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("-- commands --\nsh a\n-- setting --\nrefused 1,2\n-- n --\n0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := command.Parse(text); err == nil && len(s.Commands) == 0 {
			t.Fatal("no commands and no error")
		}
	})
}

// Each execution of a command with the same answers happens once in each process, and where there
// is only one with that command, twice; the claims after the first one need none.
func TestExecutionsAreShared(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	line := fmt.Sprintf("sh -c 'echo >> %s; sh counter.sh'", count)
	executions := func() int {
		text, err := os.ReadFile(count)
		require.NoError(t, err)
		return len(text)
	}
	sc := scenario(t, "sh", twice(line), map[string]string{"n": "0\n"}, "outside real")
	sc.Unjudged = nil // but for the count of executions, which is no part of the question
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	paths := r.Stats.Coroutines / 2 // each is learned and looked at again
	before := executions()
	require.LessOrEqual(t, before, paths+8, "serial runs, and those on the kernel, come on top")
	decide(t, sc, scenarios.Deadlock, "holds")
	require.LessOrEqual(t, executions(), before+10, "whether times matter is tried once, for both")
	before = executions()
	decide(t, sc, scenarios.Deadlock, "holds")
	_, err = checker.Replay(&sc, p, r.Counterexample.Schedule)
	require.NoError(t, err)
	require.Equal(t, before, executions())
}

// A command that does not do the same twice gets an error that says where, and no verdict.
func TestNotAFunction(t *testing.T) {
	testmain.Slow(t, "it runs programs that differ from run to run", "./scenarios/command")
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("SKIPPED: it needs /proc/self/schedstat; where the kernel has it go test ./scenarios/command runs it")
	}
	for _, line := range []string{
		`sh -c 'mkdir d || { read x < /proc/self/schedstat; echo $x > n; }'`,
		`sh -c 'read x < /proc/self/schedstat; mkdir d || echo $x > n'`, // before a snapshot, and told after it
	} {
		for _, change := range [][]func(*command.Spec){nil, {command.SnapshotEverywhere}} {
			sc := scenario(t, "sh", twice(line), map[string]string{"n": "0\n"}, "", change...)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			_, err = checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.Contains(t, new(command.Spec).Unseen(err),
				"is not a function of what its calls answer: after the same")
		}
	}
}

var allSnapshots = flag.Bool("snapshots.all", false, "compare verdicts with and without snapshots of every program, not only of two in sh")

// With snapshots wherever they are possible everything is as without, but for how often a command is
// started.
func TestSnapshotsChangeNothing(t *testing.T) {
	for _, p := range programs {
		if !*allSnapshots && p.name != "counter in sh" && p.name != "stat-then-write in sh" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var starts []int
			var results []checker.Result
			for _, change := range []func(*command.Spec){command.SnapshotEverywhere, func(s *command.Spec) { s.NoSnapshots = true }} {
				count := filepath.Join(t.TempDir(), "count")
				sc := scenario(t, p.needs, p.lines, p.files, p.setting, change, func(s *command.Spec) {
					s.RealOutside = true // for the count
					for i := range s.Commands {
						s.Commands[i].Shell = fmt.Sprintf("echo >> '%s'; exec %s", count, s.Commands[i].Shell)
					}
				})
				id, _, named := strings.Cut(p.verdict, ":")
				if !named {
					id = "serializable"
				}
				property, err := scenarios.FindProperty(id, sc)
				require.NoError(t, err)
				r, err := checker.Check(t.Context(), &sc, property, checker.Options{Workers: 1, SkipOdds: true})
				require.NoError(t, err)
				text, err := os.ReadFile(count)
				require.NoError(t, err)
				starts, results = append(starts, len(text)), append(results, r)
			}
			with, without := results[0], results[1]
			require.Equal(t, without.Verdict, with.Verdict)
			require.Equal(t, without.Stats.Coroutines, with.Stats.Coroutines)
			require.Equal(t, without.Stats.Edges, with.Stats.Edges)
			require.Equal(t, without.Stats.States, with.Stats.States)
			require.Equal(t, without.Stats.Transitions, with.Stats.Transitions)
			require.Equal(t, without.Stats.Covered, with.Stats.Covered)
			require.Equal(t, without.Counterexample == nil, with.Counterexample == nil)
			if with.Counterexample != nil {
				require.Equal(t, without.Counterexample.Schedule, with.Counterexample.Schedule)
			}
			t.Log("starts with and without", starts)
			if p.name == "stat-then-write in sh" { // of few paths, as many are looked at again from the start as are spared
				require.Less(t, starts[0], starts[1])
			}
		})
	}
}
