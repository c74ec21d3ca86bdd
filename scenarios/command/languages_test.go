package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// languages are how one program is run in each language; %s is its name without an ending.
var languages = []struct{ name, needs, line string }{
	{"sh", "sh", "sh %s.sh"},
	{"bash", "bash", "bash %s.bash"},
	{"python", "python3", "python3 %s.py"},
	{"node", "node", "node %s.js"},
	{"node with promises", "node", "node %s.mjs"},
	{"perl", "perl", "perl %s.pl"},
	{"Go", "go", "%s.go"},
	{"C", "gcc", "%s.c"},
}

// Two locks, each in every language: one that looks and then writes is broken, one that polls
// with O_EXCL holds. Of the second bash has none of its own: set -C makes the same calls in sh.
// That it holds in sh, python, Go and C shows what a wrong answer of the machine would break in all.
func TestLanguages(t *testing.T) {
	for _, lock := range []struct{ name, setting, verdict string }{
		{"stat-then-write", "inside cs\nrefused 1", "broken"},
		{"excl", "inside cs", "holds"},
	} {
		for _, l := range languages {
			t.Run(lock.name+" in "+l.name, func(t *testing.T) {
				t.Parallel()
				if testing.Short() && l.name != "C" {
					t.Skip("SKIPPED with -short: interpreters take long to start, compilers to compile; go test ./scenarios/command runs it")
				}
				if l.name == "bash" || l.name == "node" || l.name == "perl" || lock.name == "excl" && l.name == "sh" {
					testmain.OnlyLong(t, "others make the calls of sh or poll in it; promises make those of node",
						"./scenarios/command")
				}
				if lock.name == "excl" && l.needs != "sh" && l.needs != "python3" && l.needs != "bash" {
					testmain.OnlyLong(t, "its calls are seen in the lock that is broken, and the loop is that of others",
						"./scenarios/command")
				}
				name := lock.name
				if name == "excl" && l.name == "bash" {
					t.Skip("SKIPPED: its calls are those of excl in sh, which is run beside it; go test ./scenarios/command runs that")
				}
				line := strings.ReplaceAll(l.line, "%s", name)
				if !strings.Contains(line, " ") {
					line = compiled(t, l.needs, line)
				}
				if l.name == "python" && lock.name == "stat-then-write" { // once with all that it reads at its start
					line = strings.Replace(line, "python3", testmain.Python(t, "./scenarios/command"), 1)
				}
				sc := scenario(t, l.needs, twice(line), nil, lock.setting)
				decide(t, sc, scenarios.MutualExclusion, lock.verdict)
			})
		}
	}
}

// Counters and stores that are read, changed and written.
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		needs   string
		lines   []string
		verdict string
	}{
		{"python3", twice("python3 counter.py"), "broken"},
		{"python3", twice("python3 fcntl-counter.py"), "holds"},
		{"flock", twice("flock lock python3 counter.py"), "holds"},
		{"node", twice("node counter.mjs"), "broken"},
		{"flock", []string{"flock lock sh counter.sh", "flock lock sh counter.sh", "flock lock sh counter.sh", "flock lock sh counter.sh"}, "holds"},
	} {
		t.Run(strings.Join(c.lines, " | "), func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, strings.Join(c.lines, " | "), "./scenarios/command",
				"python3 counter.py | python3 counter.py", "python3 fcntl-counter.py | python3 fcntl-counter.py")
			if testing.Short() {
				t.Skip("SKIPPED with -short: interpreters take long to start; go test ./scenarios/command runs it")
			}
			for i, l := range c.lines {
				if strings.Contains(l, "python3") {
					c.lines[i] = strings.ReplaceAll(l, "python3", testmain.Python(t, "./scenarios/command")+" -SE")
				}
			}
			sc := scenario(t, c.needs, c.lines, map[string]string{"n": "0\n", "lock": ""}, "")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
		})
	}
}

// A lock by flock(2) in Go holds; removed before it is unlocked it does not, which takes three.
func TestFlockInGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED with -short: it is compiled, which takes seconds; go test ./scenarios/command runs it")
	}
	bin := compiled(t, "go", "lockfile.go")
	for _, c := range []struct {
		line, verdict string
		n             int
	}{{bin, "holds", 2}, {bin + " remove", "broken", 3}} {
		var lines []string
		for range c.n {
			lines = append(lines, c.line)
		}
		decide(t, scenario(t, "go", lines, nil, "inside cs"), scenarios.MutualExclusion, c.verdict)
	}
}

