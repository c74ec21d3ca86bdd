package command_test

import (
	"fmt"
	"io/fs"
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
)

// outsideCases are commands that share more than the directory. OUT is a real directory with a file n and one with a
// file f, LOCK a name in /tmp that nobody has.
var outsideCases = []struct {
	name, needs string
	lines       []string
	verdict     string
	shared      string // paths, without OUT
	slow        bool
}{
	{name: "a race on a file", needs: "sh", verdict: "broken", shared: "OUT/n",
		lines: twice("sh -c 'read x < OUT/n; echo $((x+1)) > OUT/n'")},
	{name: "a lock in /tmp", needs: "sh flock", verdict: "holds", shared: "/tmp",
		lines: twice("exec 9> LOCK; flock 9; read x < n; echo $((x+1)) > n")},
	{name: "a lock beside a file", needs: "sh flock", verdict: "holds", shared: "OUT/l OUT/n", slow: true,
		lines: twice("exec 9> OUT/l; flock 9; read x < OUT/n; echo $((x+1)) > OUT/n")},
	{name: "mktemp and mv", needs: "sh mktemp", verdict: "broken", shared: "/tmp", slow: true,
		lines: twice("t=$(mktemp); read x < n; echo $((x+1)) > $t; mv -f $t n")},
	{name: "the script itself", needs: "sh flock", verdict: "holds", shared: "OUT/once.sh",
		lines: twice("OUT/once.sh")},
	{name: "a lock that is a directory", needs: "sh", verdict: "holds", shared: "OUT/l.d", slow: true,
		lines: twice("mkdir OUT/l.d || exit 1; read x < n; echo $((x+1)) > n; rmdir OUT/l.d")},
	{name: "an append", needs: "sh", verdict: "holds", shared: "OUT/n", slow: true,
		lines: []string{"echo a >> OUT/n", "echo b >> OUT/n"}},
	{name: "a missing file that one makes", needs: "sh", verdict: "broken", shared: "OUT/new", slow: true,
		lines: twice("test -e OUT/new || echo first >> OUT/new; cat OUT/new")},
	{name: "many new names", needs: "sh", verdict: "holds", shared: "OUT OUT/1 OUT/2 OUT/3", slow: true,
		lines: []string{"for i in 1 2 3 4 5; do > OUT/$i; done; ls OUT", "cat n"}},
	{name: "a directory that is listed", needs: "sh ls", verdict: "broken", shared: "OUT OUT/l",
		lines: twice("n=$(ls OUT | grep -c '^l$'); : > OUT/l; echo $n >> n")},
	{name: "a directory that is moved", needs: "sh", verdict: "holds", shared: "OUT/e OUT/sub", slow: true,
		lines: []string{"mv OUT/sub OUT/e && cat OUT/e/f", "cat n"}},
	{name: "links that lead out", needs: "sh", verdict: "broken", shared: "OUT/n",
		lines: []string{"sh -c 'read x < link; echo $((x+1)) > link'", "sh -c 'read x < up/n; echo $((x+1)) > OUT/n'"}},
	{name: "a link to a directory", needs: "sh", verdict: "broken", shared: "OUT", slow: true,
		lines: twice("ls up/ > names; read x < up/n; echo $((x+1)) > up/n")},
	{name: "another file system", needs: "sh mv", verdict: "broken", shared: "/dev/shm", slow: true,
		lines: []string{"echo new > SHM && mv SHM n", "cat n"}},
}

// What commands change outside of the directory is shared by them, and found out; nothing real is changed.
func TestOutsideIsShared(t *testing.T) {
	testmain.OneWorker(t)
	for _, c := range outsideCases {
		t.Run(c.name, func(t *testing.T) {
			testmain.LongBut(t, c.name, "./scenarios/command", "a race on a file", "a lock in /tmp",
				"a lock beside a file", "the script itself", "many new names", "a directory that is moved",
				"links that lead out", "another file system")
			if c.slow {
				testmain.Slow(t, "it learns long programs", "./scenarios/command")
			}
			for _, program := range strings.Fields(c.needs) {
				testmain.Needs(t, program, "./scenarios/command")
			}
			out := realPlace(t)
			before := lookAt(t, out)
			lock := filepath.Join("/tmp", "lockpick-"+filepath.Base(filepath.Dir(out))+".lock")
			names := strings.NewReplacer("OUT", out, "LOCK", lock, "SHM", "/dev/shm/lockpick-outside")
			spec := command.Spec{ID: "test/commands/outside", Timeout: time.Minute, NoStdout: c.name == "many new names",
				Files: []command.File{
					{Name: "n", Content: "0\n"}, {Name: "link", Link: out + "/n"}, {Name: "up", Link: ".." + out},
				}}
			for _, l := range c.lines {
				spec.Commands = append(spec.Commands, command.Line{Shell: names.Replace(l)})
			}
			r := decideOutside(t, &spec)
			require.Equal(t, c.verdict, r.Verdict.String(), "%s", r.Why)
			var shared []string
			for _, g := range spec.Outside {
				shared = append(shared, strings.ReplaceAll(g.Path, out, "OUT"))
			}
			require.Equal(t, c.shared, strings.Join(shared, " "))
			require.Equal(t, before, lookAt(t, out), "real files were changed")
			require.NoFileExists(t, lock)
			require.NoFileExists(t, "/dev/shm/lockpick-outside")
			if c.slow && !testmain.Long() {
				return
			}
			again := written(t, &spec)
			require.Equal(t, r.Verdict, decideOutside(t, again).Verdict)
			require.Equal(t, pathsOf(&spec), pathsOf(again), "nothing more is found in what was saved")
		})
	}
}

