package cli

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	"lockpick/sched"
)

var forced = flag.Int("forced", 0, "how many drawn schedules of real programs are carried out on the kernel; 0 for as "+
	"many as is usual")

// specOf is the spec of a command line for so many processes, over the scripts that package
// command is tested with.
func specOf(t testing.TB, line string, n int, settings ...string) command.Spec {
	t.Helper()
	testmain.OneWorker(t)
	for _, word := range strings.Fields(line) {
		if word == "sh" || word == "node" || word == "flock" || word == "perl" {
			testmain.Needs(t, word, "./checker/cli")
		}
	}
	if rest, ok := strings.CutPrefix(line, "python3 "); ok {
		line = testmain.Python(t, "./checker/cli") + " -SE " + rest
	}
	files, err := command.Copy("../../scenarios/command/testdata", time.Now())
	require.NoError(t, err)
	s := command.Spec{Files: append(files,
		command.File{Name: "n", Content: "0\n"}, command.File{Name: "store.json", Content: "{}"}, command.File{Name: "lock"})}
	for range n {
		s.Commands = append(s.Commands, command.Line{Shell: line})
	}
	for _, set := range settings {
		name, value, _ := strings.Cut(set, " ")
		require.NoError(t, s.Set(name, value))
	}
	return s
}

// scenarioOf skips the test where programs cannot be traced.
func scenarioOf(t testing.TB, s *command.Spec) scenarios.Scenario {
	t.Helper()
	sc, err := s.Scenario()
	testmain.Traced(t, err, "./checker/cli")
	require.NoError(t, err)
	for _, a := range sc.Assumes {
		require.NotEqual(t, "kernel-not-compared", a.Code, "each command was compared with the kernel when it ran alone")
	}
	return sc
}

// Drawn schedules of programs go on the real kernel as on the fake, call by call.
func TestForcedSchedules(t *testing.T) {
	testmain.Slow(t, "it carries schedules out on the kernel", "./checker/cli")
	programs := []struct {
		line     string
		n        int
		settings []string
	}{
		{"sh counter.sh", 3, nil},
		{"flock lock sh counter.sh", 3, nil},
		{"flock -w 1 lock sh counter.sh", 3, nil},
		{"flock -w 1 lock sh counter.sh", 2, []string{"crashes 1"}},
		{"sh mkdir-counter.sh", 2, nil},
		{"sh stat-then-write.sh", 2, []string{"refused 1"}},
		{"python3 store.py a", 2, nil},
		{"python3 excl.py", 2, []string{"inside cs", "crashes 1"}},
		{"node counter.js", 2, nil},
		{"flock lock sh counter.sh", 2, []string{"crashes 1"}}, // what is killed has children mostly
		{"sh -c 'cp n store.json; cp store.json n'", 3, nil},   // which read and write without the program's memory

		// One finds the name taken.
		{`perl -e 'socket(S,1,1,0); bind(S,pack("S a108",1,"l")) or mkdir "bad"'`, 2, nil},
	}
	for _, p := range programs {
		t.Run(strings.Join(append([]string{p.line}, p.settings...), ", "), func(t *testing.T) {
			if p.line == "node counter.js" || p.line == "python3 excl.py" {
				testmain.OnlyLong(t, "another program in Python is carried out, and others are killed", "./checker/cli")
			}
			if testing.Short() && !strings.HasPrefix(p.line, "sh ") {
				t.Skip("SKIPPED with -short: interpreters take long to start; go test ./checker/cli runs it")
			}
			spec := specOf(t, p.line, p.n, p.settings...)
			sc := scenarioOf(t, &spec)
			r, err := checker.NewRunner(&sc, scenarios.Deadlock)
			require.NoError(t, err)
			waited, parked := 0, 0
			for seed := range uint64(max(1, cmp.Or(*forced, testmain.Many(1, 1, 44))/len(programs))) {
				var st sched.Strategy = sched.NewRandom(seed)
				if sc.Setting.Crashes > 0 { // at any step, and not as soon as it can
					st = sched.NewPCT(seed, 60, 3)
				}
				ran, err := r.Run(st, true)
				require.NoError(t, err)
				c := spec.Carry(t.Context(), carrySteps(ran.Trace), ran.Trace[len(ran.Trace)-1].After, false)
				require.Empty(t, c.Differs, "%s", ran.Schedule)
				require.Empty(t, c.Cannot, "%s", ran.Schedule)
				parked += c.Parked
				for _, st := range ran.Trace {
					for _, call := range st.Calls {
						if call.Result.Blocked {
							waited++
						}
					}
				}
			}
			t.Logf("%d calls waited, %d tried again", waited, parked)
		})
	}
}

