package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

const counting = `A counter that two scripts increment.
-- commands --
sh bump.sh
sh bump.sh
-- setting --
dir /srv/counter
-- n --
0
-- bump.sh --
read x < n
echo $((x+1)) > n
`

// tracing reports why the race cannot be traced, once for all tests: nil where it can be.
var tracing = sync.OnceValue(func() error {
	spec, err := command.Parse([]byte(counting))
	if err == nil {
		_, err = spec.Scenario()
	}
	return err
})

// raceFile writes the race, and skips the test where it cannot be traced.
func raceFile(t *testing.T) string {
	t.Helper()
	testmain.OneWorker(t) // who follows programs
	testmain.Needs(t, "sh", "./checker/cli")
	testmain.Traced(t, tracing(), "./checker/cli")
	require.NoError(t, tracing())
	file := filepath.Join(t.TempDir(), "race.txtar")
	require.NoError(t, os.WriteFile(file, []byte(counting), 0o600))
	return file
}

// What a run prints: the table of what differs, the kernel's word, the counts.
func TestRunOutput(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	file := raceFile(t)
	sh, err := filepath.EvalSymlinks("/bin/sh")
	require.NoError(t, err)
	if filepath.Base(sh) != "dash" {
		t.Skipf("SKIPPED: the golden file is of dash, and sh is %s: go test ./checker/cli runs it elsewhere", sh)
	}
	save := filepath.Join(t.TempDir(), "r")
	got := run(t, "run", "--width", "100", "--save", save, file)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	text := regexp.MustCompile(`\d+\.\d s\n`).ReplaceAllString(strings.ReplaceAll(got.stdout, save, "FILE"), "0.0 s\n")
	golden.Check(t, "run.txt", text)
}

// The page of a run shows the ends beside each other, and the command that shows the run again.
func TestRunWritesAPage(t *testing.T) {
	file := raceFile(t)
	dir := t.TempDir()
	got := run(t, "run", "--property", "serializable", "--html", dir, file)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	pages, err := filepath.Glob(filepath.Join(dir, "scenarios", "*.html"))
	require.NoError(t, err)
	require.Len(t, pages, 1)
	page, err := os.ReadFile(pages[0])
	require.NoError(t, err)
	require.Contains(t, string(page), `<th scope="col">here</th><th scope="col">A then B</th>`)
	require.Contains(t, string(page), "run --save race.lockpick --property serializable ")
	require.False(t, strings.Contains(string(page), "holds the lock"), "no lock is in question")
}

// A saved run holds all that is needed: it is replayed without the scripts, on the fake and on
// the kernel.
func TestRunIsSavedAndReplayed(t *testing.T) {
	file := raceFile(t)
	save := filepath.Join(t.TempDir(), "race.lockpick")
	require.Equal(t, ExitDiffers, run(t, "run", "--save", save, file).exit)
	t.Chdir(t.TempDir())
	got := run(t, "replay", save, "--real", "--times", "2")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "BROKEN  serializable")
	require.Contains(t, got.stdout, "real    2 of 2 runs go as on the model")

	// With the script mended the schedule breaks nothing any more.
	text, err := os.ReadFile(save)
	require.NoError(t, err)
	mended := bytes.Replace(text, []byte("\nread x < n\n"), []byte("\nexec 9< n; flock 9; read x < n\n"), 1)
	require.NotEqual(t, text, mended)
	require.NoError(t, os.WriteFile(save, mended, 0o600))
	if _, err := exec.LookPath("flock"); err == nil {
		got = run(t, "replay", save)
		require.Equal(t, ExitDiffers, got.exit, got.stderr)
		require.Contains(t, got.stdout, "holds")
	}
}

