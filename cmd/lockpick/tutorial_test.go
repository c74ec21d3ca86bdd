package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/golden"
)

// A newcomer follows docs/tutorial.md in an empty directory, with nothing but go.
type newcomer struct {
	t   *testing.T
	dir string
	env []string
}

func arrive(t *testing.T) *newcomer {
	t.Helper()
	env := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	return &newcomer{t: t, dir: t.TempDir(), env: []string{
		"PATH=" + filepath.Join(env("GOROOT"), "bin"),
		"HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir(),
		"GOCACHE=" + env("GOCACHE"), "GOMODCACHE=" + env("GOMODCACHE"), "GOPATH=" + env("GOPATH"),
		// What lockpick needs is in the module cache: nothing is fetched.
		// Without tables for debuggers a binary is linked in half the time, and go vet comes last.
		"GOFLAGS=-mod=mod -ldflags=-w -vet=off", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local",
		"CGO_ENABLED=0", "GOOS=" + runtime.GOOS,
	}}
}

// module makes the newcomer's module. Its requirements are those of docs/tutorial, which
// are what go mod tidy finds.
func (n *newcomer) module(root string) {
	n.t.Helper()
	// In a fresh clone the module cache lacks what no test here imports.
	build := exec.Command("go", "build", "./checker/checkertest", "./checker/cli", "./fsfake/osfs")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(n.t, err, string(out))
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(tutorial, name))
		require.NoError(n.t, err)
		require.NoError(n.t, os.WriteFile(filepath.Join(n.dir, name), text, 0o644))
	}
	n.must("go", "mod", "edit", "-module=example.com/seat", "-replace=lockpick="+root)
}

// run runs a command and returns what it printed, and whether it succeeded.
func (n *newcomer) run(env, name string, args ...string) (string, bool) {
	n.t.Helper()
	if name == "go" {
		name = filepath.Join(strings.TrimPrefix(n.env[0], "PATH="), "go")
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = n.dir, n.env
	if env != "" {
		c.Env = append(c.Env[:len(c.Env):len(c.Env)], env)
	}
	out, err := c.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		require.NoError(n.t, err)
	}
	return string(out), err == nil
}

// must runs a command that has to succeed.
func (n *newcomer) must(name string, args ...string) string {
	n.t.Helper()
	out, ok := n.run("", name, args...)
	require.True(n.t, ok, "%s %v\n%s", name, args, out)
	return out
}

// fails runs a command that has to fail.
func (n *newcomer) fails(name string, args ...string) string {
	n.t.Helper()
	out, ok := n.run("", name, args...)
	require.False(n.t, ok, "%s %v\n%s", name, args, out)
	return out
}

// take copies the files of a step of the tutorial to a directory.
func (n *newcomer) take(step, to string) {
	n.t.Helper()
	files, err := filepath.Glob(filepath.Join(tutorial, step, "*.go"))
	require.NoError(n.t, err)
	require.NotEmpty(n.t, files)
	require.NoError(n.t, os.MkdirAll(filepath.Join(n.dir, to), 0o755))
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(n.t, err)
		require.NoError(n.t, os.WriteFile(filepath.Join(n.dir, to, filepath.Base(f)), text, 0o644))
	}
}

const tutorial = "../../docs/tutorial"

