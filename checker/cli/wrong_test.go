//go:build linux && amd64

package cli

import (
	"bytes"
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// A wrongTracer is a mistake of the tracer, and commands of which it makes a false verdict.
type wrongTracer struct {
	name    string
	wrong   tracer.Wrong
	a, b    string
	falsely checker.Verdict // the verdict on the model
	needs   string          // a program
	long    bool            // for the long form of the tests
	budget  time.Duration   // of native runs, where real time matters; otherwise a minute, which ends with the first find
	setting scenarios.Setting
}

// twoLooks is a command that looks at f twice, and leaves something behind when the looks differ.
func twoLooks(look string) string {
	return "a=$(" + look + "); b=$(" + look + "); [ \"$a\" = \"$b\" ] || touch race"
}

// stats changes what is told of files.
func stats(change func(*fsfake.Stat)) tracer.Wrong {
	return tracer.Wrong{Told: func(_ fsfake.Op, r fsfake.Result) fsfake.Result {
		if r.Stat != (fsfake.Stat{}) {
			change(&r.Stat)
		}
		return r
	}}
}

var wrongTracers = []wrongTracer{
	{name: "one inode number for all files", a: twoLooks("stat -L -c %i f"), b: "mv g f",
		wrong: tracer.Wrong{Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
			if op.Call == fsfake.CallStat { // and not lstat, by which mv knows one file by two names
				r.Stat.Ino = 7
			}
			return r
		}}},
	{name: "one inode number in listings", needs: "python3", b: "mv g d/f", long: true, budget: time.Minute,
		a: `python3 -SIc 'import os
def look(): return [e.inode() for e in os.scandir("d")]
if look() != look(): open("race", "w")'`,
		wrong: tracer.Wrong{Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
			if text, is := r.Value.(string); is && op.Call == fsfake.CallReaddir {
				r.Value = strings.Repeat("1 ", len(strings.Fields(text)))
			}
			return r
		}}},
	{name: "one mode for all files", a: twoLooks("stat -c %a f"), b: "chmod 600 f",
		wrong: stats(func(s *fsfake.Stat) { s.Mode |= 0o777 }), long: true},
	{name: "files have no size", a: twoLooks("stat -c %s f"), b: "echo more >> f",
		wrong: stats(func(s *fsfake.Stat) { s.Size = 0 }), long: true},
	{name: "times stand still", a: twoLooks("stat -c %Y f"), b: "touch -d @1 f",
		wrong: stats(func(s *fsfake.Stat) { s.Mtime = 0 }), long: true},
	{name: "files have one link", a: twoLooks("stat -c %h f"), b: "ln f h",
		wrong: stats(func(s *fsfake.Stat) { s.Nlink = 1 }), long: true},
	{name: "directories are empty", a: twoLooks("ls d"), b: "mv g d/g",
		wrong: tracer.Wrong{Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
			if op.Call == fsfake.CallReaddir {
				r.Data, r.Value, r.N = "", nil, 0
			}
			return r
		}}, long: true},
	{name: "writes are left out in silence", a: "read x < n; echo $((x+1)) > n", b: "read x < n; echo $((x+1)) > n",
		wrong: tracer.Wrong{
			Asks: func(op fsfake.Op) fsfake.Op {
				if op.Call == fsfake.CallWrite {
					op.Data = ""
				}
				return op
			},
			Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
				if op.Call == fsfake.CallWrite {
					r.N = 2
				}
				return r
			},
		}, long: true},
	{name: "nothing is in the directory, which is a symlink", a: "x=$(cat n 2>/dev/null); echo $((x+1)) > n",
		b: "x=$(cat n 2>/dev/null); echo $((x+1)) > n",
		wrong: tracer.Wrong{Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
			if op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT == 0 {
				r = fsfake.Result{Errno: fsfake.ENOENT}
			}
			return r
		}}, long: true},
	{name: "all have one pid", budget: 3 * time.Second, a: "[ -e b.$$ ] && mkdir a; mkdir a.$$",
		b: "[ -e a.$$ ] && mkdir b; mkdir b.$$", falsely: checker.Broken,
		wrong: tracer.Wrong{Asks: func(op fsfake.Op) fsfake.Op {
			op.Path = strings.ReplaceAll(op.Path, ".102", ".101")
			return op
		}}},
	{name: "a symbolic link leads nowhere", a: outAndIn, b: outAndIn,
		wrong: tracer.Wrong{Asks: func(op fsfake.Op) fsfake.Op {
			op.Path = strings.Replace(op.Path, "out/", "none/", 1)
			return op
		}}},
	{name: "a call is refused in silence", needs: "python3", a: unlessRefused, b: unlessRefused, long: true,
		wrong: tracer.Wrong{Silent: true}},
	{name: "a loop that counts goes round for ever", a: gaveUp, b: gaveUp, long: true,
		wrong: tracer.Wrong{Forgets: true}},
	{name: "inode numbers never come back",
		setting: scenarios.Setting{Assume: scenarios.Assumptions{Inodes: scenarios.InodesNotReused}},
		a: `i=$(stat -c %i f); x=$(stat -c %F f); y=$(stat -c %F f); j=$(stat -c %i f); ` +
			`[ "$i" != "$j" ] || [ "$x" = "$y" ] || touch bad`,
		b: "rm f; ln -s g f", long: true},
	{name: "the clock stands still", a: slowLease, b: slowLease, long: true, budget: 30 * time.Second,
		wrong: tracer.Wrong{Told: func(op fsfake.Op, r fsfake.Result) fsfake.Result {
			if op.Call == fsfake.CallNow {
				r.N = 1_767_225_600_000_000_000
			}
			return r
		}}},
}

