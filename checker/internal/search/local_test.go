package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// A locals is a program with local steps, of which two copies run, or one beside another program.
type locals struct {
	script, beside string
	// lasts: sleeps last, and so many stalls may come.
	lasts  bool
	stalls int
	assume scenarios.Assumptions
	long   bool // only in the long form
}

// leases have local steps in time: children, descriptors that are shared, looks at a clock that nobody moves.
// The others look at files that nobody changes, or that somebody changes after all.
var localPrograms = map[string]locals{
	"sleep":       {script: "mkdir l; sleep 1; rmdir l", lasts: true},
	"stall":       {script: "mkdir l; date +%s >/dev/null; sleep 1", lasts: true, stalls: 1},
	"descriptors": {script: "exec 3<n 4<&3; exec 3<&-; (date +%s >f); exec 4<&-; rm f", lasts: true},
	"flock": {script: "exec 9<n; flock 9; touch n; sleep 1; (exec 9<&-; date +%s >f); exec 9<&-; rm f",
		lasts: true},
	"file": {script: "f=$(date +%s); sleep 1; [ -e $f ] || : >$f", lasts: true, stalls: 1},

	"read":     {script: "cat n >f.$$", beside: "cat m >>n"},
	"listing":  {script: "echo * >f.$$", beside: "[ -e m ]; : >k; [ -e n ] && rm m"},
	"made":     {script: ": >>k; exec 3<k; exec 3<&-; cat k n >f.$$", beside: ": >>k; echo k >>n"},
	"kept":     {script: "exec 9>>k; flock 9; cat n >f.$$; exec 9<&-", beside: "exec 9>>k; flock 9; : >n"},
	"filled":   {script: ": >>k; cat k >f.$$", beside: "echo k >>k; cat n"},
	"removed":  {script: ": >>k; cat k >f.$$", beside: "cat n; rm -f k"},
	"replaced": {script: "cat n >f.$$", beside: "cat m >k; mv k n"},
	"rights":   {script: "[ -x n ] && echo x >f.$$; cat m", beside: "chmod 700 n; cat m"},
	"unlinked": {script: "exec 3<n; cat m <&3 >f.$$; cat <&3 >>f.$$", beside: "rm n; cat m; echo k >n"},
	"linked":   {script: "cat n >f.$$; [ n -ef k ] && echo y; :", beside: "ln n k; echo k >>k"},
	"unnamed":  {script: "cat m; (exec 3<k) 2>f.$$; :", beside: "ln n k; cat m; rm k"},
	"inside":   {script: "mkdir -p e; ls e >f.$$", beside: "mkdir -p e; cat m; : >e/x"},
	"moved":    {script: "cd d; cat ../m; pwd >f.$$; cat o", beside: "cat d/o; mv d e"},
	"symlink":  {script: "cat s >f.$$", beside: "cat m; ln -sf m s"},
	"children": {script: "(exit 1); (:) & wait; cat n",
		beside: "kill -0 101001 && : >k; cat m; kill -0 101002 && : >f; :"},
	"beside": {script: "{ read x <m; : >>k; } & { read x <m; [ -e k ]; } & wait; :", beside: "[ -e k ]; cat n"},
	"beside lock": {long: true,
		script: "exec 9>>k; { flock 9; read x <n; echo 1 >n; } & { flock 9; read x <m; echo 2 >n; } & wait; :"},
	"beside change": {long: true, beside: "cat m; echo 1 >n",
		script: "{ read x <n; [ -e k ] && : >f.$$; } & { read x <m; : >>k; } & wait; :"},
	"processes": {script: "cat n; (cat m)", beside: "kill -0 101 && : >k; cat m; kill -0 101 && : >f; :"},
}

func localSpace(t require.TestingT, of locals) (x *Explorer, err error) {
	line := func(script string) command.Line { return command.Line{Argv: []string{"sh", "-c", script}} }
	st := scenarios.Setting{Stalls: of.stalls, Assume: of.assume}
	if of.lasts {
		st.StallFor, st.Assume.Sleeps = 2*time.Second, scenarios.SleepsLast
	}
	sc, err := command.Spec{
		Commands: []command.Line{line(of.script), line(cmp.Or(of.beside, of.script))},
		Files: []command.File{
			{Name: "d/"}, {Name: "d/o", Content: "o\n"}, {Name: "n", Content: "0\n"}, {Name: "m", Content: "m\n"},
			{Name: "s", Link: "n"},
		},
		Setting: st,
	}.Scenario()
	if err != nil {
		return nil, err
	}
	if of.lasts && of.stalls == 0 {
		sc, err = sc.InTime()
		require.NoError(t, err)
	}
	p, err := sc.Property("serializable")
	require.NoError(t, err)
	return NewExplorer(&sc, p)
}

func spaceOf(t *testing.T, name string) *Explorer {
	t.Helper()
	testmain.Needs(t, "flock", "./checker/internal/search")
	if localPrograms[name].long {
		testmain.OnlyLong(t, "others have children beside each other, too", "./checker/internal/search")
	}
	x, err := localSpace(t, localPrograms[name])
	testmain.Traced(t, err, "./checker/internal/search")
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return x
}

// after is what a state leads to by one choice, nil for nothing, and whether that breaks the property.
func after(t *testing.T, w *engine.Expander, s []uint32, c sched.Choice) (to []uint32, bad bool) {
	t.Helper()
	require.NoError(t, w.Expand(s))
	for i := range w.Out {
		if w.Out[i].Choice == c {
			return slices.Clone(w.State(&w.Out[i])), w.Out[i].Bad
		}
	}
	return nil, false
}