// realPlace makes a real directory.
func realPlace(t *testing.T) string {
	out, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(out+"/sub", 0o755))
	require.NoError(t, os.WriteFile(out+"/sub/f", []byte("f\n"), 0o644))
	require.NoError(t, os.WriteFile(out+"/n", []byte("0\n"), 0o644))
	once := "#!/bin/sh\n[ \"${FLOCKER}\" != \"$0\" ] && exec env FLOCKER=\"$0\" flock -e \"$0\" \"$0\" \"$@\" || " +
		":\nread x < n; echo $((x+1)) > n\n"
	require.NoError(t, os.WriteFile(out+"/once.sh", []byte(once), 0o755))
	return out
}

// lookAt tells all that is in a real directory.
func lookAt(t *testing.T, dir string) (lines []string) {
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		text, _ := os.ReadFile(name)
		lines = append(lines, fmt.Sprint(name, info.Mode(), info.ModTime(), string(text)))
		return err
	}))
	return lines
}

// decideOutside decides whether the ends of commands are serial, when it is known what they share.
func decideOutside(t *testing.T, spec *command.Spec) (r checker.Result) {
	t.Helper()
	for range 50 {
		var sc scenarios.Scenario
		sc, err := spec.Scenario()
		if err == nil {
			r, err = checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{Workers: 1, SkipOdds: true})
		}
		more, failed := spec.Extend(err, time.Now())
		require.NoError(t, failed)
		if !more {
			needTracing(t, err)
			require.NoError(t, err)
			return r
		}
	}
	t.Fatal("there is no end of what they share")
	return r
}

func pathsOf(spec *command.Spec) (paths []string) {
	for _, g := range spec.Outside {
		paths = append(paths, g.Path)
	}
	return paths
}

// written is a spec that was written down and read.
func written(t *testing.T, spec *command.Spec) *command.Spec {
	text, err := spec.Format()
	require.NoError(t, err)
	again, err := command.Parse(text)
	require.NoError(t, err, "%s", text)
	require.True(t, slices.EqualFunc(spec.Outside, again.Outside, func(a, b fsfake.Region) bool {
		return a.Path == b.Path && a.Partly == b.Partly && a.Hidden == b.Hidden && a.Device == b.Device &&
			slices.Equal(a.Real, b.Real)
	}))
	return &again
}

// What cannot be shared is an error that says why.
func TestExtendFails(t *testing.T) {
	testmain.Needs(t, "sh", "./scenarios/command")
	out := realPlace(t)
	dir := out + "/sub/data"
	spec := command.Spec{Dir: dir, Commands: []command.Line{{Shell: "mv " + out + " " + out + ".new"}}}
	_, err := spec.Scenario()
	_, err = spec.Extend(err, time.Now())
	require.ErrorContains(t, err, "the commands would move or look through "+out+", which contains the directory "+dir)
	more, err := spec.Extend(fs.ErrExist, time.Now())
	require.NoError(t, err)
	require.False(t, more)
}

// A file that has another name outside of the directory, or two names there, is one file.
func TestSameFileByAnotherName(t *testing.T) {
	testmain.OneWorker(t)
	testmain.Needs(t, "flock", "./scenarios/command")
	for _, c := range []struct{ a, b, verdict, shared string }{
		{"read x < n; echo $((x+1)) > n", "read x < OUT/hard; echo $((x+1)) > OUT/hard", "broken", "OUT/hard"},
		{"flock n sh -c 'read x < n; echo $((x+1)) > n'", "flock OUT/hard sh -c 'read x < n; echo $((x+1)) > n'", "holds", "OUT/hard"},
		{"read x < OUT/1; echo $((x+1)) > OUT/1", "cat OUT/2 > copy", "broken", "OUT/1 OUT/2"},
	} {
		out := realPlace(t)
		dir := filepath.Join(out, "dir")
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(dir+"/n", []byte("0\n"), 0o644))
		require.NoError(t, os.WriteFile(out+"/1", []byte("0\n"), 0o644))
		require.NoError(t, os.Link(dir+"/n", out+"/hard"))
		require.NoError(t, os.Link(out+"/1", out+"/2"))
		before := lookAt(t, out)
		files, err := command.Copy(dir, time.Now())
		require.NoError(t, err)
		names := strings.NewReplacer("OUT", out)
		spec := command.Spec{ID: "test/commands/same", Dir: dir, Files: files,
			Commands: []command.Line{{Shell: names.Replace(c.a)}, {Shell: names.Replace(c.b)}}}
		require.Equal(t, c.verdict, decideOutside(t, &spec).Verdict.String(), "%s beside %s", c.a, c.b)
		require.Equal(t, c.shared, strings.ReplaceAll(strings.Join(pathsOf(&spec), " "), out, "OUT"))
		require.Equal(t, before, lookAt(t, out), "real files were changed")
	}
}
