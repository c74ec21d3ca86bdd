//go:build linux && amd64

package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// shell makes a task of shell commands on files, "name=content".
func shell(t *testing.T, files []string, commands ...string) Task {
	t.Helper()
	from := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		require.NoError(t, os.WriteFile(from+"/"+name, []byte(text), 0o644))
	}
	task := Task{Dir: from, From: from, Env: os.Environ()}
	for _, text := range commands {
		task.Commands = append(task.Commands, Command{Argv: []string{"sh", "-c", text}})
	}
	return task
}

func open(t *testing.T, task Task) *Check {
	t.Helper()
	c, err := Open(context.Background(), task)
	testmain.Viewed(t, err, "./internal/native")
	skipFixed(t, err)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func sweep(t *testing.T, task Task, budget time.Duration, ends bool) Report {
	t.Helper()
	c := open(t, task)
	r, err := c.Sweep(context.Background(), budget, ends)
	require.NoError(t, err)
	if r.NotJudged > 0 {
		skipFixed(t, errors.New(r.OnlyHere))
	}
	t.Logf("%+v", r)
	if r.Bad != nil {
		t.Logf("%+v", *r.Bad)
	}
	return r
}

// fixedThere is said of what a view cannot show so that it can be changed.
const fixedThere = "is read-only there, for something is mounted below it"

func skipFixed(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), fixedThere) {
		t.Skipf("SKIPPED: something is mounted below the directory of temporary files: %v; where nothing is, go test "+
			"./internal/native runs it", err)
	}
}

const bump = `read n < n; echo $((n+1)) > n`

// What package tracer and the fake machine can have wrong: each of these is broken natively, and would hold in a
// world in which that is wrong. A false "holds" is noticed here.
func TestNoticesWhatTheTracerHasWrong(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	testmain.Slow(t, "each case is some dozens of runs of programs", "./internal/native")
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/n", []byte("0\n"), 0o644))
	const through = `read n < link; echo $((n+1)) > link`
	twice := func(what string) string { // two looks that only a change between them tells apart
		return `a=$(` + what + `); b=$(` + what + `); [ "$a" = "$b" ] || echo torn > bad`
	}
	for name, commands := range map[string][]string{
		"nothing: a lost update":         {bump, bump},
		"inode numbers for each process": {twice("stat -c %i n"), "echo 1 > m; mv m n"},
		"inode numbers in listings": {`[ "$(ls -i n | tr -dc 0-9\  | tr -s ' ' | cut -d' ' -f1)" = ` +
			`"$(stat -c %i n)" ] || ` + "echo torn > bad", "echo 1 > m; mv m n"},
		"the mode of a file": {`[ -x n ] && a=x; [ ! -x n ] || [ "$a" ] || echo torn > bad`,
			"chmod 700 n"},
		"the time of a file": {twice("stat -c %Y n"), "touch -d 2001-01-01 n"},
		"a second clock look": {
			"a=$(date +%s%N); read x < n; b=$(date +%s%N); [ $((b-a)) -lt 300000000 ] || echo late > bad",
			"sleep 0.4; echo 2 > n"},
		"a symbolic link that leads out": {through, through},
		"a file outside":                 {"cd ..; " + bump, "cd ..; " + bump},
		"a directory entered by a link":  {"cd ../by; " + bump, "cd ../by; " + bump},
		"who runs": {`read p < p && kill -0 $p && echo alive > saw; :`,
			"echo $$ > p; read x < n"},
		"a pipe between its own processes": {"{ read n < n; echo $n; } | { read n; echo $((n+1)) > n; }", bump},
		"a number that comes back":         {`i=$(stat -c %i n); c=$(cat n); d=$(cat n); j=$(stat -c %i n); [ $i = $j ] && [ "$c" != "$d" ] && echo same > bad`, "rm n; echo 5 > n"},
		"a deadlock":                       {"exec 8>a 9>b; flock 8; flock 9", "exec 8>a 9>b; flock 9; flock 8"},
		"a deadlock, no timer runs any more": {"exec 8>a 9>b; flock -w 9 8; flock 9",
			"exec 8>a 9>b; perl -e 'alarm 9; flock(STDIN, 2); alarm 0' <&9; flock 8"},
	} {
		t.Run(name, func(t *testing.T) {
			testmain.LongBut(t, name, "./internal/native", "nothing: a lost update", "the mode of a file",
				"a second clock look", "a symbolic link that leads out", "a file outside",
				"inode numbers for each process", "a directory entered by a link", "who runs",
				"a pipe between its own processes", "a number that comes back", "a deadlock",
				"a deadlock, no timer runs any more")
			if name == "a number that comes back" {
				testmain.ReusesInodes(t, "./internal/native")
			}
			task := shell(t, []string{"n=0\n"}, commands...)
			require.NoError(t, os.Symlink(outside+"/n", task.From+"/link"))
			require.NoError(t, os.WriteFile(filepath.Dir(task.From)+"/n", []byte("0\n"), 0o644))
			require.NoError(t, os.Symlink(task.From, filepath.Dir(task.From)+"/by"))
			hangs := strings.HasPrefix(name, "a deadlock")
			r := sweep(t, task, time.Minute, !hangs) // nothing takes so long, unless the machine is busy
			if name == "a second clock look" && r.Bad == nil && r.Ends > 2 {
				t.Skip("SKIPPED: on a busy machine serial looks are far apart, too; when idle go test ./internal/native runs it")
			}
			require.True(t, r.Bad != nil || r.Hang != nil)
			require.Equal(t, hangs, r.Hang != nil)
		})
	}
}

