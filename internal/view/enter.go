//go:build linux

package view

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attr says in which namespaces a process starts that is to [Enter] a view. It is the first process there: when it
// ends, the kernel kills all others.
func Attr() *syscall.SysProcAttr {
	ids := 1 // an ordinary user may map his own
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Pdeathsig:  unix.SIGKILL,
	}
	if os.Getuid() == 0 {
		ids = mapped()
	} else { // else they are lost at exec
		a.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_SETPCAP, unix.CAP_SYS_CHROOT,
			unix.CAP_SYS_PTRACE, unix.CAP_SYS_ADMIN}
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: ids}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: ids}}
	return a
}

// mapped is how many ids root may map: in a user namespace of a container there may be only one.
func mapped() int {
	first, size := 0, 0
	text, err := os.ReadFile("/proc/self/uid_map")
	if _, bad := fmt.Sscan(string(text), &first, new(int), &size); err != nil || bad != nil || first != 0 {
		return 1
	}
	return min(size, 1<<16)
}

// A View is what the process sees that has entered it.
type View struct {
	uppers  []upper
	base    int // descriptor of the file system in memory
	dir     string
	devices map[string]uint64 // of the machine's file systems, by the directory that stands for one in the view
	// fixed are directories and files that could not be overlaid, and so are read-only.
	fixed []string
}

// An upper is the directory in which the changes below a mount point land.
type upper struct{ at, dir string }

// builder makes a view below root, a directory of a file system in memory at base.
type builder struct {
	v          *View
	base, root string
	sys        int  // a detached copy of the mount of /sys, which base may hide
	overlays   int  // tried so far
	attributes bool // overlays take the option userxattr
}

// Enter makes a view and moves the calling process into it, with Dir as its working directory. The process was started
// with [Attr], and has one thread that calls Enter and all that comes after it. Its privileges are those of a
// command then.
func Enter(o Options) (*View, error) {
	b := &builder{v: &View{dir: o.Dir, devices: map[string]uint64{}}}
	for dir := o.Dir; dir != ""; dir = filepath.Dir(dir) {
		if b.v.devices[o.Dir] = device(dir); b.v.devices[o.Dir] != 0 || dir == "/" {
			break
		}
	}
	if err := b.build(o); err != nil {
		return nil, err
	}
	return b.v, drop()
}

