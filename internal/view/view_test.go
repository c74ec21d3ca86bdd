//go:build linux

package view

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func init() { runtime.LockOSThread() } // a view is entered by the main thread

// In the process that a test starts a view is entered, and a command run there.
func TestMain(m *testing.M) {
	if os.Getenv("VIEW_TEST_NESTED") != "" { // as another user: start the process of the view
		os.Unsetenv("VIEW_TEST_NESTED")
		c := exec.Command("/proc/self/exe")
		c.SysProcAttr, c.Stdout, c.Stderr = Attr(), os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			fmt.Println("start:", err)
		}
		os.Exit(0)
	}
	if script := os.Getenv("VIEW_TEST"); script != "" {
		inView(script)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func inView(script string) {
	v, err := Enter(Options{Dir: os.Getenv("VIEW_DIR"), From: os.Getenv("VIEW_FROM")})
	if err != nil {
		fmt.Println("start:", err)
		return
	}
	c := exec.Command("sh", "-c", script)
	text, _ := c.CombinedOutput()
	changes, err := v.Changes()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"text": string(text), "changes": changes, "err": fmt.Sprint(err)})
}

type seen struct {
	Text    string
	Changes []Change
	Err     string
}

// run runs a script in a view, as a user.
func run(t *testing.T, uid int, dir, from, script string) seen {
	t.Helper()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "VIEW_TEST="+script, "VIEW_DIR="+dir, "VIEW_FROM="+from)
	c.SysProcAttr = Attr()
	if uid != os.Getuid() {
		c.Env = append(c.Env, "VIEW_TEST_NESTED=1")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := c.CombinedOutput()
	if refused := regexp.MustCompile("operation not permitted|permission denied|no space " +
		"left|read-only file system"); strings.HasPrefix(string(out), "start:") && refused.Match(out) || err != nil &&
		refused.MatchString(err.Error()) {
		t.Skipf("SKIPPED: it makes namespaces and overlays, which is not possible here: %v %s; where it is, go test "+
			"./internal/view runs it", err, out)
	}
	var s seen
	require.NoError(t, json.Unmarshal(out, &s), string(out))
	require.Equal(t, "<nil>", s.Err)
	return s
}

func users() []int {
	if os.Getuid() == 0 {
		return []int{0, 65534}
	}
	return []int{os.Getuid()}
}

// What a command can think of to change the machine. Where one succeeds in /proc/sys it writes what is there.
const attempts = `
cd /
echo x >> /etc/passwd; echo x > /etc/lockpick-view; rm -f /etc/hostname; mkdir /etc/lockpick-dir; chmod 777 /etc; chown 1 /etc/hosts
echo x > /usr/lockpick-view; echo x > /var/lockpick-view; echo x > /root/lockpick-view; echo x > /home/lockpick-view; echo x > /lockpick-view
echo x > /tmp/lockpick-view; echo x > /dev/shm/lockpick-view; echo x > /var/tmp/lockpick-view; mkdir -p /run/lock; echo x > /run/lock/lockpick-view
chmod 600 /dev/null; rm -f /dev/null; touch -d 2001-01-01 /dev/null; mv /dev/zero /dev/zero2; mknod /dev/lockpick-view c 1 3
hostname lockpick-view; echo lockpick-view > /proc/sys/kernel/hostname; cat /proc/sys/kernel/printk > /proc/sys/kernel/printk && echo WROTE printk
cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness && echo WROTE swappiness; echo h > /proc/sysrq-trigger && echo WROTE sysrq
date -s 2001-01-01; mount -o remount,rw /sys && echo WROTE mount; umount /etc && echo WROTE umount; mount -t tmpfs none /mnt && echo WROTE tmpfs
kill -9 1; kill -STOP $OUTSIDE && echo WROTE kill; find /sys/kernel -maxdepth 1 -writable -type f -exec sh -c 'echo 1 > "$1" && echo WROTE "$1"' _ {} \;
rm -rf "$MINE" 2>/dev/null; ln -sf /etc/shadow /etc/lockpick-link; truncate -s 0 /etc/os-release; ipcmk -M 64
chroot /proc/1/root true && echo WROTE chroot; for f in /proc/1/fd/*; do ls $f/ 2>/dev/null | grep up1 && echo WROTE fds; done
echo done
`