// What holds natively, and could be called broken by mistake.
func TestCallsNothingBroken(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	testmain.Slow(t, "each case is some dozens of runs of programs", "./internal/native")
	locked := "exec 9>l; flock 9; " + bump
	later := "flock l sh -c '" + bump + "' & :"
	own := "(echo 1 >f.1; mv -f f.1 f)& (echo 2 >f.2; mv -f f.2 f)& wait"
	for name, commands := range map[string][]string{
		"flock":                          {locked, locked},
		"lock of another directory":      {"exec 9>../l; flock 9; " + bump, "exec 9>../l; flock 9; " + bump},
		"pids that are written":          {"echo $$ > p; cat p", "echo $$ > q; cat q"},
		"times that are written":         {"date +%s.%N > p; date +%T >> p", "date +%s > q"},
		"orders of its own":              {own, "cat f > h 2>/dev/null || :"},
		"what is left behind":            {locked + "; sleep 100 9>&- &", locked},
		"what is left behind and waits":  {later, later},
		"a temporary name":               {"f=$(mktemp ./t.XXXXXX); echo 1 > $f; mv $f a", "f=$(mktemp ./t.XXXXXX); echo 1 > $f; mv $f a"},
		"random bytes":                   {"od -An -N8 -tx8 /dev/urandom > r; echo 1 > one", "cat one 2>/dev/null > two || :"},
		"random names that stay":         {"f=$(mktemp ./t.XXXXXX); echo 1 > $f; mkdir d$$.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')", "f=$(mktemp ./t.XXXXXX); echo 1 > $f"},
		"a temporary file elsewhere":     {"f=$(mktemp); echo 1 > $f", "f=$(mktemp); echo 1 > $f"},
		"a timeout that is long enough":  {"exec 9>l; flock -w 20 9; " + bump, "exec 9>l; flock -w 20 9; " + bump},
		"a signal to one that has ended": {"echo $$ > p", "kill $(cat p) 2>/dev/null; :"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sweep(t, shell(t, []string{"n=0\n"}, commands...), time.Second/4, true)
			require.Nil(t, r.Bad)
			require.Nil(t, r.Hang)
		})
	}
}

