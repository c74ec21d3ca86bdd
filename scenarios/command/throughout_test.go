package command

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// aroundOf is the repair by which flock(1) starts commands.
func aroundOf(t *testing.T, commands ...string) *Repair {
	t.Helper()
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "flock", "./scenarios/command")
	s := Spec{Dir: "/data", Refused: Refused{Declared: true}, Files: []File{{Name: "n", Content: "0\n"}}}
	for _, c := range commands {
		s.Commands = append(s.Commands, Line{Shell: c})
	}
	all := s.Repairs("n", nil)
	r := &all[slices.IndexFunc(all, func(r Repair) bool { return r.Around })]
	r.Spec.Share()
	return r
}

// What a command does while it has the lock from its beginning to its end is its own affair, but that it keeps it.
func TestThroughout(t *testing.T) {
	const adds = "read x <n; echo $((x+1)) >n"
	for _, c := range []struct{ shell, why string }{
		{adds, ""},
		{"echo $(cat n) a >n", ""},
		{"od -An -N4 -tu4 /dev/urandom >n; date +%N >>n; ls -i >>n", ""},
		{"(sleep 1; " + adds + ") & ", ""},
		{adds + "; rm -f *.lock", "it changes the file of the lock: unlink"},
		{adds + "; mv n n.lock; echo 0 >n", "it changes the file of the lock: rename"},
		{"exec 3>&-; " + adds, "it lets go of the lock before it ends: close"},
		{"flock -u 3; " + adds, "it lets go of the lock before it ends: flock"},
		{"(exec 3>&-; sleep 1; " + adds + ") &", "several orders"},
		{fmt.Sprintf("kill -0 %d 2>/dev/null || "+adds, scenarios.Pid(1)), "it asks about other processes: kill"},
		{"flock -s 3; " + adds, "it lets go of the lock before it ends: flock"},
		{adds + "; exit 1", "fails with exit 1"},
		{": >m & if [ -e m ]; then exec 3>&-; fi; wait; rm -f m; " + adds, "several orders"},
		{"flock a flock b true & flock b flock a true & wait; " + adds, "waits for ever"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			is, why, err := aroundOf(t, c.shell, "echo b >>n").Throughout(t.Context())
			testmain.Traced(t, err, "./scenarios/command")
			require.Contains(t, why, c.why)
			require.Equal(t, c.why == "", is != nil, why)
			if is != nil {
				require.GreaterOrEqual(t, is.Runs, 6, "alone, after one, and after two")
			}
		})
	}
}

// It is for repairs that put flock(1) around commands, and for commands that nothing disturbs.
func TestThroughoutIsOfFlock(t *testing.T) {
	r := aroundOf(t, "cat n", "touch n")
	for _, change := range []func(r *Repair){
		func(r *Repair) { r.Around = false }, func(r *Repair) { r.Spec.Crashes = 1 },
		func(r *Repair) { r.Spec.Refused.Statuses = []int{75} }, func(r *Repair) { r.Spec.Living = []int{99} },
	} {
		other := *r
		change(&other)
		is, why, err := other.Throughout(t.Context())
		require.NoError(t, err)
		require.Nil(t, is)
		require.NotEmpty(t, why)
	}
}

// A command that does something before it has the lock, or does not take it, does not have it throughout.
func TestBeforeTheLock(t *testing.T) {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: scenarios.Pid(0), Parent: 1, Start: 1, Cwd: "/"})
	l := Throughout{lock: "/l"}
	is := func(ops ...fsfake.Op) string {
		var steps []Step
		for _, op := range append(ops, fsfake.Op{Call: fsfake.CallEnd}) {
			steps = append(steps, Step{Op: op})
		}
		return l.breaks(m.Clone(), 0, steps, true)
	}
	open := fsfake.Op{Call: fsfake.CallOpen, Path: "l", Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: 0o644}
	takes := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	require.Empty(t, is(open, takes))
	other, empties, tries, shared := open, open, takes, takes
	other.Path, empties.Flags, tries.Flags, shared.Flags = "n", open.Flags|fsfake.O_TRUNC, takes.Flags|fsfake.LOCK_NB,
		fsfake.LOCK_SH
	for _, ops := range [][]fsfake.Op{{other, open, takes}, {empties, takes}, {open, tries}, {open, shared}, {open}} {
		require.Contains(t, is(ops...), "it does something before it has the lock: ")
	}
}