// A kernel that answers otherwise is noticed, wherever it does.
func TestCarryNotices(t *testing.T) {
	testmain.Slow(t, "it carries schedules out on the kernel", "./checker/cli")
	spec := specOf(t, "sh counter.sh", 2)
	sc := scenarioOf(t, &spec)
	r, err := checker.NewRunner(&sc, scenarios.Deadlock)
	require.NoError(t, err)
	ran, err := r.Run(sched.NewRandom(1), true)
	require.NoError(t, err)
	steps, end := carrySteps(ran.Trace), ran.Trace[len(ran.Trace)-1].After
	carry := func(steps []command.Step, end *fsfake.Machine) command.Carried {
		return spec.Carry(t.Context(), steps, end, false)
	}
	require.Equal(t, command.Carried{Calls: len(steps)}, carry(steps, end))

	for _, i := range []int{0, 7, 20} {
		wrong := slices.Clone(steps)
		wrong[i].Result.Errno = fsfake.EIO
		c := carry(wrong, end)
		require.Contains(t, c.Differs, fmt.Sprintf("step %d", i+1))
		require.Contains(t, c.Differs, "EIO")
	}
	long := slices.Clone(steps)
	long[7].Op.Data = strings.Repeat("\x00", 1<<14)
	require.Less(t, len(carry(long, end).Differs), 1000)

	other := steps[0]
	other.Op.Path += "x"
	require.Contains(t, carry(append([]command.Step{other}, steps[1:]...), end).Differs, "the next call")

	waits := slices.Clone(steps)
	waits[2].Result.Blocked = true
	require.Contains(t, carry(waits, end).Differs, "waits")

	full := end.Clone()
	require.NoError(t, full.Proc(1).WriteFile(spec.Dir+"/data/left", nil, 0o600))
	require.Contains(t, carry(steps, full).Differs, "at the end")
}

// A command that maps a file sees there what others write later, which the fake machine does not show: that is said, and
// is no fault of lockpick's to report.
func TestCarryOfAMappedFile(t *testing.T) {
	script := filepath.Join(t.TempDir(), "map.py")
	require.NoError(t, os.WriteFile(script, []byte(`import mmap, os
fd = os.open("n", os.O_RDWR)
m = mmap.mmap(fd, 2, access=mmap.ACCESS_COPY)
os.lseek(fd, 0, os.SEEK_SET)
m[0] += 1
os.write(fd, m[:1])
`), 0o600))
	spec := specOf(t, "python3 "+script, 2)
	sc := scenarioOf(t, &spec)
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict, r.Why)
	carryOut(t.Context(), &spec, &r)
	require.Equal(t, checker.Unknown, r.Verdict)
	require.Contains(t, r.Why, "a command maps a file")
	require.NotContains(t, r.Why, "please report it")
}

// A copy of a directory whose symbolic links name the original is never run in: the original
// would be written to.
func TestCarryLeavesTheOriginalAlone(t *testing.T) {
	spec := specOf(t, "sh counter.sh", 2)
	sc := scenarioOf(t, &spec)
	r, err := checker.NewRunner(&sc, scenarios.Deadlock)
	require.NoError(t, err)
	ran, err := r.Run(sched.NewRandom(1), true)
	require.NoError(t, err)
	steps, end := carrySteps(ran.Trace), ran.Trace[len(ran.Trace)-1].After

	links := spec
	links.Files = append(slices.Clone(spec.Files), command.File{Name: "l", Link: "/data/n"})
	require.Contains(t, links.Carry(t.Context(), steps, end, false).Cannot, "leave the copy")
	made := slices.Insert(slices.Clone(steps), 1, command.Step{Op: fsfake.Op{Call: fsfake.CallSymlink, Path: "l", Path2: "/data/n"}})
	require.Contains(t, spec.Carry(t.Context(), made, end, false).Cannot, "leave the copy")
}

// In which order a directory lists its names is the file system's business: a command that
// prints them as they come goes on the kernel as on the fake.
func TestDirectoryOrder(t *testing.T) {
	testmain.Slow(t, "it executes commands in several orders", "./checker/cli")
	dir := t.TempDir()
	script := dir + "/list.py"
	require.NoError(t, os.WriteFile(script, []byte("import os\nprint(os.listdir())\n"), 0o600))
	spec := specOf(t, "python3 "+script, 1)
	scenarioOf(t, &spec)
}