// A local step commutes with each step that others can make instead, and stays local after it. So it commutes with all
// steps that others can make before it.
func commutes(t *testing.T, x *Explorer) {
	t.Helper()
	c, err := x.Explore(t.Context(), Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	w, local, compared := engine.NewExpander(x.Space), 0, 0
	for id := range c.States.Len() {
		s := c.States.Row(id, nil)
		slot, err := w.ExpandLocal(s, func([]uint32) bool { return true })
		require.NoError(t, err)
		if slot < 0 {
			continue
		}
		local++
		step, alone := w.Out[0].Choice, slices.Clone(w.State(&w.Out[0]))
		call := x.Op(s, slot).String()
		require.NoError(t, w.Expand(s))
		var others []sched.Choice
		for i := range w.Out {
			if w.Out[i].Slot != slot && !w.Out[i].Bad {
				others = append(others, w.Out[i].Choice)
			}
		}
		for _, other := range others {
			late, _ := after(t, w, s, other)
			first, bad := after(t, w, late, step)
			if bad {
				continue // it was the last step, and where it ends breaks the property
			}
			still, err := w.ExpandLocal(late, func(to []uint32) bool { return table.EqualWords(to, first) })
			require.NoError(t, err)
			if !strings.HasPrefix(call, "go on with") || still >= 0 { // else another call may go first now
				require.Equal(t, slot, still, "%s after %s in state %d", call, other, id)
			}
			if other.Action == sched.Stall && strings.HasPrefix(call, "fork") {
				continue // a child's start time is when it was made, which nobody looks at
			}
			compared++
			last, _ := after(t, w, alone, other)
			if last == nil { // it waits, and has lost its place in the queue, as by the step
				last = alone
			}
			require.Equal(t, first, last, "%s and %s in state %d", call, other, id)
		}
	}
	t.Logf("%d states, %d with a local step, %d pairs", c.States.Len(), local, compared)
	require.Greater(t, local, 10)
	require.Greater(t, compared, 10)
}

// endsOf covers a space, with local steps alone or not, and returns the states in which all have ended.
func endsOf(t require.TestingT, x *Explorer, local bool) (states int, ends [][]uint32) {
	c, err := x.Explore(context.Background(), Limits{Workers: 1, Local: local, States: 30_000}, x.Initial)
	require.NoError(t, err)
	require.Equal(t, local, c.Reduced())
	w := engine.NewExpander(x.Space)
	for id := range c.States.Len() {
		s := c.States.Row(id, nil)
		if require.NoError(t, w.Expand(s)); !w.Unfinished() {
			ends = append(ends, s)
		}
	}
	if !c.Complete {
		return c.States.Len(), nil
	}
	slices.SortFunc(ends, slices.Compare)
	g, err := x.BuildGraph(context.Background(), c, Limits{})
	require.NoError(t, err)
	require.Equal(t, c.States.Len(), g.Len())
	return c.States.Len(), ends
}

// With local steps alone the programs end as they do with all steps, in fewer states, and each state has the step that
// was followed once more. In the same space they commute with those of others.
func TestLocalStepsEndAlike(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/search")
	for name := range localPrograms {
		t.Run(name, func(t *testing.T) {
			x := spaceOf(t, name)
			fewer, got := endsOf(t, x, true) // at first, when nothing is known of what programs change
			all, want := endsOf(t, x, false)
			t.Logf("%d states, %d with local steps alone, %d ends", all, fewer, len(want))
			require.NotEmpty(t, want)
			require.Equal(t, want, got)
			require.Less(t, 5*fewer, 4*all)
			commutes(t, x)
		})
	}
}

// So do drawn programs, also where the files that they change become known while local steps are followed alone.
func TestDrawnLocalStepsEndAlike(t *testing.T) {
	testmain.OnlyLong(t, "it runs hundreds of real programs", "./checker/internal/search")
	parts := []string{
		"cat n", "cat m >f.$$", "echo $$ >>n", ": >>k", "echo k >>k", "cat k", "rm -f k", "mv -f m n", "cp n k",
		"ln n k",
		"ln -sf m s", "cat s", "mkdir d/e", "rmdir d/e", "mv d e", "cd d", "pwd >f.$$", "echo * >f.$$", "chmod 600 n",
		"[ -x n ] && :", "(cat n)", "(exit 1)", "[ -e k ] && : >l", "exec 3<n", "cat <&3", "exec 3<&-",
		"exec 4>>k", "echo x >&4",
		"flock n true", "exec 9>>l", "flock 9", "flock -n l true", "touch -d @9 n", "[ n -nt m ] && : >f",
		"kill -0 101", "kill -0 102001",
		"set -C; : >k; set +C", "test -s k && rm n", "readlink s >f.$$", "[ n -ef k ] && : >f",
	}
	script := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 3).Draw(t, "parts"), "; ") + "; :"
	})
	compared, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		of := locals{script: script.Draw(t, "A"), beside: script.Draw(t, "B"), assume: scenarios.Assumptions{
			Inodes: rapid.SampledFrom([]scenarios.InodeAssumption{
				scenarios.InodesOpen, scenarios.InodesNotReused, scenarios.InodesReused}).Draw(t, "inodes"),
			Times: rapid.SampledFrom([]scenarios.TimeAssumption{
				scenarios.TimesOpen, scenarios.TimesShow, scenarios.TimesDiffer}).Draw(t, "times"),
		}}
		x, err := localSpace(t, of)
		if err != nil {
			return // one command alone fails
		}
		defer x.Close()
		fewer, got := endsOf(t, x, true)
		all, want := endsOf(t, x, false)
		if want != nil && got != nil {
			require.Equal(t, want, got)
			compared, left = compared+1, left+all-fewer
		}
	})
	t.Logf("%d programs compared, %d states left out", compared, left)
	require.Positive(t, left)
}
