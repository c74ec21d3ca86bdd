package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// A command is inside from the call that makes the mark to the one that takes it away, or to its end: not to one
// that fails to take it away.
func TestMark(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"made and removed under the lock", "mkdir cs; rmdir cs", "holds"},
		{"the lock goes first", "mkdir cs; exec 9>&-; rmdir cs", "broken"},
		{"a directory is not unlinked", "mkdir cs; unlink cs 2>&-; exec 9>&-; rmdir cs", "broken"},
		{"a file is not removed as a directory", ": > cs; rmdir cs 2>&-; exec 9>&-; rm cs", "broken"},
		{"moved away", "mkdir cs; mv cs $$; rmdir $$", "holds"},
		{"moved away without the lock", "mkdir cs; exec 9>&-; mv cs $$; rmdir $$", "broken"},
		{"a symlink", "ln -s x cs; rm cs", "holds"},
		{"a symlink without the lock", "exec 9>&-; ln -s x cs 2>&-; rm -f cs", "broken"},
		{"left there", "mkdir cs 2>&-; exit 0", "holds"},
		{"left there without the lock", "mkdir cs 2>&-; exec 9>&-; : > n; exit 0", "broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.name, "./scenarios/command", "made and removed under the lock",
				"the lock goes first", "a file is not removed as a directory", "moved away without the lock",
				"left there without the lock")
			sc := scenario(t, "flock", twice("sh -c 'exec 9>lock; flock 9; "+c.body+"'"), map[string]string{"lock": ""}, "inside cs\nrefused none")
			decide(t, sc, scenarios.MutualExclusion, c.want)
		})
	}
}

// The mark of a command that was killed goes with it, whoever of its processes has made it: it keeps nobody out. What
// else is left there does.
func TestMarkOfTheDead(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       map[string]string
	}{
		{"under the lock", "exec 9>lock; flock 9; mkdir cs; : > n; rmdir cs",
			map[string]string{"mutual-exclusion": "holds", "wedge": "holds", "serializable": "holds"}},
		{"by the shell itself", "exec 9>lock; flock 9; set -C; : > cs; : >| n; rm cs",
			map[string]string{"mutual-exclusion": "holds", "wedge": "holds"}},
		{"the lock goes first", "exec 9>lock; flock 9; mkdir cs; exec 9>&-; : > n; rmdir cs",
			map[string]string{"mutual-exclusion": "broken"}},
		{"a lock that stays", "mkdir lock.d; mkdir cs; rmdir cs; rmdir lock.d",
			map[string]string{"mutual-exclusion": "holds", "wedge": "broken"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.name, "./scenarios/command", "under the lock", "the lock goes first",
				"a lock that stays")
			sc := scenario(t, "flock", twice("sh -ec '"+c.body+"'"), map[string]string{"lock": ""},
				"inside cs\ncrashes 1\nrefused 1\nstdout off")
			for id, want := range c.want {
				p, err := scenarios.FindProperty(id, sc)
				require.NoError(t, err)
				decide(t, sc, p, want)
			}
		})
	}
}

// A mark that does not say where the section ends is an error, and no verdict.
func TestMarkThatSaysNothing(t *testing.T) {
	testmain.Needs(t, "sh", "./scenarios/command")
	for _, c := range []struct{ line, want string }{
		{"sh -c 'mkdir cs; : > cs/x; rmdir cs; rm -r cs'", "cs, which marks its critical section, cannot be removed (rmdir cs: ENOTEMPTY): keep it empty"},
		{"sh -c 'mkdir was; rm was'", "was, which marks critical sections, is a file here and a directory there"},
	} {
		inside, _, _ := strings.Cut(c.want, ",")
		_, err := command.Spec{Commands: []command.Line{{Shell: c.line}, {Shell: c.line}}, Files: []command.File{{Name: "was"}}, Inside: inside}.Scenario()
		require.Error(t, err)
		needTracing(t, err)
		require.ErrorContains(t, err, c.want)
	}
}

// The lock's own file is no mark: whoever waits for the lock has opened it. That was broken.
func TestMarkThatIsTheLock(t *testing.T) {
	testmain.Needs(t, "flock", "./scenarios/command")
	for _, script := range []string{"exec 9>lock; flock 9; : > n", "exec 9>lock; flock 9; : > n; rm lock"} {
		line := command.Line{Shell: "sh -c '" + script + "'"}
		_, err := command.Spec{Commands: []command.Line{line, line}, Inside: "lock"}.Scenario()
		require.Error(t, err)
		needTracing(t, err)
		require.ErrorContains(t, err, "locks lock itself, which is to mark its critical section")
	}
}