// outAndIn counts in a file that a symbolic link leads to.
const outAndIn = `{ x=$(cat out/n); echo $((x+1)) > out/n; } 2>/dev/null; : > here`

// unlessRefused counts in a file, and locks it only where a call fails that every kernel makes.
const unlessRefused = `python3 -SIc 'import os, fcntl
m, f = os.memfd_create("m"), os.open("n", os.O_RDWR)
try:
    os.sendfile(m, f, 0, 9); x = os.pread(m, 9, 0)
except OSError:
    fcntl.flock(os.open("l", os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX); x = os.read(f, 9)
os.pwrite(f, b"%d" % (int(x) + 1), 0)'`

// gaveUp goes on without a lock after 150 attempts.
const gaveUp = `i=0; while ! mkdir l 2>/dev/null; do i=$((i+1)); [ $i -gt 150 ] && break; sleep 0.001; done; ` +
	`read x < n; echo $((x+1)) > n; rmdir l`

// The native check shares nothing with the tracer: whatever mistake that makes, a false verdict is none.
func TestNativeNoticesAWrongTracer(t *testing.T) {
	t.Parallel()
	testmain.Needs(t, "sh", "./checker/cli")
	for _, c := range wrongTracers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.needs != "" {
				testmain.Needs(t, c.needs, "./checker/cli")
			}
			testmain.Slow(t, "it runs real programs for seconds", "./checker/cli")
			if c.long {
				testmain.OnlyLong(t, "it runs real programs for seconds", "./checker/cli")
			}
			if c.budget > 0 {
				testmain.InRealTime(t, "./checker/cli")
			}
			if c.setting.Assume.Inodes != 0 {
				testmain.ReusesInodes(t, "./checker/cli")
			}
			outside := t.TempDir()
			require.NoError(t, os.WriteFile(outside+"/n", []byte("0\n"), 0o600))
			spec := &command.Spec{
				Setting: c.setting, Dir: "/srv/lockpick-wrong", Refused: command.Refused{Declared: true}, Wrong: &c.wrong,
				Commands: []command.Line{{Shell: c.a}, {Shell: c.b}},
				Files: []command.File{{Name: "f", Content: "f\n"}, {Name: "g"}, {Name: "n", Content: "0\n"},
					{Name: "d/f"}, {Name: "out", Link: outside}},
			}
			sc, strict, err := spec.Readings()
			testmain.Traced(t, err, "./checker/cli")
			require.NoError(t, err)
			var out bytes.Buffer
			a := &app{stdout: &out, stderr: &out, env: func(string) string { return "" }}
			f := &runFlags{draw: &drawFlags{resultFlags: &resultFlags{}}, skipOdds: true, states: 1 << 20,
				budget: cmp.Or(c.budget, time.Minute)}
			r, err := a.decideRun(t.Context(), spec, &sc, &strict, sc.Claims[0].Property, newInquiry(), f)
			require.NoError(t, err)
			if c.falsely == 0 {
				c.falsely = checker.Holds
			}
			require.Equal(t, c.falsely, r.Verdict, "the tracer's mistake must make a false verdict: %s", r.Why)
			n := f.challenge(spec, nil)
			defer n.close()
			a.witness(t.Context(), spec, n, &r)()
			testmain.Viewed(t, r.Native, "./checker/cli")
			require.Equal(t, checker.Unknown, r.Verdict, r.Native)
			require.Contains(t, r.Why, "please report it")
			require.Equal(t, ExitUnknown, exitOf(&r))
		})
	}
}
