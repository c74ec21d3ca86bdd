package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// Scripts are locked in their first lines, other commands are wrapped, and what writes over the file may write to a
// private name.
func TestRepairs(t *testing.T) {
	lock := []string{"+exec 9>n.lock", "+flock 9"}
	const private = "echo $((n+1)) >n"
	head := []string{"--- a/up.sh", "+++ b/up.sh"}
	diff := func(lines ...any) (out []string) {
		out = slices.Clone(head)
		for _, l := range lines {
			switch l := l.(type) {
			case string:
				out = append(out, l)
			case []string:
				out = append(out, l...)
			}
		}
		return out
	}
	renamed := []string{" read n <n", "-" + private, "+echo $((n+1)) > n.$$ && mv n.$$ n"}
	for _, c := range []struct {
		name   string
		lines  []string
		set    func(s *Spec)
		pastes [][]string
	}{
		{"a script twice", []string{"sh up.sh", "bash ./up.sh"}, nil, [][]string{
			diff("@@ -1,4 +1,4 @@", " #!/bin/sh", " # adds one", renamed),
			{"flock -F n.lock sh up.sh", "flock -F n.lock bash ./up.sh"},
			{"flock n.lock sh up.sh", "flock n.lock bash ./up.sh"},
			diff("@@ -1,4 +1,6 @@", " #!/bin/sh", " # adds one", lock, " read n <n", " "+private),
			diff("@@ -1,4 +1,6 @@", " #!/bin/sh", " # adds one", "-read n <n", "-"+private, lock, "+read n <n",
				"+"+renamed[2][1:]),
			slices.Concat([]string{"flock -F n.lock sh up.sh", "flock -F n.lock bash ./up.sh"},
				diff("@@ -1,4 +1,4 @@", " #!/bin/sh", " # adds one", renamed)),
			{"flock -F n sh up.sh", "flock -F n bash ./up.sh"},
		}},
		{"by its first line", []string{"./up.sh", "./up.sh"}, func(s *Spec) { s.Files[0].Content = "#!/bin/sh\ntouch n" },
			[][]string{
				{"flock -F n.lock ./up.sh"}, {"flock n.lock ./up.sh"},
				diff("@@ -1,2 +1,4 @@", " #!/bin/sh", lock, " touch n", "\\ No newline at end of file"),
				{"flock -F n ./up.sh"},
			}},
		{"started elsewhere", []string{"cat /data/n", "touch n"}, nil, [][]string{
			{"flock -F /data/n.lock cat /data/n", "flock -F /data/n.lock touch n"},
			{"flock /data/n.lock cat /data/n", "flock /data/n.lock touch n"},
			{"flock -F n cat /data/n", "flock -F n touch n"},
		}},
		{"it may skip", []string{"touch n", "cat n"}, func(s *Spec) { s.Refused = Refused{Declared: true, Skips: true} },
			[][]string{
				{"flock -F n.lock touch n", "flock -F n.lock cat n"},
				{"flock n.lock touch n", "flock n.lock cat n"},
				{"flock -F -n -E 75 n.lock touch n", "flock -F -n -E 75 n.lock cat n"},
				{"flock -F n touch n", "flock -F n cat n"},
			}},
		{"one that loses the file with the power", []string{"sort -o n n"}, func(s *Spec) { s.PowerLosses = 1 }, [][]string{
			{"sort -o n.$$ n && sync n.$$ && mv n.$$ n && sync ."},
		}},
		{"one that renames unsynced", []string{"sed p n >t; mv t n"}, func(s *Spec) { s.PowerLosses = 1 }, [][]string{
			{"sed p n >t; sync t && mv t n && sync ."},
		}},
		{"a script that renames unsynced", []string{"python3 up.sh"}, func(s *Spec) {
			s.PowerLosses, s.Files[0].Content = 1, "if x:\n  os.rename('t', 'n')\n"
		}, [][]string{
			diff("@@ -1,2 +1,4 @@", " if x:", "-  os.rename('t', 'n')", "+  os.fsync(os.open('t', os.O_RDONLY))",
				"+  os.rename('t', 'n')", "+  os.fsync(os.open(os.path.dirname('n') or '.', os.O_RDONLY))"),
		}},
		{"one in node", []string{"node up.sh"}, func(s *Spec) {
			s.PowerLosses, s.Files[0].Content = 1, "fs.renameSync(t, 'n');\n"
		}, [][]string{
			diff("@@ -1,1 +1,3 @@", "-fs.renameSync(t, 'n');", "+fs.fsyncSync(fs.openSync(t, 'r+'));",
				"+fs.renameSync(t, 'n');", "+fs.fsyncSync(fs.openSync(require('path').dirname('n'), 'r'));"),
		}},
		{"one that is ended while it waits", []string{"timeout 5 flock n touch n"}, nil, [][]string{
			{"flock -w 5 -E 124 n touch n"},
		}},
		{"one that appends", []string{"echo >>n"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Dir: "/data", Files: []File{
				{Name: "up.sh", Content: "#!/bin/sh\n# adds one\nread n <n\n" + private + "\n"}, {Name: "n", Content: "0\n"},
			}}
			for _, l := range c.lines {
				s.Commands = append(s.Commands, Line{Shell: l})
			}
			if c.set != nil {
				c.set(&s)
			}
			var pastes [][]string
			for _, r := range s.Repairs("n", nil) {
				pastes = append(pastes, r.Paste)
			}
			require.Equal(t, c.pastes, pastes)
		})
	}
}