// The tutorial works as written, from an empty directory, and shows what really comes
// out.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it builds a module of its own, some ten times; go test ./cmd/lockpick runs it")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	n := arrive(t)
	n.module(root)
	seat := filepath.Join(n.dir, "seat")
	if runtime.GOOS == "windows" {
		seat += ".exe"
	}
	page := newPage(t)

	// The broken lock fails, with the timeline.
	n.take("broken", ".")
	tests := filepath.Join(n.dir, "seat.test.exe") // kept, for go test would link the same again
	out := n.fails("go", "test", "-o", tests)
	for _, want := range []string{
		"seat/file/contend  BROKEN (claimed: holds)  mutual-exclusion", "A and B both hold the lock",
		"A  pid 101", "cause", "schedule  A1 B4 A3", "--- FAIL: TestLocks/file-contend/mutual-exclusion",
	} {
		require.Contains(t, out, want)
	}
	page.output("go test", timeless(out))

	// The printed command replays it.
	again, ok := n.run("LOCKPICK_SCHEDULE=A1 B4 A3", tests, "-test.run", "^TestLocks$/^file-contend$/^mutual-exclusion$")
	require.False(t, ok)
	require.Contains(t, again, "A and B both hold the lock")

	// One call from main is the whole command.
	n.must("go", "build")
	require.Contains(t, n.must(seat, "list"), "file/contend")
	require.Contains(t, n.fails(seat, "explain", "seat/file/contend", "--svg", "race.svg"), "A and B both hold the lock")
	n.fails(seat, "check", "--markdown", "report.md")
	require.FileExists(t, filepath.Join(n.dir, "race.svg"))
	require.FileExists(t, filepath.Join(n.dir, "report.md"))
	require.NoError(t, os.Mkdir(filepath.Join(n.dir, "testdata"), 0o755))
	n.fails(seat, "explain", "seat/file/contend", "--save", "testdata/race.txtar")

	// The fixed one passes, and the saved schedule guards it.
	n.take("fixed", ".")
	require.Contains(t, n.fails("go", "test", "-o", tests), "THE BUG IS GONE")
	bundle := filepath.Join(n.dir, "testdata", "race.txtar")
	text, err := os.ReadFile(bundle)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(bundle, append(text, "-- expect --\nnot broken\n"...), 0o644))
	out, ok = n.run("LOCKPICK_UPDATE=1", tests)
	require.True(t, ok, out)
	n.must(tests)
	n.must("go", "build")
	page.output("check", stateless(n.must(seat, "check")))
	text, err = os.ReadFile(bundle)
	require.NoError(t, err)
	golden.CheckFile(t, tutorial+"/fixed/testdata/race.txtar", string(text))

	// The module in docs/tutorial is in order as it is.
	tidy, err := os.ReadFile(filepath.Join(n.dir, "go.mod"))
	require.NoError(t, err)
	n.must("go", "mod", "edit", "-module=example.com/tutorial", "-replace=lockpick=../..")
	text, err = os.ReadFile(filepath.Join(n.dir, "go.mod"))
	require.NoError(t, err)
	golden.CheckFile(t, tutorial+"/go.mod", string(text))
	require.NoError(t, os.WriteFile(filepath.Join(n.dir, "go.mod"), tidy, 0o644))
	text, err = os.ReadFile(filepath.Join(n.dir, "go.sum"))
	require.NoError(t, err)
	golden.CheckFile(t, tutorial+"/go.sum", string(text))

	// Ported code.
	n.take("pidlock", "pidlock")
	n.must("go", "test", "./pidlock")
	test := filepath.Join(n.dir, "pidlock", "pidlock_test.go")
	text, err = os.ReadFile(test)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(test, []byte(strings.ReplaceAll(string(text), "scenarios.Broken", "scenarios.Holds")), 0o644))
	page.output("pidlock", timeline(n.fails("go", "test", "./pidlock")))
	n.own(page)
	n.survey(page)
	n.must("go", "vet", "./...")

	golden.CheckFile(t, tutorial+".md", page.text)
}

// own follows the part on properties of one's own: a specification, a readers-writer lock
// and an assertion are tested, checked, explained, saved and replayed by the same commands.
func (n *newcomer) own(page *page) {
	n.t.Helper()
	n.take("own", "own")
	n.must("go", "test", "./own")
	board := filepath.Join(n.dir, "board")
	if runtime.GOOS == "windows" {
		board += ".exe"
	}
	n.must("go", "build", "-o", board, "./own")
	page.output("own check", stateless(n.must(board, "check")))
	require.Contains(n.t, n.must(board, "check", "--property", "one-seat-each", "--json"), `"property": "one-seat-each"`)
	page.output("own explain", strings.ReplaceAll(n.must(board, "explain", "board/bare/contend", "--save", "seats.txtar"), board, "./board"))
	for property, id := range map[string]string{
		"one-seat-each": "board/bare/contend", "rw-exclusion": "board/marks/readers", "assertion": "board/marks/readers",
	} {
		shown := n.must(board, "explain", id, "--property", property, "--save", property+".txtar")
		require.Contains(n.t, shown, id+"  BROKEN  "+property)
		require.Contains(n.t, n.must(board, "replay", property+".txtar"), id+"  BROKEN  "+property)
	}
	require.Contains(n.t, n.fails(board, "check", "--property", "no-seat"), "starvation, one-seat-each")
}

// survey follows the part on surveys: the table of a lock from its protocol alone, and every
// line that it says to replay does.
func (n *newcomer) survey(page *page) {
	n.t.Helper()
	n.take("survey", "survey")
	daemon := filepath.Join(n.dir, "daemon")
	if runtime.GOOS == "windows" {
		daemon += ".exe"
	}
	n.must("go", "build", "-o", daemon, "./survey")
	n.must(daemon, "check")
	out := strings.ReplaceAll(n.fails(daemon, "survey", "daemon/pid-file"), daemon, "./daemon")
	page.output("survey", "$ ./daemon survey daemon/pid-file\n"+out)
	replays := regexp.MustCompile(`replay  ./daemon (\S+) (\S+) '(.*)' (\S+) (\S+)`).FindAllStringSubmatch(out, -1)
	require.NotEmpty(n.t, replays)
	for _, m := range replays {
		shown, _ := n.run("", daemon, m[1:]...)
		require.Contains(n.t, shown, "BROKEN", m[0])
	}
}
