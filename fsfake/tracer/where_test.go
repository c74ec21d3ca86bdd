//go:build linux && amd64

package tracer_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// Each call is told at the line that makes it: through libc without frame pointers, inlined
// functions and a recursion in C, through Go's library, deferred functions and goroutines. Without
// DWARF a line may be missing, and none is wrong. Without anything nothing is told.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		name, file   string
		compiler     []string
		all, nothing bool
	}{
		{"C", "testdata/where.c", []string{"gcc", "-g", "-O2", "-o"}, true, false},
		{"C without optimisation", "./testdata/where.c", []string{"gcc", "-g", "-o"}, true, false},
		{"C without debug information", "testdata/../testdata/where.c", []string{"gcc", "-O2", "-o"}, false, true},
		{"Go", "testdata/where/where.go", []string{"go", "build", "-o"}, true, false},
		{"Go without DWARF", "testdata/../testdata/where/where.go", []string{"go", "build", "-ldflags=-w", "-o"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.compiler[0] == "go" {
				t.Skip("SKIPPED with -short: it is compiled, which takes seconds; go test ./fsfake/tracer runs it")
			}
			text, err := os.ReadFile(c.file)
			require.NoError(t, err)
			lines := strings.Split(string(text), "\n")
			run, err := tracer.Start(config(compiled(c.compiler...)(t, c.file)...))
			skipUntraceable(t, err)
			require.NoError(t, err)
			defer run.Stop()
			told := 0
			toItsEnd(t, newMachine(), run, func(p tracer.Pending, _ fsfake.Result) {
				at := run.Where(p.Task)
				switch p.Op.Call {
				case fsfake.CallExit, fsfake.CallSleep, fsfake.CallRmdir: // os.Remove tries both
				default:
					require.False(t, c.all && at.Line == 0, "%v is not located", p.Op)
				}
				if at.Line > 0 {
					told++
					_, makes, _ := strings.Cut(lines[at.Line-1], "// makes: ")
					require.True(t, slices.Contains(strings.Fields(makes), p.Op.Call.String()), "%v at %v: %s", p.Op, at, lines[at.Line-1])
					require.True(t, strings.HasSuffix(at.File, "where.c") || strings.HasSuffix(at.File, "where.go"), at.File)
				}
			})
			require.Equal(t, c.nothing, told == 0)
		})
	}
}