// Where what was printed is wrong, and no file, the one that is written over may be meant.
func TestRepairsOfWhatWasRead(t *testing.T) {
	s := Spec{Dir: "/data", Files: []File{{Name: "f"}, {Name: "n"}},
		Commands: []Line{{Shell: "seq 9 > n"}, {Shell: "cat n"}}}
	require.Equal(t, []string{"seq 9 > n.$$ && mv n.$$ n"}, s.Repairs("", nil)[0].Paste)
}

// One process more is asked of each command: a lock may hold where the one that is there twice only reads.
func TestTrials(t *testing.T) {
	names := func(lines ...string) (out []string) {
		r := &Repair{}
		for _, l := range lines {
			r.Spec.Commands = append(r.Spec.Commands, Line{Shell: l})
		}
		for _, t := range r.Trials() {
			out = append(out, t.Name)
		}
		return out
	}
	require.Equal(t, []string{"1 process", "1 process and a kill at any call"}, names("touch n"))
	require.Equal(t, []string{"2 processes", "3 processes", "2 processes and a kill at any call"},
		names("touch n", "touch n"))
	require.Equal(t, []string{"2 processes", "3 processes (A twice)", "3 processes (B twice)",
		"2 processes and a kill at any call"}, names("flock l cat n", "flock -F l touch n"))
	require.Contains(t, names("flock l cat n", "flock l touch n"), "2 processes and a kill of flock at any call")
}

// What was executed of a repair is not executed again with a process more, and a third process that runs something else
// is not taken for it. With a kill all is executed of commands that have children: which calls go first is another
// question then.
func TestTrialsShareExecutions(t *testing.T) {
	r := &Repair{Spec: Spec{Commands: []Line{{Shell: "cat n"}, {Shell: "touch n"}}}}
	trials := r.Trials()
	a, b := trials[1].Spec, trials[2].Spec
	require.Same(t, trials[0].Spec.shared, a.shared)
	require.Same(t, a.shared, b.shared)
	for _, reduced := range []bool{false, true} {
		killed := trials[3].Spec
		killed.Dir, killed.shared.fewerOrders = "/data", reduced
		_, err := killed.bare()
		require.NoError(t, err)
		require.Equal(t, !reduced, killed.record == a.shared, "where children may be killed between others' calls")
	}
	require.Equal(t, a.start(1), b.start(1))
	require.NotEqual(t, a.start(2), b.start(2))
}