// Goroutines that lock beside each other, each with a descriptor of its own, are followed in every order.
func TestGoroutinesLock(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it is compiled, which takes seconds", "./scenarios/command")
	bin := compiled(t, "go", "goroutines.go")
	for other, verdict := range map[string]string{"flock lk true": "holds", "flock lk cp n m": "broken"} {
		if verdict == "holds" && !testmain.Long() {
			continue // TestFlockInGo holds
		}
		sc := scenario(t, "flock", []string{bin, other}, map[string]string{"n": "0"}, "refused none")
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		decide(t, sc, p, verdict)
	}
}

// A timer ends the wait for a lock, or it does not: both are followed, and what becomes of a command whose time
// has come is judged as anything else.
func TestTimedWaits(t *testing.T) {
	t.Parallel()
	const restarts = `perl -e 'use POSIX; use Fcntl ":flock"; open(my $f, ">>", "lock"); sigaction(SIGALRM, POSIX::SigAction->new(sub {}, POSIX::SigSet->new, SA_RESTART)); alarm 1; flock($f, LOCK_EX) or exit 2; system "sh", "counter.sh"'`
	for _, c := range []struct {
		needs, line, refused, verdict string
	}{
		{"flock", "flock -w 1 lock sh counter.sh", "1", "holds"},
		{"flock", "flock -w 1 lock sh counter.sh", "none", "broken"}, // one that gave up has not counted
		{"flock", "flock -w 1 lock true; sh counter.sh", "1", "broken"},
		{"flock", "flock -w 1 lock sh counter.sh || :", "1", "broken"},
		{"perl", restarts, "none", "holds"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			if c.needs == "perl" || strings.HasSuffix(c.line, "true; sh counter.sh") {
				testmain.OnlyLong(t, "others wait for a time and go on without the lock", "./scenarios/command")
			}
			sc := scenario(t, c.needs, twice(c.line), map[string]string{"n": "0\n", "lock": ""}, "refused "+c.refused)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, c.verdict)
			decide(t, sc, scenarios.Deadlock, "holds")
		})
	}
}

// Who waits on when the shell that has started him is killed has chosen to; that his time comes instead is
// another way.
func TestTimedWaitsOutliveTheirParent(t *testing.T) {
	testmain.Slow(t, "kills of process trees have many serial orders", "./scenarios/command")
	t.Parallel()
	lines := []string{"flock -w 1 lock sh add.sh 1", "flock -w 1 lock sh add.sh 10"}
	files := map[string]string{"n": "0\n", "lock": "", "add.sh": "read x < n; echo $((x+$1)) > n\n"}
	sc := scenario(t, "flock", lines, files, "refused 1\ncrashes 1")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	decide(t, sc, p, "holds")
}

// A shell that only waits for such a one is killed: he tries his lock once more before he waits on.
func TestTimedWaitsOfAKilledParent(t *testing.T) {
	t.Parallel()
	sc := scenario(t, "flock", twice("flock -w 1 lock cat n; true"), map[string]string{"n": "", "lock": ""}, "crashes 1")
	decide(t, sc, scenarios.Wedge, "holds")
	decide(t, sc, scenarios.Deadlock, "holds")
}

// Two that wait for each other's lock do so for ever, but where a timer ends one of the waits. One that goes off, and
// leaves the wait as it is, ends nothing.
func TestTimeoutsAndDeadlocks(t *testing.T) {
	t.Parallel()
	const beats = "flock a sh -c 'while :; do : >beat; sleep 1; done & flock b true; kill $!'"
	for _, c := range []struct{ a, b, verdict string }{
		{"flock a flock b cat n", "flock b flock a cat n", "broken"},
		{"flock -w 1 a flock -w 1 b cat n", "flock -w 1 b flock -w 1 a cat n", "holds"},
		{"flock -w 1 a flock b cat n", "flock b flock a cat n", "broken"},           // both have their first
		{"timeout 3 flock a flock b cat n; true", "flock b flock a cat n", "holds"}, // the signal is for all
		{"flock a sh -c 'sleep 1 & flock b cat n; wait'", "flock b flock a cat n", "broken"},
		{"flock a sh -c 'sleep 1; cat n' & flock a cat n; wait", "flock a cat n", "holds"},
		{beats, "flock b flock a cat n", "broken"},
		{beats, "flock a flock b cat n", "holds"},
	} {
		t.Run(c.a+", "+c.b, func(t *testing.T) {
			t.Parallel()
			if !strings.HasPrefix(c.a, "flock -w") && c.verdict == "holds" {
				testmain.OnlyLong(t, "others wait while a child sleeps, or a timer runs", "./scenarios/command")
			}
			sc := scenario(t, "flock", []string{c.a, c.b}, map[string]string{"n": "", "a": "", "b": ""}, "refused 1")
			r := decide(t, sc, scenarios.Deadlock, c.verdict)
			if r.Counterexample != nil {
				again, err := checker.Replay(&sc, scenarios.Deadlock, r.Counterexample.Schedule)
				require.NoError(t, err)
				require.True(t, again.Broken)
				return
			}
			drawn, err := checker.Sample(t.Context(), &sc, scenarios.Deadlock, checker.SampleOptions{Runs: 30})
			require.NoError(t, err)
			require.Zero(t, drawn.Failures)
		})
	}
}