// A directory may be given relative to the current one; an archive's own is absolute.
func TestRunDirIsRelative(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("data", 0o755))
	require.NoError(t, os.WriteFile("data/n", []byte("0\n"), 0o600))
	const bump = "read x < n; echo $((x+1)) > n"
	for _, args := range [][]string{{"--dir", "data"}, {"--dir=./data/"}, {"--dir", "data/../data"}} {
		got := run(t, append(append([]string{"run", "--property", "serializable"}, args...), bump, bump)...)
		require.Equal(t, ExitDiffers, got.exit, got.stderr)
		require.Contains(t, got.stdout, "files in "+filepath.Join(dir, "data"))
	}
	t.Chdir("data")
	require.Equal(t, ExitDiffers, run(t, "run", "--property", "serializable", "--dir", ".", bump, bump).exit)
	t.Chdir("/")
	got := run(t, "run", "--dir", ".", bump, bump)
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "cannot be the root")
}

// A directory that is a symbolic link is the one that the link leads to, with its files.
func TestRunDirIsALink(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(root+"/real", 0o755))
	require.NoError(t, os.WriteFile(root+"/real/n", []byte("0\n"), 0o644))
	require.NoError(t, os.Symlink("real", root+"/link"))
	f := &runFlags{}
	spec := command.Spec{Dir: root + "/link"}
	require.NoError(t, f.files(&spec, false))
	require.Equal(t, root+"/real", spec.Dir)
	require.Len(t, spec.Files, 2)
}

func TestRunWritesFormats(t *testing.T) {
	file := raceFile(t)
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/check-v1.json")
	require.NoError(t, err)
	dir := t.TempDir()
	got := run(t, "run", "--json", "--html", filepath.Join(dir, "site"), "--svg", filepath.Join(dir, "a.svg"), file)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(got.stdout))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(v))
	require.Contains(t, got.stdout, `"kernel": "the model agrees with this kernel`)
	require.Contains(t, got.stdout, `"A then B"`)
	require.Regexp(t, `"assumed_codes": \[\s+"outside-unchanged",\s+"clock-stands-still"\s+\]`, got.stdout)
	require.FileExists(t, filepath.Join(dir, "site", "index.html"))
	require.FileExists(t, filepath.Join(dir, "a.svg"))

	got = run(t, "run", "--markdown", "-", "--property", "serializable", file)
	require.Contains(t, got.stdout, "**Kernel:** the model agrees")
	require.Contains(t, got.stdout, "|  | here | A then B | B then A |")
	require.NotContains(t, got.stdout, "claim", "nobody claims anything of commands")
	again := replayFrom(t, got.stdout)
	require.Equal(t, ExitAsClaimed, again.exit, again.stderr)
	require.True(t, strings.HasPrefix(again.stdout, "### "), again.stdout)
	require.Contains(t, again.stdout, "\nlockpick bundle, version 2\n")
	got = run(t, "run", "--save", filepath.Join(dir, "x"), "--property", "deadlock", file)
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "there is no counterexample")
}