// A pipeline whose last part empties what the first one reads ends in two ways. That each of two copies has read first
// is rare when each call of theirs is a choice.
func TestSerialRunsOfPipelinesEndInEveryWay(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	const pipeline = "sed s/0/1/ n | tee n > /dev/null"
	c := open(t, shell(t, []string{"n=0\n"}, pipeline, pipeline))
	require.NoError(t, c.ready())
	require.NoError(t, c.serialRuns(t.Context(), timesMore+severalMore))
	ends := map[string]bool{}
	for _, o := range c.orders {
		ends[o.end["n"]] = true
	}
	require.Len(t, ends, 2, "%v", ends)
}

func TestLostUpdate(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	r := sweep(t, shell(t, []string{"n=0\n"}, bump, bump), time.Minute, true)
	require.NotNil(t, r.Bad)
	require.Equal(t, []string{`n: "1\n", and not "2\n"`}, r.Bad.Differs)
	require.Equal(t, 4, r.Bad.Seen)
}

// Permissions are compared, too, for chmod(1) looks at a mode and then changes it; so are owners, and given times.
func TestLostPermission(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	lost := func(want string, commands ...string) {
		r := sweep(t, shell(t, []string{"f="}, commands...), time.Minute, true)
		require.NotNil(t, r.Bad)
		require.Len(t, r.Bad.Differs, 1)
		require.Regexp(t, want, r.Bad.Differs[0])
	}
	lost("^f mode: .*, and not -r--rw-r--$", "chmod u-w f", "chmod g+w f")
	// One command's content with the other's time, which is an end with another content or another time.
	lost(`^f: "[12]|^f mode: .* time 200[12]-01-01, and`, "echo 1 >a; touch -d 2001-01-01 a; cp -p a f",
		"echo 2 >b; touch -d 2002-01-01 b; cp -p b f")
	if os.Getuid() == 0 { // who gives files to others
		lost("^f mode: -rw-r--r--, and not -rw-r--r-- of 2:2$", "chown 2:2 f", "cp -p f g; mv g f")
	}
}

// Of a large file only what is new is told.
func TestLargeFiles(t *testing.T) {
	testmain.Slow(t, "it writes large files", "./internal/native")
	long := strings.Repeat("x", 16384)
	count := "x=$(wc -c <n); sleep 0; echo $x >> n"
	task := shell(t, []string{"n=" + long}, count, count)
	r := sweep(t, task, time.Minute, true)
	require.NotNil(t, r.Bad)
	require.Regexp(t, `^n: 16384 bytes as at the start, "16384\\n16384\\n" in the place of 0`, r.Bad.Differs[0])
}

// Serial runs of commands that sleep go on while an order is forced, and its ends are compared with theirs.
func TestSleepersGoOnMeanwhile(t *testing.T) {
	task := shell(t, []string{"n=0\n"}, "read x < n; sleep 0.3; echo $((x+1)) > n",
		"read x < n; sleep 0.3; echo $((x+1)) > n")
	task.Sleeps = true
	c := open(t, task)
	c.mu.Lock()
	require.Zero(t, c.runs, "it does not wait for the serial runs")
	c.mu.Unlock()
	got, err := c.Carry(context.Background(), []Step{{0, "open", "n", nil}, {0, "read", "n", nil}, {1, "open", "n", nil},
		{1, "read", "n", nil}, {0, "end", "", nil}, {1, "end", "", nil}}, false, false, time.Second)
	testmain.Viewed(t, err, "./internal/native")
	skipFixed(t, err)
	require.NoError(t, err)
	require.True(t, got.Bad > 0 || got.Near != nil)
	require.Equal(t, soonMore, c.rounds, "they are not run again")
}

