package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// soon is a budget for what natively is as it should be: the more time there is, the more runs are drawn.
const soon = 2 * time.Second

// challenged runs commands natively and says what becomes of a verdict that the model gives.
func challenged(t *testing.T, budget time.Duration, p *scenarios.Property, v checker.Verdict, files []command.File,
	commands ...string) checker.Result {
	t.Helper()
	testmain.InRealTime(t, "./checker/cli")
	testmain.Needs(t, "sh", "./checker/cli")
	spec := command.Spec{Dir: "/srv/lockpick-native", Files: files}
	for _, text := range commands {
		spec.Commands = append(spec.Commands, command.Line{Shell: text})
	}
	n := &challenge{spec: &spec, budget: budget, begins: func() {}}
	defer n.close()
	r := checker.Result{Scenario: &scenarios.Scenario{ID: spec.ID}, Property: p, Verdict: v, Complete: true}
	n.answer(context.Background(), &r)
	testmain.Viewed(t, r.Native, "./checker/cli")
	return r
}

// serializable is a property of the ends of commands.
func serializable() *scenarios.Property {
	return &scenarios.Property{ID: "serializable", Native: scenarios.OrderedRuns}
}

const bumps = "read x < n; echo $((x+1)) > n"

// A false "holds" of the model is no verdict: the native run that contradicts it is shown.
func TestNativeContradictsAFalseHolds(t *testing.T) {
	counter := []command.File{{Name: "n", Content: "0\n"}}
	r := challenged(t, time.Minute, serializable(), checker.Holds, counter, bumps, bumps)
	require.Equal(t, checker.Unknown, r.Verdict)
	require.False(t, r.Complete)
	require.Contains(t, r.Why, "lockpick is wrong here")
	// Which of several runs comes first is the machine's affair.
	require.Contains(t, r.Native, `no serial order ends like this: n: "1\n", and not "2\n"`)
}

// An end that no serial order gives says nothing of a deadlock.
func TestNativeSaysNothingElse(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs for a second", "./checker/cli")
	counter := []command.File{{Name: "n", Content: "0\n"}}
	r := challenged(t, soon, scenarios.Deadlock, checker.Holds, counter, bumps, bumps)
	require.Equal(t, checker.Holds, r.Verdict)
	require.Contains(t, r.Native, "runs with one preemption")
}

// A lock that is stale by its age while its holder lives: only a real clock shows it.
func TestNativeContradictsAClockThatStandsStill(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it sleeps for real", "./checker/cli")
	testmain.Needs(t, "perl", "./checker/cli")
	// It is held for a number of short sleeps, and not for one: a busy machine then slows both commands alike. One
	// program does it all, for each start of one takes as long as the rest.
	const lease = `perl -MTime::HiRes=stat,time,sleep -e 'until (mkdir "l") { ` +
		`rmdir "l" if time - (stat "l")[9] > .24; sleep .3 } open F, "n"; $x = <F>; sleep .1 for 1 .. 8; ` +
		`open F, ">n"; print F $x + 1; close F; rmdir "l"'`
	counter := []command.File{{Name: "n", Content: "0\n"}}
	r := challenged(t, time.Minute, serializable(), checker.Holds, counter, lease, lease)
	require.Equal(t, checker.Unknown, r.Verdict, r.Native)
	require.Contains(t, r.Native, "no serial order ends like this")
	// What is unknown stays unknown, and what was seen is said.
	r = challenged(t, time.Minute, serializable(), checker.Unknown, counter, bumps, bumps)
	require.Empty(t, r.Why)
	require.Contains(t, r.Native, "no serial order ends like this")
}

