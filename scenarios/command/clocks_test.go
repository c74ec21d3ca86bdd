package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// A lock that is stale by age is broken where its holder sleeps for longer, and where a delay is allowed that is
// longer. No delay that matters is passed over: where none is allowed, it is told to the second. A program that only
// prints the time holds.
func TestTimeThatMatters(t *testing.T) {
	const short, usual, long = "short", "usual", "long"
	for _, c := range []struct {
		line, setting, verdict, why string
		takes                       string // short: also with -short; long: only where tests are long
	}{
		{"sh dated.sh", "", "holds", "", short},
		{"sh lease.sh", "", "broken", "", usual},
		{"sh patience.sh", "", "broken", "", long},
		{"sh until.sh", "", "broken", "", long},
		{"python3 lease.py", "", "broken", "", long},
		{"python3 end-time.py", "refused 75", "holds", "", long},
		{"sh stale.sh", "", "unknown", "more have passed", long},
		{"sh stale.sh", "stalls 1\nstall-for 10s", "holds", "", long},
		{"sh stale.sh", "stalls 1\nstall-for 11s", "broken", "", long},
		// A stall delays all, but one alone may be delayed, too, while the other polls three times.
		{"sh -c 'until mkdir l; do sleep 1; i=1$i; [ $i = 111 ] && rmdir l; done; read x<n; echo $((x+1)) >n; rmdir l'",
			"stalls 1\nstall-for 4s\nrefused 1", "broken", "", usual},
		// A child takes the lock away after a time, which may have come wherever the clock has jumped.
		{"sh -c 'mkdir l || exit; (sleep 2; rmdir l) & echo 1 >>n; kill $!; rmdir l'",
			"stalls 1\nstall-for 3s\nrefused 1,2", "unknown", "a timer that may have gone off", usual},
		// A name with the time in it keeps nobody out who comes later.
		{"sh -c 'exec 9>l.$(date +%M); flock 9; read x <n; echo $((x+1)) >n'", "", "unknown",
			"When 1m more have passed it locks l.01 and not l.00", short},
		{"sh -c 'exec 9>l.$(date +%M); flock 9; read x <n; echo $((x+1)) >n'", "stalls 1\nstall-for 1m", "broken", "",
			usual},
		{"sh -c 'mkdir l.$(date +%j) || exit; read x <n; echo $((x+1)) >n'", "refused 1,2", "unknown",
			"When 24h more have passed it makes the call mkdir l.002 and not mkdir l.001", long},
		{"sh -c ': >t.$$; mv -n t.$$ l.$(date +%H); [ -e t.$$ ] && exit 1; read x <n; echo $((x+1)) >n'", "refused 1",
			"unknown", "When 1h more have passed it makes the call rename", long},
		{"sh -c ': >l.$(date +%s).$$; exec 9>l; flock 9; read x <n; echo $((x+1)) >n'", "", "holds", "", usual},
		{"sh -c '[ $(($(date +%s)%2)) = 0 ] && echo >>n'", "refused 1", "unknown", "When 1s more have passed", usual},
		// PHP looks at names again after two minutes. So may others, who act on what they see.
		{`php -r '$f = fopen("n", "c+"); flock($f, LOCK_EX); fopen("n", "r"); $x = (int)fgets($f); rewind($f); ` +
			`fwrite($f, $x + 1); fflush($f); flock($f, LOCK_UN);'`, "", "holds", "", usual},
		{"python3 -c 'import os, time; d = os.getcwd(); s = os.lstat(d); t = time.time(); open(\"n\"); " +
			"time.time() > t + 9 and os.lstat(d).st_mtime > s.st_mtime and os.mkdir(\"l\")'", "refused 1",
			"unknown", "it makes the call mkdir l", usual},
		// The name that it looks at again may be gone by then.
		{"python3 -c 'import os, time; os.lstat(\"n\"); t = time.time(); open(\"n\"); " +
			"time.time() > t + 9 and os.lstat(\"n\"); os.remove(\"n\")'", "refused 1", "unknown",
			"it makes the call lstat n and not unlink n", usual},
		// Who looks at the clock before its first call may have begun later than the other.
		{"python3 -SIc 'import posix, time; posix.mkdir(\"d\" + time.strftime(\"%j\"))'", "refused 1", "unknown",
			"more have passed before each of", usual},
		{`perl -e 'mkdir "l" or (-M "l") * 86400 > 2 && rmdir "l" or exit 1; rmdir "l"'`, "refused 1", "unknown",
			"more have passed it makes the call rmdir l and not", usual},
		// The time that a command gives a file of its own hangs on when it does.
		{"sh -c 'mkdir l || { touch -d -2sec r$$; [ r$$ -nt l ]; s=$?; rm r$$; " +
			"[ $s = 0 ] && rmdir l && mkdir l || exit 1; }; rmdir l'",
			"refused 1", "unknown", "more have passed", usual},
		// Random numbers are the same in each execution, and others may have it do something else.
		{"sh -c '[ $(od -An -N1 -tu1 /dev/urandom) -lt 128 ] && exec 9>l && flock 9; read x <n; echo $((x+1)) >n'", "",
			"unknown", "draws random numbers, and with others it makes the call open n and not open l", usual},
		{"sh -c '[ $(($(od -An -N1 -tu1 /dev/urandom)%3)) = 0 ] && exec 8>l && flock 8 && flock l true; echo 1 >f'", "",
			"unknown", "draws random numbers, and with others it makes no end", usual},
		{"sh -c 'exec 9>l; flock 9; t=t$(od -An -N4 -tx4 </dev/urandom); " +
			`read x <n; echo $((x+1)) >"$t"; mv "$t" n'`, "",
			"holds", "", usual},
		{`python3 -c 'import fcntl; l = [open(n, "w") for n in {"alpha", "beta"}]; [fcntl.flock(f, 2) for f in l]'`, "",
			"unknown", "it makes the call open beta O_WRONLY|O_CREAT|O_TRUNC and not open alpha", long},
		// So is the parent, and cron gives each command another one.
		{"sh -c 'exec 9>l.$PPID; flock 9; read x <n; echo $((x+1)) >n'", "", "unknown",
			"its parent, and with another one, as cron gives to each, it makes the call open l.102", usual},
		{"sh -c 'kill -0 $PPID && exec 9>l && flock 9 && read x <n && echo $((x+1)) >n'", "", "holds", "", usual},
		// Reading changes no access time here, and on most file systems it does. A copy takes it along.
		{"bash -c 'touch -ad 2020-01-01 n; [ -N n ] && exec 9>l && flock 9; read x <n; echo $((x+1)) >n'", "",
			"unknown", "where others have just read the file, it makes the call open n", usual},
		{"sh -c 'exec 9>l; flock 9; stat -c %X n >>log'", "", "unknown", "it writes or prints something else", usual},
		{"sh -c 'exec 9>l; flock 9; cp -p n m; read x <m; echo $((x+1)) >n'", "", "holds", "", usual},
		// It is broken where clocks stand still.
		{"sh -c ': >a$$; sleep 1; : >b$$; [ b$$ -nt a$$ ] && exec 9>l && flock 9; " +
			"read x <n; echo $((x+1)) >n; rm a$$ b$$'", "", "unknown",
			"with a clock that moves: nothing breaks it", usual},
		{"sh gives-up.sh", "", "unknown", "nothing broke it as long as nobody is delayed", long},
		{"sh heartbeat.sh", "", "unknown", "it makes the call rmdir l and not sleep 2s", long},
		{"sh looks.sh", "", "unknown", "When 31s more have passed before each of", long},
	} {
		t.Run(c.line+" "+c.setting, func(t *testing.T) {
			t.Parallel()
			if c.takes != short {
				testmain.Slow(t, "it takes some seconds", "./scenarios/command")
			}
			if c.takes == long {
				testmain.OnlyLong(t, "it takes half a minute", "./scenarios/command")
			}
			program, _, _ := strings.Cut(c.line, " ")
			sc := scenario(t, program, twice(c.line), map[string]string{"n": "0\n"}, c.setting)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why, c.why)
			if strings.Contains(c.line, "lease.") {
				require.Zero(t, r.Stats.States, "what sleeps for long is first tried with clocks that move")
			}
			if cx := r.Counterexample; cx != nil {
				ran, err := checker.Replay(r.Scenario, r.Property, cx.Schedule)
				require.NoError(t, err)
				require.True(t, ran.Broken)
			}
		})
	}
}

