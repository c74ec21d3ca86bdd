//go:build linux && amd64

package tracer_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// What a program changes or locks outside of the virtual directory is listed; what it only reads, fails to change, or
// writes to a device is not.
func TestOutside(t *testing.T) {
	for script, want := range map[string]string{
		"echo 1 > OUT/n; cat OUT/n > copy":                            "n",
		"cat OUT/there > here; echo > /dev/null; ls OUT; test -w OUT": "",
		"mkdir OUT/d; mv OUT/d OUT/e; rmdir OUT/e":                    "d e",
		"mkdir OUT/no/such; rmdir OUT/no; ln -s x OUT/there":          "",
		"ln -s x OUT/link; rm OUT/link; cd OUT && mkdir sub":          "link sub",
		"exec 9< OUT/there; flock 9":                                  "there",
		"cd OUT; echo > ./../OUT2/n":                                  "../OUT2/n",
		"touch OUT/n; chmod 600 OUT/n; ln OUT/n OUT/hard":             "hard n",
	} {
		out, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(out+"/there", nil, 0o644))
		beside := filepath.Join(filepath.Dir(out), "OUT2")
		require.NoError(t, os.MkdirAll(beside, 0o755))
		run, err := tracer.Start(config("sh", "-c", strings.NewReplacer("OUT2", "OUT2", "OUT", out).Replace(script)))
		skipUntraceable(t, err)
		require.NoError(t, err)
		toItsEnd(t, newMachine(), run, func(tracer.Pending, fsfake.Result) {})
		var got []string
		for _, name := range run.Outside() {
			rel, err := filepath.Rel(out, name)
			require.NoError(t, err)
			got = append(got, rel)
		}
		run.Stop()
		require.Equal(t, want, strings.Join(got, " "), script)
	}
}

// Under Protect a run ends before a real file is changed, and says which; what changes nothing goes on.
func TestProtect(t *testing.T) {
	for script, want := range map[string]string{
		"echo 1 > OUT/n":                              "n",
		"echo 1 >> OUT/there":                         "there",
		": > OUT/there":                               "there",
		"mkdir OUT/d":                                 "d",
		"rm -f OUT/there":                             "there",
		"rm -f OUT/none; cat OUT/there":               "",
		"mv OUT/there OUT/e":                          "there",
		"mv OUT/sub OUT/e":                            "sub/",
		"rmdir OUT/sub":                               "sub/",
		"rmdir OUT; mkdir OUT; mkdir -p OUT/sub":      "",
		"ln -s x OUT/link":                            "link",
		"ln -s x OUT/there; ln OUT/there OUT/sub":     "there",
		"ln OUT/there n":                              "there",
		"mkdir OUT/no/such; echo > OUT/no/such":       "",
		"exec 9< OUT/there; flock 9":                  "there",
		"exec 9< OUT/sub; flock 9":                    "sub",
		"flock OUT/x.lock true":                       "x.lock",
		"chmod 600 OUT/there":                         "there",
		"chmod 600 OUT/none; touch -c OUT/none":       "",
		"touch OUT/there":                             "there",
		"cd OUT/sub; echo > ./../n":                   "n",
		"exec 3< OUT/there; echo > /proc/self/fd/3":   "there",
		"echo > /dev/null; echo > /dev/stdout":        "",
		"chmod 600 /dev/null; rm -f /dev/null":        "",
		"truncate -s 1 OUT/there":                     "there",
		"mktemp -p OUT >&2":                           "tmp.",
		"mkfifo OUT/fifo":                             "fifo",
		"echo 1 > /proc/$$/oom_score_adj; ls OUT/ ..": "",
	} {
		out, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(out+"/there", []byte("x"), 0o644))
		require.NoError(t, os.Mkdir(out+"/sub", 0o755))
		before := treeOf(t, out)
		c := config("sh", "-c", strings.ReplaceAll(script, "OUT", out))
		c.Protect = true
		run, err := tracer.Start(c)
		skipUntraceable(t, err)
		require.NoError(t, err)
		err = untilItsEnd(newMachine(), run)
		run.Stop()
		require.Equal(t, before, treeOf(t, out), script)
		var e *tracer.Error
		if want == "" {
			require.NoError(t, err, script)
			continue
		}
		require.ErrorAs(t, err, &e, script)
		got := strings.TrimPrefix(e.Outside, out+"/")
		if e.Tree {
			got += "/"
		}
		require.True(t, got == want || strings.HasPrefix(got, want) && want == "tmp.", "%s: %s, %v", script, got, err)
	}
	null, err := os.Stat("/dev/null")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o666), null.Mode().Perm())
}

// treeOf tells all that is in a real directory, with modes and times.
func treeOf(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		lines = append(lines, name+" "+info.Mode().String()+" "+info.ModTime().String())
		return err
	}))
	return lines
}