// A proof for more processes is of two copies of each command, where nothing disturbs them.
func TestCopies(t *testing.T) {
	of := func(change func(s *Spec)) *scenarios.Scenario {
		r := &Repair{Spec: Spec{Refused: Refused{Declared: true}}}
		r.Spec.Commands = []Line{{Shell: "cat n"}, {Shell: "touch n"}}
		change(&r.Spec)
		sc, err := r.Copies()
		require.NoError(t, err)
		return sc
	}
	same := func(sc *scenarios.Scenario) (all []int) {
		for i := range sc.Setting.Processes {
			all = append(all, sc.Same(i))
		}
		return all
	}
	require.Equal(t, []int{0, 1, 0, 1}, same(of(func(*Spec) {})))
	require.Equal(t, []int{0, 0}, same(of(func(s *Spec) { s.Commands[1] = s.Commands[0] })))
	for _, change := range []func(s *Spec){
		func(s *Spec) { s.Crashes = 1 }, func(s *Spec) { s.Commands = s.Commands[:1] }, func(s *Spec) { s.Left = true },
		func(s *Spec) { s.Refused.Statuses = []int{75} }, func(s *Spec) { s.PowerLosses = 1 },
		func(s *Spec) { s.Living = []int{99} },
	} {
		require.Nil(t, of(change))
	}
}

// A lock file has a name that nothing has.
func TestLockOfARepairIsNew(t *testing.T) {
	s := Spec{Commands: []Line{{Shell: "cat n"}, {Shell: "cat n"}}, Files: []File{{Name: "n"}, {Name: "n.lock"}}}
	require.Equal(t, ".n.lock", s.Repairs("n", nil)[0].Lock)
	require.Equal(t, "command.lock", s.Repairs("", nil)[0].Lock)
	require.Equal(t, ".command.lock", s.Repairs("", []string{"/data/command.lock"})[0].Lock, "git makes such locks")
}

// A repair by which a command does nothing, always refuses, or waits for ever is none.
func TestSameAlone(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "sh", "./scenarios/command")
	s := Spec{Commands: []Line{{Shell: "sh up.sh"}}, Files: []File{{Name: "n", Content: "0\n"}, {Name: "up.sh",
		Content: "read n <n; echo $((n+1)) >n\n"}}}
	_, err := s.Scenario()
	testmain.Traced(t, err, "./scenarios/command")
	for _, c := range []struct {
		shell string
		same  bool
	}{
		{"sh up.sh", true},
		{"flock n.lock sh up.sh", true},
		{"flock -F n.lock sh up.sh", true},
		{"true <n", false},
		{"sh up.sh; exit 75", false},
	} {
		if strings.HasPrefix(c.shell, "flock") {
			testmain.Needs(t, "flock", "./scenarios/command")
		}
		r := &Repair{Lock: "n.lock", Spec: s.changed([]Line{{Shell: c.shell}}, s.Files)}
		same, err := s.SameAlone(r)
		require.NoError(t, err)
		require.Equal(t, c.same, same, c.shell)
		child := strings.HasPrefix(c.shell, "flock n") || strings.Contains(c.shell, ";")
		require.Equal(t, child, r.Spec.shared.fewerOrders, c.shell)
	}
	waits := s.changed([]Line{{Shell: "exec 8>k; flock 8; exec 9>k; flock 9; sh up.sh"}}, s.Files)
	testmain.Needs(t, "flock", "./scenarios/command")
	_, err = s.SameAlone(&Repair{Lock: "k", Spec: waits})
	require.Error(t, err)
}

// Random numbers are tried once where a command is told the same on two machines.
func TestDrawnOnce(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	s := &Spec{Dir: "/data", Commands: []Line{{Shell: "touch n"}}}
	sc, err := s.bare()
	testmain.Traced(t, err, "./scenarios/command")
	for i, inodes := range []scenarios.InodeAssumption{scenarios.InodesOpen, scenarios.InodesReused} {
		sc.Setting.Assume.Inodes = inodes
		require.Empty(t, s.draws(&sc))
		require.Len(t, s.record.drawn, 2+i, "a machine more, on which it does the same")
	}
}