// A command that tries to change thirty places finds all of them changed in the view at most.
func TestNothingOutsideIsChanged(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	require.NoError(t, sleeper.Start())
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	for _, uid := range users() {
		mine := t.TempDir()
		require.NoError(t, os.WriteFile(mine+"/f", []byte("mine"), 0o666))
		require.NoError(t, os.Chmod(mine, 0o777))
		t.Setenv("OUTSIDE", fmt.Sprint(sleeper.Process.Pid))
		t.Setenv("MINE", mine)
		before := machine(t)
		s := run(t, uid, "", "", attempts)
		require.Equal(t, before, machine(t), "as user %d", uid)
		require.Contains(t, s.Text, "done")
		require.NotContains(t, s.Text, "WROTE", "as user %d", uid)
		require.FileExists(t, mine+"/f")
		if uid == 0 {
			at := func(p string) int { return slices.IndexFunc(s.Changes, func(c Change) bool { return c.Path == p }) }
			require.GreaterOrEqual(t, at("/etc/lockpick-view"), 0)
			require.GreaterOrEqual(t, at("/var/tmp/lockpick-view"), 0)
			require.True(t, s.Changes[at("/etc/hostname")].Removed)
		}
	}
}

// machine is what the attempts are after.
func machine(t *testing.T) string {
	var b strings.Builder
	for _, p := range []string{
		"/etc", "/etc/passwd", "/etc/hostname", "/etc/hosts", "/etc/os-release", "/etc/lockpick-view", "/etc/lockpick-dir", "/etc/lockpick-link",
		"/usr/lockpick-view", "/var/lockpick-view", "/root/lockpick-view", "/home/lockpick-view", "/lockpick-view", "/tmp/lockpick-view",
		"/dev/shm/lockpick-view", "/var/tmp/lockpick-view", "/run/lock/lockpick-view", "/dev/null", "/dev/zero", "/dev/zero2", "/dev/lockpick-view", "/proc/sys/kernel/hostname", "/proc/sys/kernel/printk",
	} {
		i, err := os.Stat(p)
		if err != nil {
			fmt.Fprintln(&b, p, "is not there")
			continue
		}
		fmt.Fprintln(&b, p, i.Mode(), i.Sys().(*syscall.Stat_t).Uid)
		if i.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%q\n", text)
		}
	}
	shm, _ := exec.Command("ipcs", "-m").Output()
	fmt.Fprintf(&b, "%s %v", shm, time.Now().Year() > 2020)
	return b.String()
}

// A file that has a name outside, too, is another file in the copy: it is named.
func TestNamedElsewhere(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(dir+"/"+name, nil, 0o600))
	}
	require.NoError(t, os.Link(dir+"/b", dir+"/again"))
	require.NoError(t, os.Link(dir+"/c", other+"/c"))
	got, err := NamedElsewhere(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, got)
}

// The directory is a copy with its modes, times, links and owners, in which changes are not listed.
func TestTheDirectoryIsACopy(t *testing.T) {
	from := t.TempDir()
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chmod(from, 0o755))
	require.NoError(t, os.MkdirAll(from+"/lock", 0o711))
	require.NoError(t, os.WriteFile(from+"/lock/pid", []byte("1\n"), 0o640))
	require.NoError(t, os.Link(from+"/lock/pid", from+"/again"))
	require.NoError(t, os.Symlink("again", from+"/link"))
	require.NoError(t, syscall.Mknod(from+"/fifo", syscall.S_IFIFO|0o600, 0))
	require.NoError(t, syscall.Mknod(from+"/socket", syscall.S_IFSOCK|0o600, 0))
	for _, p := range []string{from + "/lock/pid", from + "/lock"} {
		require.NoError(t, os.Chtimes(p, old, old))
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "not", "there"), from} {
		s := run(t, os.Getuid(), dir, from, "pwd; stat -c '%n %a %Y %h' again lock lock/pid; readlink link; "+
			"stat -c %F fifo socket; echo 2 > again; cat lock/pid; echo x > ../x; "+
			"find / -xdev -name 'up[0-9]*' -maxdepth 2")
		require.Equal(t, fmt.Sprintf("%s\nagain 640 %d 2\nlock 711 %d 2\nlock/pid 640 %d 2\nagain\n"+
			"fifo\nsocket\n2\n", dir, old.Unix(), old.Unix(), old.Unix()), s.Text)
		require.True(t, slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Path == filepath.Dir(dir)+"/x" }))
		require.False(t, slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Path == dir+"/again" }))
	}
	text, err := os.ReadFile(from + "/again")
	require.NoError(t, err)
	require.Equal(t, "1\n", string(text))
}