// replayFrom replays the bundle of an issue in an empty directory, as an issue again.
func replayFrom(t *testing.T, issue string) outcome {
	t.Helper()
	t.Chdir(t.TempDir())
	_, text, found := strings.Cut(issue, "```text\nlockpick bundle")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n```")
	require.NoError(t, os.WriteFile("race.lockpick", []byte("lockpick bundle"+text+"\n"), 0o600))
	return run(t, "replay", "--markdown", "-", "race.lockpick")
}

// pidFile is a script that takes over the lock of a dead process: its space has some 50 000 states, and takes
// hundreds of executions.
const pidFile = `-- job.sh --
if [ -f job.pid ]; then
  pid=$(cat job.pid)
  if kill -0 "$pid" 2>/dev/null; then exit 1; fi
  rm -f job.pid
fi
echo $$ > job.pid
n=$(cat n); echo $((n+1)) > n
rm -f job.pid
-- job.pid --
99999
-- n --
0
-- commands --
sh job.sh
sh job.sh
`

// Where a space takes many executions, schedules with few preemptions come first. What they break is confirmed, and
// none that is smaller exists.
func TestRunPreemptsFirst(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	spec, err := command.Parse([]byte(pidFile))
	require.NoError(t, err)
	sc, err := spec.Scenario()
	require.NoError(t, err)
	var found []*checker.Result
	o := checker.Options{Workers: 1, Found: func(r *checker.Result) { found = append(found, r) }}
	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, o)
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	require.Len(t, found, 1, "it is told of the first counterexample, once")
	require.False(t, found[0].Counterexample.Smallest)
	require.True(t, r.Counterexample.Smallest, r.Why)
	require.Equal(t, 2, r.Counterexample.Cost.Preemptions)
	require.Less(t, r.Stats.Coroutines, 200)
	tr := r.Counterexample.Trace
	c := spec.Carry(t.Context(), carrySteps(tr), tr[len(tr)-1].After, false)
	require.True(t, c.Confirmed(), c.String())
}

// What is given and says nothing is refused, before anything is executed.
func TestRunRefusesFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--timeout", "-1s"}, {"--inside", ""}, {"--refused", ""}, {"--env", "NAME"},
		{"--crashes", "-1"}, {"--failing-calls", "x"}, {"--power-losses", "2"}, {"--fs", "ntfs"},
		{"--skew", "1"}, {"--stalls", "-1"}, {"--stall-for", "x"},
		{"--kill", "group"}, {"--fail-with", "EIO"}, {"--crashes", "1", "--kill", "all"},
	} {
		got := run(t, append(append([]string{"run"}, args...), "echo x > f")...)
		require.Equal(t, ExitUsage, got.exit, args)
		require.Contains(t, got.stderr, strings.TrimPrefix(args[len(args)-2], "--"), args)
		require.Empty(t, got.stdout, args)
	}
}

// A property that is not asked says why.
func TestRunSaysWhyAPropertyIsNotAsked(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	got := run(t, "run", "--crashes", "1", "--property", "atomic", "--dir", t.TempDir(), "mkdir a")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "--property atomic: whether a file is as before or as after is not asked: the "+
		"commands write none that was there at the start. Choose serializable")
	got = run(t, "run", "--power-losses", "1", "--dir", t.TempDir(), "mkdir a", "mkdir b")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "nothing can be asked of these commands: ")
	require.Contains(t, got.stderr, "; whether what a command has done outlives a loss of power is asked of one")
}

// Whoever forgets the -- before a command is told what was understood.
func TestRunWithoutDashes(t *testing.T) {
	got := run(t, "run", "sh", "cron.sh")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, `"sh" and "cron.sh" are taken for two commands, and sh alone runs nothing`)
	require.Contains(t, got.stderr, "lockpick run -- sh cron.sh")
}

// The options of a setting are those of the table, and what they ask for is in the verdict.
func TestRunSettings(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	got := run(t, "run", "--failing-calls", "1", "--power-losses", "1", "--fs", "ext4", "--property", "wedge",
		"--dir", t.TempDir(), "exec mkdir -p a")
	require.Equal(t, 0, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "up to 1 power loss, up to 1 failing call, on ext4")
}

// A search that is interrupted while schedules with few preemptions are made says so.
func TestRunStoppedWhilePreempting(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	spec, err := command.Parse([]byte(pidFile))
	require.NoError(t, err)
	sc, err := spec.Scenario()
	require.NoError(t, err)
	seen := ""
	for left := 4; left < 2000 && !strings.Contains(seen, "(at most 1)"); left += 4 {
		asked := &askedContext{Context: t.Context(), left: left}
		r, err := checker.Check(asked, &sc, sc.Claims[0].Property, checker.Options{SkipOdds: true, Workers: 1})
		require.NoError(t, err)
		require.Equal(t, checker.Unknown, r.Verdict)
		seen = r.Why
	}
	require.Contains(t, seen, "it was stopped while schedules with few preemptions were made (at most 1)")
}

// An askedContext is cancelled when it was asked so many times.
type askedContext struct {
	context.Context
	left int
}

// Err implements context.Context.
func (c *askedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// What a program stores in shared memory is no call, so nothing is decided, and the reason says so.
func TestRunOfSharedMemory(t *testing.T) {
	raceFile(t)
	python := testmain.Python(t, "./checker/cli") + " -SE"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	got := run(t, "run", "--dir", dir, "--crashes", "1", "--property", "atomic", "--native", "off",
		python+` -c 'import mmap; f=open("f","r+b"); mmap.mmap(f.fileno(),0)[0:1]=b"Z"'`)
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Contains(t, got.stdout, "maps the file "+filepath.Join(dir, "f")+" as shared memory")
}

// One command writes to a file that another maps, but not where they run one after the other. That is unknown, too.
func TestRunOfSharedMemoryThatIsWritten(t *testing.T) {
	raceFile(t)
	python := testmain.Python(t, "./checker/cli") + " -SE"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	got := run(t, "run", "--dir", dir, "--property", "serializable", "--native", "off",
		python+` -c 'import mmap, os; mmap.mmap(os.open("f", 0), 0, 1, 1); os.mkdir("x"); os.rmdir("x")'`,
		`if test -e x; then echo b >> f; fi`)
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Contains(t, got.stdout, "A file that a program maps as shared memory is written later")
}

// What is not modelled is unknown as well, and no error: native runs say more.
func TestRunOfWhatIsNotModelled(t *testing.T) {
	raceFile(t)
	testmain.InRealTime(t, "./checker/cli")
	testmain.Needs(t, "perl", "./checker/cli")
	const setxattr = `perl -e '($f, $a, $v) = ("n", "user.v", "1"); exit !!syscall 188, $f, $a, $v, 1, 0'`
	for script, want := range map[string]string{
		`perl -e 'sysopen F, "n", 0x4000'; ` + bumps: "flags 0x4000 is not modelled", // O_DIRECT
		bumps + "; " + setxattr:                      "does not model a call of it and answered",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
		got := run(t, "run", "--dir", dir, "--native", "1m", "-n", "2", "--", "sh", "-c", script)
		testmain.Viewed(t, got.stdout, "./checker/cli")
		require.Equal(t, ExitUnknown, got.exit, got.stderr)
		said := strings.Join(strings.Fields(got.stdout), " ")
		require.Contains(t, said, want)
		require.Regexp(t, `native [AB] stopped after \d+ calls, [AB] to its end, .*: no serial order`, said)
	}
}

// A line of shell may be copied, too.
func TestCopiesOfALine(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	got := run(t, "run", "--dir", dir, "--native", "off", "--property", "serializable", "-n", "2",
		"read x <n; echo $((x+1)) >n")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, "× 2")
}

// What is unknown was asked with failures for refusals. So it is natively: one that finds the lock taken is no bad end.
func TestRefusalsOfWhatIsUnknown(t *testing.T) {
	raceFile(t)
	testmain.InRealTime(t, "./checker/cli")
	testmain.Needs(t, "perl", "./checker/cli")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	got := run(t, "run", "--dir", dir, "--native", "3s", "-n", "2", "--", "sh", "-c",
		`perl -e 'sysopen F, "n", 0x4000'; mkdir l || exit 3; read x <n; echo $((x+1)) >n; rmdir l`)
	testmain.Viewed(t, got.stdout, "./checker/cli")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Regexp(t, `native +(\d+ of )?\d+ runs with one preemption, \d+ random, all as in some serial order`,
		got.stdout)
}

// A reader is asked about all disks where the few at first break nothing, also where the command acts on file times and
// is decided once more for that.
func TestReaderOfAllDisks(t *testing.T) {
	raceFile(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	got := run(t, "run", "--dir", dir, "--power-losses", "1", "--property", "atomic", "--native", "off", "--skip-odds",
		"--read", "cat f", "for i in 1 2 3 4; do echo > x$i; done; echo new > t; sync t; [ x1 -nt f ] && : > c; mv t f")
	require.Zero(t, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "HOLDS  atomic")
}