// killed is what becomes of a verdict on atomic or wedge, where one command may be killed.
func killed(t *testing.T, budget time.Duration, p *scenarios.Property, v checker.Verdict, cx *trace.Counterexample,
	commands ...string) checker.Result {
	t.Helper()
	testmain.Needs(t, "sh", "./checker/cli")
	spec := command.Spec{Dir: "/srv/lockpick-native", Files: []command.File{{Name: "n", Content: "2\n1\n"}}}
	spec.Crashes = 1
	for _, text := range commands {
		spec.Commands = append(spec.Commands, command.Line{Shell: text})
	}
	n := &challenge{spec: &spec, budget: budget, begins: func() {}}
	defer n.close()
	r := checker.Result{Scenario: &scenarios.Scenario{ID: spec.ID}, Property: p, Verdict: v, Complete: true,
		Counterexample: cx}
	n.answer(context.Background(), &r)
	testmain.Viewed(t, r.Native, "./checker/cli")
	return r
}

// Kills happen natively: what is lost contradicts that nothing is, and confirms that something is.
func TestNativeKills(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "each is some dozens of runs of programs", "./checker/cli")
	atomic := &scenarios.Property{ID: "atomic", Native: scenarios.RunsWithKills}
	kill := &trace.Counterexample{Schedule: sched.Schedule{{Action: sched.Kill}}}
	const inPlace = "sort n -o n"

	r := killed(t, time.Minute, atomic, checker.Broken, kill, inPlace)
	require.Equal(t, checker.Broken, r.Verdict)
	require.Contains(t, r.Native, "confirmed: A killed after ")
	r = killed(t, time.Minute, atomic, checker.Holds, nil, inPlace, "true")
	require.Equal(t, checker.Unknown, r.Verdict, "the command itself is killed, and not a shell around it")
	require.Contains(t, r.Native, "n: 0 bytes, neither the old 4 nor the new 4 (")
	r = killed(t, time.Minute, scenarios.Wedge, checker.Broken, kill, "mkdir l || exit 1; cat n; rmdir l")
	require.Contains(t, r.Native, "confirmed: A killed after ")
	require.Contains(t, r.Native, "one more run ends with exit 1")
	r = killed(t, 2*soon, scenarios.Wedge, checker.Holds, nil, "exec 9>l; flock 9; cat n")
	require.Contains(t, r.Native, "after each of which one more run gets through")
	lost := sched.Choice{Action: sched.PowerLoss}
	atLoss := &trace.Counterexample{Schedule: sched.Schedule{lost}, Trace: trace.Trace{{Choice: lost}}}
	require.Equal(t, "shown on the model only: the power is not lost here",
		killed(t, time.Minute, atomic, checker.Broken, atLoss, inPlace).Native)
	require.Equal(t, "nothing: kills are shown on the model only", killed(t, time.Minute,
		&scenarios.Property{ID: "durable"}, checker.Holds, nil, inPlace).Native)
}

// Of several commands one is killed where others have come to any of their calls.
func TestNativeKillsOfSeveral(t *testing.T) {
	testmain.OnlyLong(t, "it is some hundred runs of programs", "./checker/cli")
	atomic := &scenarios.Property{ID: "atomic", Native: scenarios.RunsWithKills}
	const aside = "sort n > m; mv m n"
	r := killed(t, time.Minute, atomic, checker.Holds, nil, aside, aside)
	require.Equal(t, checker.Unknown, r.Verdict, "one empties the other's new file and is killed")
	r = killed(t, time.Minute, atomic, checker.Holds, nil, aside, "sort n > k; mv k n")
	require.Equal(t, checker.Holds, r.Verdict, r.Native)
	require.Contains(t, r.Native, "runs with a kill, ")
	require.Contains(t, r.Native, " random, each file as before or as after")
	// Of two that lose an update each file is as some serial run of one of them leaves it.
	r = killed(t, time.Minute, atomic, checker.Holds, nil, "read x < n; echo $((x+1)) > m; mv m n",
		"read x < n; echo $((x+1)) > k; mv k n")
	require.Equal(t, checker.Holds, r.Verdict, r.Native)
}

// A deadlock does not contradict what is said of ends.
func TestNativeDeadlockIsNoEnd(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "a deadlock is one only after some time", "./checker/cli")
	r := challenged(t, 2*soon, serializable(), checker.Holds, nil, "exec 8>a 9>b; flock 8; flock 9",
		"exec 8>a 9>b; flock 9; flock 8")
	require.Equal(t, checker.Holds, r.Verdict, r.Native)
	require.Contains(t, r.Native, "waiting for each other for ever")
}