// A program that compares the times of two files is broken where another one changes a file between its looks, although
// changes share a time at first. One that is shown times and does not compare them depends on nothing.
func TestOrderOfFileTimes(t *testing.T) {
	const differ = "broken where no two changes get the same time stamp"
	const reused = "holds whether or not inode numbers are reused"
	for _, c := range []struct{ line, other, verdict, depends string }{
		{"touch f; if [ f -nt n ]; then echo newer > h; fi", "touch n", "broken", differ},
		{"touch f; if [ n -ot f ]; then echo newer > h; fi", "touch n", "broken", differ},
		{"touch f; if [ f -nt m ]; then echo newer > h; fi", "touch n", "holds", reused},
		{"touch f; ls -l n > /dev/null", "touch n", "holds", reused},
		// It fails alone where times differ, which is no error of the command.
		{"touch g; touch f; if [ f -nt g ]; then exit 3; fi", "touch n", "unknown",
			reused + "; assumes that changes may share the file times shown"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.line, "./scenarios/command", "touch f; if [ f -nt n ]; then echo newer > h; fi",
				"touch f; if [ f -nt m ]; then echo newer > h; fi",
				"touch g; touch f; if [ f -nt g ]; then exit 3; fi")
			lines := []string{"sh -c '" + c.line + "'", c.other}
			changes := [][]func(*command.Spec){nil, {command.SnapshotEverywhere}}
			if c.other == "touch n" && c.depends != differ && !testmain.Long() {
				changes = changes[:1] // snapshots are looked at where times decide
			}
			for _, change := range changes {
				sc := scenario(t, "touch", lines, map[string]string{"n": "", "m": ""}, "", change...)
				p, err := scenarios.FindProperty("serializable", sc)
				require.NoError(t, err)
				r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
				require.NoError(t, err)
				require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
				require.Equal(t, c.depends, strings.Join(r.Conditions(), "; "))
				if cx := r.Counterexample; cx != nil {
					ran, err := checker.Replay(r.Scenario, r.Property, cx.Schedule)
					require.NoError(t, err)
					require.True(t, ran.Broken)
				}
			}
		})
	}
}

