//go:build linux && amd64

package tracer_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// An interpreter tells the line of the script that makes a call, also one of a program that the script has started.
// Each call that changes something has a line, and none a wrong one. The calls are those that the script makes without
// that.
func TestScriptLines(t *testing.T) {
	testmain.OneWorker(t)
	for file, command := range map[string]func(testing.TB, string) []string{
		"job.py": python, "job.pl": by("perl"), "job.js": by("node"), "job.rb": by("ruby"), "job.sh": by("sh"),
		"job.sh in bash": by("bash"), "job.php": by("php"),
	} {
		t.Run(file, func(t *testing.T) {
			file, _, _ := strings.Cut(file, " ")
			text, err := os.ReadFile("testdata/lines/" + file)
			require.NoError(t, err)
			lines := strings.Split(string(text), "\n")
			argv := command(t, file)
			run := func(with bool) (ops []fsfake.Op, told int) {
				c := config(argv...)
				c.Lines, c.Sources = with, &tracer.Sources{}
				if exe, err := filepath.EvalSymlinks(argv[0]); with && err == nil {
					c.Sources.Know(exe)
				}
				m := newMachine()
				must(m.Proc(1).WriteFile(dir+"/"+file, text, 0o644))
				run, err := tracer.Start(c)
				skipUntraceable(t, err)
				require.NoError(t, err)
				defer run.Stop()
				toItsEnd(t, m, run, func(p tracer.Pending, _ fsfake.Result) {
					ops = append(ops, p.Op)
					at := run.Where(p.Task)
					if !with || !strings.HasPrefix(at.File, dir) {
						require.False(t, with && p.Op.Call.Changes() && !p.Op.Call.Ends(), "%v is at %v", p.Op, at)
						return
					}
					told++
					require.Equal(t, path.Join(dir, file), at.File)
					_, makes, _ := strings.Cut(lines[at.Line-1], "makes: ")
					if file == "job.sh" && !p.Op.Call.Changes() {
						return // a shell reads its script, and closes pipes, by the way
					}
					require.Contains(t, strings.Fields(makes), p.Op.Call.String(), "%v at %v", p.Op, at)
				})
				require.Equal(t, tracer.Exit{}, exitOf(t, run), run.Stderr())
				require.Empty(t, run.Stderr())
				return ops, told
			}
			plain, _ := run(false)
			hooked, told := run(true)
			require.Equal(t, plain, hooked)
			require.Greater(t, told, 10)
		})
	}
}

func exitOf(t *testing.T, run *tracer.Run) tracer.Exit {
	e, ok := run.Exit(100)
	require.True(t, ok)
	return e
}