func TestNativeContradictsAFalseHoldsByADeadlock(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "a deadlock is one only after some time", "./checker/cli")
	r := challenged(t, time.Minute, scenarios.Deadlock, checker.Holds, nil, "exec 8>a 9>b; flock 8; flock 9",
		"exec 8>a 9>b; flock 9; flock 8")
	require.Equal(t, checker.Unknown, r.Verdict)
	require.Contains(t, r.Native, "they wait for each other for ever")
}

// Files of the start keep their ages: a stale lock is stale natively, too.
func TestNativeStartIsAsOld(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs for a second", "./checker/cli")
	old := []command.File{{Name: "l/", Age: time.Hour}, {Name: "l/pid", Content: "1", Age: time.Hour}}
	r := challenged(t, soon, serializable(), checker.Holds, old,
		`[ -n "$(find l -maxdepth 0 -mmin +59)" ] && echo stale`,
		"sleep 0.01; ls l")
	require.Equal(t, checker.Holds, r.Verdict, r.Why)
	require.Contains(t, r.Native, "all as in some serial order")
}

// What is shown natively is said in every format; without it nothing is.
func TestRunNatively(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	file := raceFile(t)
	pages := t.TempDir()
	summary := filepath.Join(pages, "summary.md")
	got := run(t, "run", "--native", "1m", "--property", "serializable", "--markdown", summary, "--html", pages, file)
	require.Contains(t, got.stdout, "  native  confirmed: 3 of 3 native runs in this order end as in no serial order",
		got.stderr)
	require.Contains(t, got.stderr, "on the model; now it is tried natively")
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.Contains(t, string(text), "**Native:** confirmed: 3 of 3 native runs")
	html, err := filepath.Glob(filepath.Join(pages, "scenarios", "*.html"))
	require.NoError(t, err)
	require.Len(t, html, 1, got.stderr)
	text, err = os.ReadFile(html[0])
	require.NoError(t, err)
	require.Contains(t, string(text), "<b>native:</b> confirmed: 3 of 3 native runs")
	require.Contains(t, string(text), "<b>assumed:</b> files outside ")
	got = run(t, "run", "--native", "1s", "--property", "deadlock", "--json", file)
	require.Contains(t, got.stdout, `"native": "`, got.stderr)
	require.NotContains(t, run(t, "run", "--native", "off", file).stdout, "  native  ")
	require.Contains(t, run(t, "run", "--native", "soon", file).stderr,
		`--native "soon": give a time such as 30s, or off`)
	left, err := os.ReadDir("/srv")
	require.NoError(t, err)
	for _, e := range left {
		require.NotEqual(t, "counter", e.Name())
	}
}

// Whether two changes share a time natively hangs on the kernel: that they do not is no fault of the model.
func TestNativeTimesMayDiffer(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "python3", "./checker/cli")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "l"), nil, 0o644))
	got := run(t, "run", "--dir", dir, "--native", "5s", "-n", "2", "--property", "serializable", "--",
		"python3", "-SIc", `import os, fcntl; t = os.stat(".").st_mtime_ns; seen = os.path.exists("m")
l = open("l"); fcntl.flock(l, 2)
if os.stat(".").st_mtime_ns != t: seen = os.path.exists("m")
n = int(open("m").read()) if seen else 0
with open("t", "w") as w: w.write("%d\n" % (n+1))
os.rename("t", "m")`)
	said := strings.Join(strings.Fields(got.stdout), " ")
	require.Regexp(t, "confirmed: 3 of 3|the schedule breaks it on the model, where changes share file times;", said)
}