// Commands that sleep are run at once from the start, so that an order need not be forced that takes as long.
func TestSleepersAtOnce(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	const slowly = "read x < n; sleep 1; echo $((x+1)) > n"
	for _, c := range []struct {
		command string
		broken  bool
	}{{slowly, true}, {"exec 9>l; flock 9; " + slowly + "; : > $(date +%N)", false}} {
		task := shell(t, []string{"n=0\n"}, c.command, c.command)
		task.Sleeps = true
		check := open(t, task)
		skipFixed(t, check.ready())
		got, err := check.Carry(context.Background(), nil, false, false, time.Second)
		require.NoError(t, err)
		if !c.broken {
			require.Nil(t, got.Near)
			require.Nil(t, check.atOnce())
			continue
		}
		differs := []string{`n: "1\n", and not "2\n"`}
		require.Equal(t, &Found{Schedule: "all at once", Differs: differs, Seen: 3, Runs: 3}, got.Near)
		r, err := check.Sweep(context.Background(), time.Second, true)
		require.NoError(t, err)
		require.Equal(t, got.Near, r.Bad)
	}
}

// Two commands go round without an end where each waits for the name that the other has made, and nowhere else.
func TestOrderInWhichCommandsGoRound(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	const first = "until mkdir a 2>/dev/null; do :; done; until mkdir b 2>/dev/null; do :; done; rmdir a b"
	for second, bad := range map[string]int{ // order does not matter
		"until mkdir b 2>/dev/null; do :; done; until mkdir a 2>/dev/null; do :; done; rmdir a b": 3,
		"until mkdir b 2>/dev/null; do :; done; rmdir b":                                          0,
	} {
		check := open(t, shell(t, nil, first, second))
		skipFixed(t, check.ready())
		got, err := check.Carry(context.Background(), []Step{{0, "mkdir", "a", nil}, {0, HeldStep, "", nil},
			{1, "mkdir", "b", nil}, {1, HeldStep, "", nil}}, true, false, time.Second, 0, 1)
		require.NoError(t, err)
		require.Equal(t, bad, got.Bad, second)
		require.Zero(t, got.Forced)
	}
}

// Of commands that are alike one order is run, and stands for those of the others.
func TestSerialRunsOfCommandsThatAreAlike(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	const locked = "exec 9>l; flock 9; read x < n; echo $((x+1)) > n; cat n"
	task := shell(t, []string{"n=0\n"}, locked, locked, "exec 9>l; flock 9; cat n")
	c := open(t, task)
	skipFixed(t, c.ready())
	var ran [][]int
	for _, o := range c.orders {
		ran = append(ran, o.ran)
	}
	require.Equal(t, [][]int{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}}, c.every())
	require.ElementsMatch(t, [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}, ran)
	r, err := c.Sweep(context.Background(), time.Second, true)
	require.NoError(t, err)
	require.Nil(t, r.Bad)
}

func TestFlockHolds(t *testing.T) {
	testmain.InRealTime(t, "./internal/native")
	locked := "exec 9>l; flock 9; " + bump
	r := sweep(t, shell(t, []string{"n=0\n"}, locked, locked), time.Second/2, true)
	require.Nil(t, r.Bad)
	require.Nil(t, r.Hang)
	require.Positive(t, r.Tried)
}

// What cannot be changed in a view only makes no end that counts: of a directory below which something is mounted.
func TestMountsBelow(t *testing.T) {
	if !testmain.OwnMounts(t, "./internal/native") {
		return
	}
	dir, err := os.MkdirTemp("/srv", "lockpick")
	if err == nil {
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		err = os.Mkdir(dir+"/mount", 0o755)
	}
	if err != nil {
		t.Skipf("SKIPPED: it needs a directory in /srv, and there is none to be had: %v; where there is go test "+
			"./internal/native runs it", err)
	}
	require.NoError(t, os.WriteFile(dir+"/n", []byte("0\n"), 0o600))
	there := "cd " + dir + "; " + bump
	before := open(t, shell(t, nil, there, there))
	require.NoError(t, before.ready())
	require.Greater(t, before.calls[0], 6, "calls on a file outside are places, too")

	require.NoError(t, syscall.Mount("none", dir+"/mount", "tmpfs", 0, "size=4k"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir+"/mount", 0)) })
	c, err := Open(context.Background(), shell(t, nil, there, "true"))
	testmain.Viewed(t, err, "./internal/native")
	require.ErrorContains(t, err, fixedThere)
	require.Nil(t, c)
	c, err = Open(context.Background(), shell(t, nil, "cat "+dir+"/n", "true"))
	require.NoError(t, err, "nothing is changed there")
	c.Close()

	r, err := before.Sweep(context.Background(), time.Minute, true)
	require.NoError(t, err)
	require.Zero(t, r.Tried+r.Random, "runs that cannot change the file say nothing")
	require.Positive(t, r.NotJudged)
	require.Contains(t, r.OnlyHere, fixedThere)
}