func (b *builder) build(o Options) (err error) {
	mounts := mountPoints()
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if b.sys, err = unix.OpenTree(unix.AT_FDCWD, "/sys",
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE); err != nil {
		b.sys = -1
	}
	bases := []string{"/sys", "/mnt", "/srv"} // what stands there is hidden while the view is made
	at := slices.IndexFunc(bases, func(p string) bool { i, err := os.Stat(p); return err == nil && i.IsDir() })
	if at < 0 {
		return fmt.Errorf("none of %s is there", strings.Join(bases, ", "))
	}
	b.base = bases[at]
	b.root = b.base + "/root"
	if err := mount("tmpfs", b.base, "tmpfs", 0, "mode=700"); err != nil {
		return err
	}
	if err := os.Mkdir(b.root, 0o755); err != nil {
		return err
	}
	if err := mount(b.root, b.root, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	names, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range names {
		if err := b.top(e); err != nil {
			return err
		}
	}
	for _, m := range mounts {
		if err := b.below(m); err != nil {
			return err
		}
	}
	if o.Dir != "" {
		if err := b.copyOf(o); err != nil {
			return err
		}
	}
	if b.v.base, err = unix.Open(b.base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	return b.pivot(o.Dir)
}

// pivot makes root the root, and leaves no way back to the old one.
func (b *builder) pivot(dir string) error {
	if err := os.Chdir(b.root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("umount of the old root: %w", err)
	}
	if dir == "" {
		dir = "/"
	}
	return os.Chdir(dir)
}

// top shows an entry of the root.
func (b *builder) top(e fs.DirEntry) error {
	from, to := "/"+e.Name(), b.root+"/"+e.Name()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !e.IsDir():
		return nil
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	switch e.Name() {
	case "proc":
		return b.proc(to)
	case "sys":
		if b.sys < 0 {
			return nil
		}
		if err := unix.MoveMount(b.sys, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("mount of /sys: %w", err)
		}
		return lock(to)
	case "dev":
		return b.dev(to)
	}
	if from == b.base {
		return nil
	}
	return b.overlay(from)
}

// below shows a mount below a top-level directory, which its overlay does not show.
func (b *builder) below(at string) error {
	for _, p := range []string{"/proc", "/sys", "/dev", b.base} {
		if at == p || strings.HasPrefix(at, p+"/") {
			return nil
		}
	}
	if strings.Count(at, "/") < 2 {
		return nil // top has shown it
	}
	i, err := os.Stat(at)
	if err != nil {
		return nil // another mount hides it
	}
	if _, err := os.Stat(b.root + at); err != nil {
		return nil
	}
	if i.IsDir() {
		err = b.overlay(at)
	} else {
		err = b.fix(at)
	}
	for _, name := range []string{at, b.root + at} {
		if _, gone := os.Stat(name); errors.Is(gone, fs.ErrNotExist) {
			return nil // somebody has just unmounted and removed it
		}
	}
	return err
}

// overlay shows a directory so that what is changed in it lands in memory. One that cannot be overlaid is read-only.
func (b *builder) overlay(at string) error {
	b.overlays++
	up, work := fmt.Sprintf("up%d", b.overlays), fmt.Sprintf("%s/work%d", b.base, b.overlays)
	i, err := os.Stat(at)
	if err != nil {
		return err
	}
	mode := i.Mode() & (fs.ModePerm | fs.ModeSticky)
	if os.Getuid() != 0 && unix.Access(at, unix.W_OK) != nil {
		mode &^= 0o222 // its owner is the user now
	}
	for _, dir := range []string{b.base + "/" + up, work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(b.base+"/"+up, mode); err != nil {
		return err
	}
	data := fmt.Sprintf("lowerdir=%s,upperdir=%s/%s,workdir=%s", strings.NewReplacer(`\`, `\\`, ":", `\:`, ",",
		`\,`).Replace(at), b.base, up, work)
	err = mount("overlay", b.root+at, "overlay", 0, data+",userxattr")
	b.attributes = b.attributes || err == nil
	if err != nil && !b.attributes { // Linux before 5.11 has none
		err = mount("overlay", b.root+at, "overlay", 0, data)
	}
	if err != nil { // as in a user namespace where anything is mounted below it
		return b.fix(at)
	}
	b.v.uppers, b.v.devices[at] = append(b.v.uppers, upper{at, up}), device(at)
	return nil
}

// device is that of a file's file system; 0 where there is no file.
func device(name string) uint64 {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil {
		return 0
	}
	return st.Dev
}

// Splits reports whether two names are on one file system on the machine, and on two in the view: a rename between them
// fails here, and does not there.
func (v *View) Splits(a, b string) bool {
	a, b = v.mount(a), v.mount(b)
	return a != b && v.devices[a] != 0 && v.devices[a] == v.devices[b]
}

// mount is the directory that stands for the file system of a name.
func (v *View) mount(name string) string {
	for ; v.devices[name] == 0 && name != "/" && name != "."; name = filepath.Dir(name) {
	}
	return name
}

// Fixed is the directory or file that holds a name and is read-only in the view, whatever it is on the machine; "" for
// none.
func (v *View) Fixed(name string) string {
	for _, at := range v.fixed {
		if (name == at || strings.HasPrefix(name, at+"/")) && len(v.mount(name)) <= len(at) {
			return at
		}
	}
	return ""
}

// fix shows a directory or a file that cannot be overlaid, read-only.
func (b *builder) fix(at string) error {
	b.v.fixed = append(b.v.fixed, at)
	return b.readOnly(at, b.root+at)
}

func (b *builder) readOnly(from, to string) error {
	if err := mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return lock(to)
}

// lock makes a mount and all below it read-only.
func lock(at string) error {
	err := unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("making %s read-only: %w", at, err)
	}
	return nil
}

// firstPid is where the pids of commands begin, so that other numbers do not look like them.
const firstPid = "20000"

// proc mounts a proc of the view's processes. A bind of the machine's would let root change the machine's host name.
func (b *builder) proc(to string) error {
	if err := mount("proc", to, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	_ = os.WriteFile(to+"/sys/kernel/ns_last_pid", []byte(firstPid), 0o600) // an old kernel does not let us
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "tty", "timer_list"} {
		p := to + "/" + name
		if _, err := os.Lstat(p); err != nil {
			continue
		}
		if err := b.readOnly(p, p); err != nil {
			return err
		}
	}
	return nil
}

// dev makes the devices that programs need. A read-only mount of one lets it be written to and not be changed.
func (b *builder) dev(to string) error {
	if err := mount("tmpfs", to, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := os.WriteFile(to+"/"+name, nil, 0o600); err != nil {
			return err
		}
		if mount("/dev/"+name, to+"/"+name, "", unix.MS_BIND, "") == nil {
			if err := lock(to + "/" + name); err != nil {
				return err
			}
		}
	}
	for name, target := range map[string]string{"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} { // order does not matter: four links
		if err := os.Symlink("/proc/self/"+target, to+"/"+name); err != nil {
			return err
		}
	}
	if err := os.Mkdir(to+"/pts", 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(to+"/shm", 0o777); err != nil {
		return err
	}
	return os.Chmod(to+"/shm", 0o777|fs.ModeSticky)
}

// copyOf binds a copy of a directory over its place, or makes it there.
func (b *builder) copyOf(o Options) error {
	if o.Below {
		delete(b.v.devices, o.Dir)
		to := filepath.Join(b.root, o.Dir)
		names, err := os.ReadDir(to)
		for _, e := range names {
			err = errors.Join(err, os.RemoveAll(filepath.Join(to, e.Name())))
		}
		if err != nil {
			return err
		}
		return CopyTree(o.From, to)
	}
	at := o.Copy
	if at == "" {
		at = b.base + "/dir"
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
	}
	if err := CopyTree(o.From, at); err != nil {
		return err
	}
	to := filepath.Join(b.root, o.Dir)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return mount(at, to, "", unix.MS_BIND, "")
}

func mount(from, to, kind string, flags uintptr, data string) error {
	if err := unix.Mount(from, to, kind, flags, data); err != nil {
		return fmt.Errorf("mount of %s on %s: %w", cmp.Or(kind, from, to), to, err)
	}
	return nil
}

// mountPoints lists the directories and files that something is mounted on, outer ones first.
func mountPoints() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	var out []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 {
			out = append(out, strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(f[4]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// drop takes away what a command has no use for: the way to mount, to set clocks, to look into others.
func drop() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for _, c := range []uintptr{unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_CHROOT, unix.CAP_SYS_PTRACE,
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_BOOT, unix.CAP_SYS_TIME} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
	return nil
}