// untilItsEnd answers a run from a machine, first come, first served.
func untilItsEnd(m *fsfake.Machine, run *tracer.Run) error {
	for {
		set, err := run.Next()
		if err != nil || len(set) == 0 {
			return err
		}
		if err := run.Answer(set[0].Task, m.Do(set[0].Task, set[0].Op)); err != nil {
			return err
		}
	}
}

// What is shared is the fake's wherever it lies, by whatever name it is reached; what is beside it is real.
func TestShared(t *testing.T) {
	for script, want := range map[string]string{
		"echo 1 > OUT/n; cat OUT/n OUT/there":                             "1\nreal\n",
		"cd OUT; cat there; echo 2 > n; cat ./n; cat sub/../n; pwd":       "real\n2\n2\nOUT\n",
		"cd OUT; cat own/f; cd own; cat f ../n; pwd":                      "own\nown\nn\nOUT/own\n",
		"ls OUT; ls OUT/sub; cat OUT/sub/f; ls OUT/own":                   "n\nown\nsub\nthere\nf\nreal\nf\n",
		"exec 9> OUT/lock; flock -n 9 && rm OUT/lock && echo got":         "got\n",
		"flock -n OUT true && mkdir OUT/d/ && rmdir OUT/d && echo done":   "done\n",
		"mv OUT/n n; cat n; mv n OUT/own/n; cat OUT/own/n; ls OUT/own":    "n\nn\nf\nn\n",
		"cat OUT/away; mv OUT/away a && cat a; test -e OUT/away; echo $?": "away\naway\n1\n",
		"ln OUT/away a 2>/dev/null; echo $?; ln OUT/n b && cat b":         "1\nn\n",
	} {
		out, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(out+"/sub", 0o755))
		require.NoError(t, os.WriteFile(out+"/there", []byte("real\n"), 0o644))
		require.NoError(t, os.WriteFile(out+"/sub/f", []byte("real\n"), 0o644))
		m := newMachine()
		p := m.Proc(1)
		require.NoError(t, p.MkdirAll(out+"/own", 0o755))
		require.NoError(t, p.WriteFile(out+"/n", []byte("n\n"), 0o644))
		require.NoError(t, p.WriteFile(out+"/away", []byte("away\n"), 0o644))
		require.NoError(t, p.WriteFile(out+"/own/f", []byte("own\n"), 0o644))
		for _, name := range []string{out, out + "/n", out + "/own", out + "/away", out + "/own/f"} {
			must(p.Do(fsfake.Op{Call: fsfake.CallChown, Path: name, Off: int64(os.Getuid()), Len: int64(os.Getgid())}).Errno)
		}
		c := config("sh", "-c", strings.ReplaceAll(script, "OUT", out))
		c.Protect = true
		c.Shared = []fsfake.Region{
			{Path: out, Partly: true, Real: []string{"sub", "there"}}, {Path: out + "/own"}, {Path: out + "/away", Device: 1},
		}
		m.SetBorder(dir, c.Shared...)
		run, err := tracer.Start(c)
		skipUntraceable(t, err)
		require.NoError(t, err)
		require.NoError(t, untilItsEnd(m, run), script)
		got := run.Stdout() + run.Stderr()
		run.Stop()
		want = strings.ReplaceAll(want, "OUT", out)
		if strings.HasPrefix(script, "ls OUT") {
			want = strings.Replace(want, "n\nown", "away\nn\nown", 1)
		}
		require.Equal(t, want, got, script)
	}
}

// A real directory that is known to be the virtual one is that, as where it is mounted a second time; a known file
// under another name ends the run.
func TestKnown(t *testing.T) {
	out, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(out+"/real", nil, 0o644))
	require.NoError(t, os.WriteFile(out+".file", nil, 0o644))
	id := func(name string) tracer.FileID {
		var st syscall.Stat_t
		require.NoError(t, syscall.Lstat(name, &st))
		return tracer.FileID{Dev: st.Dev, Ino: st.Ino}
	}
	c := config("sh", "-c", strings.ReplaceAll("echo 1 > n; cd OUT; cat n; echo 2 > OUT/m; ls OUT; cat OUT.file",
		"OUT", out))
	c.Protect, c.Known = true, map[tracer.FileID]string{id(out): dir, id(out + ".file"): dir + "/file"}
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	var e *tracer.Error
	require.ErrorAs(t, untilItsEnd(newMachine(), run), &e)
	require.Equal(t, out+".file", e.Outside)
	require.Equal(t, "1\nm\nn\n", run.Stdout())

	// So is one of its directories.
	c = config("sh", "-c", strings.ReplaceAll("mkdir -p a/b; echo 1 > a/b/n; cat OUT/n; cd OUT; echo 2 > m; ls; "+
		"cat ../b/m", "OUT", out))
	c.Protect, c.Known = true, map[tracer.FileID]string{id(out): dir + "/a/b"}
	run, err = tracer.Start(c)
	require.NoError(t, err)
	defer run.Stop()
	require.NoError(t, untilItsEnd(newMachine(), run))
	require.Equal(t, "1\nm\nn\n2\n", run.Stdout())
}