// A file that is named like a command's line hides none of them.
func TestFileNamedLikeACommand(t *testing.T) {
	tree := map[string]string{"A": `"x"`, "f": `"y"`}
	o := (&Task{NoStdout: true}).outcomeOf(&run{Exits: []string{"exit 3"}, Tree: tree})
	require.Equal(t, outcome{"A": "exit 3", "./A": `"x"`, "f": `"y"`}, o)
}

// onOneDisk reports whether a directory is on the file system of temporary files.
func onOneDisk(t *testing.T, dir string) bool {
	var a, b syscall.Stat_t
	require.NoError(t, errors.Join(syscall.Stat(dir, &a), syscall.Stat(t.TempDir(), &b)))
	return a.Dev == b.Dev
}

// A rename that fails in a view only makes no end that counts.
func TestRenameBetweenFileSystemsOfTheView(t *testing.T) {
	near := `f=$(mktemp) && echo 1 >$f && mv $f n`
	require.NotEmpty(t, open(t, shell(t, []string{"n=0\n"}, near, near)).orders)
	away := `f=$(mktemp -p /var/tmp) && mv $f n`
	if _, err := Open(context.Background(), shell(t, []string{"n=0\n"}, away, away)); !onOneDisk(t, "/var/tmp") {
		t.Skip("SKIPPED: /var/tmp is another file system here; go test ./internal/native runs it where it is the same")
	} else {
		require.ErrorContains(t, err, "in a view of the machine, where they are two file systems")
	}
}

// Native runs are made side by side, in one network: who finds a port or an abstract address taken has met another run.
func TestAddressesOfOneProcess(t *testing.T) {
	testmain.Needs(t, "perl", "./internal/native")
	for address, shared := range map[string]bool{
		`INET, SOCK_STREAM, 0) && bind(S, sockaddr_in(47123, INADDR_LOOPBACK)`: true,
		`INET, SOCK_STREAM, 0) && bind(S, sockaddr_in(0, INADDR_LOOPBACK)`:     false,
		`UNIX, SOCK_STREAM, 0) && bind(S, pack("Sxa*", 1, "native")`:           true,
		`UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("s")`:                    false,
	} {
		line := "perl -MSocket -e 'socket(S, PF_" + address + ") || exit 1; open F, q(>n)'"
		_, err := Open(context.Background(), shell(t, []string{"n=0\n"}, line, line))
		if !shared {
			require.NoError(t, err, address)
			continue
		}
		require.ErrorContains(t, err, "an address is bound that one process can have", address)
	}
}

// What two serial runs of one order leave different is not compared: a content, or which names a directory has.
func TestCompares(t *testing.T) {
	c := &Check{task: Task{Commands: make([]Command, 2)}, varies: map[string]bool{"k": true, "B prints": true},
		loose: map[string]bool{"d": true}, outside: map[string]bool{"/etc/f": true}}
	for _, line := range []string{"n", "k/n", "A", "A prints", "C", "d/n", "/etc/f"} {
		require.True(t, c.Compares(line, true), line)
	}
	for _, line := range []string{"k", "B prints", "/etc/g"} {
		require.False(t, c.Compares(line, true), line)
	}
	require.True(t, c.Compares("n", false))
	require.False(t, c.Compares("d/n", false), "names of d are drawn")
	require.False(t, c.Compares("A", false), "A has not run in that order")
}
