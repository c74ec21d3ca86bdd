package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// The mode of the directory, special bits, owners and times that have not come are those of the original: on the
// machine, and in the copy in which commands run on the kernel.
func TestCopyOfModes(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	chmod := func(name string, mode uint32) { require.NoError(t, syscall.Chmod(filepath.Join(dir, name), mode)) }
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "n"), nil, 0o644))
	owner := os.Getuid()
	if owner == 0 {
		owner = 12
		require.NoError(t, os.Chown(filepath.Join(dir, "f"), owner, 34))
	}
	chmod("f", 0o6755)
	chmod("sub", 0o2555)
	chmod(".", 0o1750)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "f"), now.Add(time.Hour), now.Add(time.Hour)))
	files, err := command.Copy(dir, now)
	require.NoError(t, err)
	sc, err := command.Spec{Files: files, Commands: []command.Line{
		{Shell: "stat -c '%n %a %u' . f sub; [ f -nt old ] && touch now && [ f -nt now ] && echo later"},
	}}.Scenario()
	needTracing(t, err)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict)
	m, err := sc.Start()
	require.NoError(t, err)
	for name, want := range map[string]string{".": "dtrwxr-x---", "f": "ugrwxr-xr-x", "sub": "dgr-xr-xr-x"} {
		id, _ := m.Lookup(filepath.Join("/data", name))
		require.Equal(t, want, m.View(id).Mode.String())
	}
	id, _ := m.Lookup("/data/f")
	require.Equal(t, uint32(owner), m.View(id).UID)
	require.Equal(t, m.Now().Add(time.Hour).UnixNano(), m.View(id).Mtime)
}

// One file by two names is one file in the copy, too: who counts by one of them races with who counts by the
// other. Files that only look alike are two.
func TestCopyOfHardLinks(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), time.Now()
	for _, name := range []string{"m", "n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("0\n"), 0o644))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.Link(filepath.Join(dir, "n"), filepath.Join(dir, "sub", "n")))
	files, err := command.Copy(dir, at)
	require.NoError(t, err)
	same := map[string]string{}
	for _, f := range files {
		same[f.Name] = f.Same
	}
	require.Equal(t, map[string]string{"./": "", "m": "", "n": "", "sub/": "", "sub/n": "n"}, same)

	for by, verdict := range map[string]string{"sub/n": "broken", "m": "holds"} {
		sc, err := command.Spec{Files: files, Commands: []command.Line{
			{Shell: "read x < n; echo $((x+1)) > n"}, {Shell: "read x < " + by + "; echo $((x+1)) > " + by},
		}}.Scenario()
		needTracing(t, err)
		require.NoError(t, err)
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		decide(t, sc, p, verdict)
	}
}

// A setting that is no setting is refused.
func TestSetRefuses(t *testing.T) {
	for name, values := range map[string][]string{
		"env":     {"", "NAME", "=value"},
		"refused": {"", ",", "abc", "-1", "256"},
		"inside":  {""},
		"crashes": {"-1", "x"},
		"stdout":  {"maybe"},
	} {
		for _, v := range values {
			require.Error(t, new(command.Spec).Set(name, v), "%s %q", name, v)
		}
	}
}

// What is mounted in the directory is of another file system, so a verdict says that it takes all for one.
func TestMountsAreAssumedAway(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"/": true, "/a b/c": true}
	require.Equal(t, want, command.MountPoints("22 1 0:21 / / rw - ext4 /dev/sda rw\n"+
		"31 22 0:29 /x /a\\040b/c rw,nosuid shared:3 - tmpfs tmpfs rw\n"))
	for _, mounted := range []bool{false, true} {
		sc, err := command.Spec{Files: []command.File{{Name: "sub/", Mounted: mounted}}, Commands: []command.Line{
			{Shell: "ls sub"}, {Shell: "ls sub"},
		}}.Scenario()
		needTracing(t, err)
		require.NoError(t, err)
		all := strings.Join(scenarios.Texts(sc.Assumes), "; ")
		require.Equal(t, mounted, strings.Contains(all, "one file system here: sub/"), all)
	}
}