// Who lists a directory again because its time has changed depends on that only if it acts on what it finds: a file
// that another command makes between two listings is in the second one where no two changes share a time. A name made
// of a time is a call like another.
func TestListingsThatComeAgain(t *testing.T) {
	lists := func(then string) string {
		return `python3 -c "
import os
was, time = os.listdir(), os.stat('.').st_mtime_ns
open('a', 'x').close()
now = os.listdir() if os.stat('.').st_mtime_ns != time else was
` + then + `"`
	}
	for name, c := range map[string]struct{ line, verdict, acts string }{
		"not acted on":     {lists("open('b', 'x').close()"), "holds", ""},
		"new names count":  {lists("os._exit(3 if 'g' in now and 'g' not in was else 0)"), "broken", "acts on"},
		"any number does":  {lists("os._exit(3 if len(now) > len(was) + 1 else 0)"), "broken", "acts on"},
		"py_compile":       {"python3 -m py_compile x.py", "holds", ""},
		"a name of a time": {`sh -c 'mkdir l.$(stat -c %Y .)'`, "holds", "makes the call mkdir l.17"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, name, "./scenarios/command", "new names count", "not acted on", "a name of a time")
			files := map[string]string{"x.py": "x = 1\n"}
			sc := scenario(t, "python3", []string{c.line, "touch g"}, files, "refused none",
				func(s *command.Spec) { s.Files[0].Age = time.Minute })
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			_, acts, err := sc.Apart()
			require.NoError(t, err)
			require.Equal(t, c.acts != "", acts != "", acts)
			require.Contains(t, acts, c.acts)
		})
	}
}

// How much delay matters is found out to the second, also by executions that go on from one snapshot. Two programs
// matter at different delays.
func TestDelaysOfSnapshots(t *testing.T) {
	line := func(seconds string) string {
		return "sh -c 'mkdir d; t=$(date +%s); [ $t -lt $((1767225600+" + seconds + ")) ] || echo > h'"
	}
	never := func(s *command.Spec) { s.NoSnapshots = true }
	for i, change := range []func(*command.Spec){command.SnapshotEverywhere, never} {
		if i > 0 && !testmain.Long() {
			continue // TestTimeThatMatters finds delays without snapshots
		}
		sc := scenario(t, "date", []string{line("500000000"), line("100")}, nil, "", change)
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, "unknown", r.Verdict.String())
		require.Contains(t, r.Why, "B (sh -c ")
		require.Contains(t, r.Why, "When 1m40s more have passed it makes the call")
		require.Contains(t, r.Why, "after 1m39s it does not")
	}
}