// git's own locks hold: who does not get one fails, and has changed nothing.
func TestGit(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: git makes many calls; go test ./scenarios/command runs it")
	}
	repo := repository(t)
	head := strings.TrimSpace(gitIn(t, repo, "rev-parse", "HEAD"))
	for _, c := range []struct {
		refused string
		lines   []string
	}{
		{"255", []string{"git config a.b 1", "git config a.c 2"}},
		{"128", []string{"git add a", "git add b"}},
		{"1,128", []string{"git update-ref refs/heads/x " + head, "git update-ref -d refs/heads/x"}},
	} {
		t.Run(c.lines[0], func(t *testing.T) {
			t.Parallel()
			if c.refused != "255" {
				testmain.OnlyLong(t, "git config locks as the others do", "./scenarios/command")
			}
			files, err := command.Copy(repo, time.Now())
			require.NoError(t, err)
			sc := traced(t, command.Spec{ID: "test/git/run", Files: files, Timeout: time.Minute}, c.lines, "refused "+c.refused)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, "holds")
		})
	}
}

// decide checks a property of a scenario.
func decide(t *testing.T, sc scenarios.Scenario, p *scenarios.Property, want string) checker.Result {
	t.Helper()
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, want, r.Verdict.String(), r.Why)
	t.Logf("%d executions, %d answers, %d states", r.Stats.Coroutines, r.Stats.Edges, r.Stats.States)
	return r
}

// traced is the scenario of some commands, where programs can be traced.
func traced(t *testing.T, spec command.Spec, lines []string, setting string) scenarios.Scenario {
	t.Helper()
	sc, err := asked(t, spec, lines, setting)
	require.NoError(t, err)
	return sc
}

// asked is traced, or why there is no scenario.
func asked(t *testing.T, spec command.Spec, lines []string, setting string) (scenarios.Scenario, error) {
	t.Helper()
	testmain.OneWorker(t) // as in scenario
	for _, l := range lines {
		spec.Commands = append(spec.Commands, command.Line{Shell: l})
	}
	for line := range strings.Lines(setting) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.NoError(t, spec.Set(name, value))
	}
	sc, err := spec.Scenario()
	needTracing(t, err)
	return sc, err
}

// compiled is a program of testdata, compiled.
func compiled(t *testing.T, compiler, source string) string {
	t.Helper()
	testmain.Needs(t, compiler, "./scenarios/command")
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	bin := filepath.Join(dir, strings.ReplaceAll(source, ".", "-"))
	args := []string{"-O1", "-pthread", "-o", bin, "testdata/" + source}
	if compiler == "go" {
		args = []string{"build", "-o", bin, "testdata/" + source}
	}
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// repository makes a small git repository with two changed files.
func repository(t *testing.T) string {
	t.Helper()
	testmain.Needs(t, "git", "./scenarios/command")
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "--template=")
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte("old\n"), 0o644))
	}
	gitIn(t, repo, "add", "a", "b")
	gitIn(t, repo, "commit", "-qm", "one")
	gitIn(t, repo, "branch", "x")
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte("new text\n"), 0o644))
	}
	return repo
}

func gitIn(t *testing.T, repo string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = repo
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}
	out, err := cmd.Output()
	require.NoError(t, err, "git %v", args)
	return string(out)
}

// Workers that decide the same commands side by side share what is known of them.
func TestWorkersShareCommands(t *testing.T) {
	testmain.Needs(t, "sh", "./scenarios/command")
	spec := command.Spec{ID: "test/commands/shared", Files: []command.File{{Name: "n", Content: "0\n"}}}
	sc := traced(t, spec, twice("read x < n; echo $((x+1)) > n"), "")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	for _, workers := range []int{1, 3} {
		r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: workers, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, scenarios.Broken, r.Verdict, r.Why)
	}
}