// What is asked of kills may be broken by the order of calls alone, which is forced as for serializable.
func TestNativeConfirmsAnOrderWithoutKills(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	file := filepath.Join(t.TempDir(), "double.txtar")
	require.NoError(t, os.WriteFile(file, []byte(`Two scripts that write a file twice as long.
-- commands --
read x <n; echo $x$x >n
read x <n; echo $x$x >n
-- setting --
dir /srv/double
crashes 1
-- n --
5
`), 0o600))
	got := run(t, "run", "--native", "1m", "--property", "atomic", file)
	testmain.Viewed(t, got.stdout, "./checker/cli")
	require.NotContains(t, got.stdout, "killed")
	require.Contains(t, got.stdout, " native runs in this order end as in no serial order", got.stderr)
}

// A signal of another command comes before the next call of who gets it, be that one which sets a handler.
func TestNativeConfirmsSignals(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	file := filepath.Join(t.TempDir(), "signal.txtar")
	require.NoError(t, os.WriteFile(file, []byte(`A script that ignores a signal too late.
-- commands --
echo $$ > pid; trap '' TERM; read v < n; echo $((v+1)) > n; rm pid
[ -s pid ] && kill $(cat pid) 2>/dev/null; exit 0
-- setting --
dir /srv/signals
-- n --
0
`), 0o600))
	got := run(t, "run", "--native", "1m", "--property", "serializable", file)
	testmain.Viewed(t, got.stdout, "./checker/cli")
	require.Equal(t, ExitDiffers, got.exit, got.stdout)
	require.Contains(t, got.stdout, "  native  confirmed: 3 of 3 native runs in this order", got.stdout)
	require.Contains(t, got.stdout, "SIGTERM comes for 101", got.stdout)
}

// Commands of which some serial order takes too long have ends that are not known: nothing is said of any.
func TestNativeKnowsNoEndOfWhatTakesLong(t *testing.T) {
	testmain.OnlyLong(t, "it waits for half a minute", "./checker/cli")
	c := []command.File{{Name: "n", Content: "0\n"}}
	r := challenged(t, time.Minute, serializable(), checker.Holds, c, "sleep 1000; "+bumps, "read x < n")
	require.Equal(t, checker.Holds, r.Verdict)
	require.Contains(t, r.Native, "not tried: the commands take longer than")
}

// Making a FIFO, and giving a socket a name, are calls at which commands are stopped.
func TestNativeStopsAtFIFOsAndSockets(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "perl", "./checker/cli")
	for makes, is := range map[string]string{ // unless it is told to stop, which it looks for right before
		"[ -e stop ] || mkfifo l": "-p",
		`perl -e 'exit if -e "stop"; socket(S, 1, 1, 0) && bind(S, pack("S a108", 1, "l"))'`: "-S",
	} {
		file := filepath.Join(t.TempDir(), "made.txtar")
		require.NoError(t, os.WriteFile(file, []byte("One makes what another one missed.\n-- commands --\n"+
			makes+"\n: >stop; [ "+is+" l ] || : >none\n-- setting --\ndir /srv/made\nrefused none\n"), 0o600))
		got := run(t, "run", "--native", "1m", "--property", "serializable", file)
		testmain.Viewed(t, got.stdout, "./checker/cli")
		require.Equal(t, ExitDiffers, got.exit, got.stdout)
		require.Contains(t, got.stdout, "  native  confirmed: 3 of 3 native runs", got.stdout)
	}
}

// A key pair that is drawn has halves of two processes. Natively each serial run draws others, so that its ends cannot
// tell: that refutes nothing.
func TestNativeCannotCompareWhatIsDrawn(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "perl", "./checker/cli")
	file := filepath.Join(t.TempDir(), "keys.txtar")
	require.NoError(t, os.WriteFile(file, []byte(`Two programs that draw a key and write it to two files.
-- commands --
perl key.pl a
perl key.pl b
-- setting --
dir /srv/keys
-- key.pl --
$x = $ARGV[0] . rand; for $n ("k", "p") { open F, ">", $n; print F $x; close F }
`), 0o600))
	got := run(t, "run", "--native", "1s", "--property", "serializable", file)
	testmain.Viewed(t, got.stdout, "./checker/cli")
	require.Equal(t, ExitDiffers, got.exit, got.stdout)
	require.Contains(t, got.stdout, "  native  not confirmed: the order ")
}
