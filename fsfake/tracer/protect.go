//go:build linux && amd64

package tracer

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// What lies outside of the virtual directory: places that are virtual as well, and real files that are protected.

// region is the region that a clean path is in, or nil; what is in the virtual directory is in none.
func (r *Run) region(name string) *fsfake.Region {
	if name == "" || below(name, r.c.Dir) {
		return nil
	}
	for at := name; ; at = path.Dir(at) { // the innermost one that owns it
		if g := r.shared[at]; g != nil && g.Owns(name) {
			return g
		}
		if at == "/" {
			return nil
		}
	}
}

// virtual reports whether a clean path is in the virtual directory or in a region.
func (r *Run) virtual(name string) bool { return below(name, r.c.Dir) || r.region(name) != nil }

// inTemp reports whether a real path is in the run's own temporary directory.
func (r *Run) inTemp(name string) bool { return r.temp.Path != "" && below(name, r.temp.Path) }

// device tells the file system of a virtual place.
func (t *thread) device(pl place) int {
	name := t.p.named(pl.path)
	if pl.fd >= 0 {
		name = t.p.fds[pl.fd].path
	}
	if g := t.r.region(name); g != nil {
		return g.Device
	}
	return 0
}

// withReal adds, to the names in a real directory that stands for one which is only partly virtual, what is beside
// them.
func (p *process) withReal(fd int, names []string) []string {
	if len(p.r.shared) == 0 {
		return names
	}
	at, _ := os.Readlink(p.inProc(fd))
	if g := p.r.shared[strings.TrimPrefix(at, physical(p.r.standsForRoot()))]; g != nil {
		return g.Listing(names)
	}
	return names
}

// A change is what a call would do to a file.
type change uint8

const (
	changes  change = iota // to what is there: its content, mode, owner or times
	makes                  // a name where none is
	removes                // a name that is there, also of a directory
	replaces               // a name that may be there
	unlinks                // a name that is no directory's
	empties                // a directory that is empty
	locks
)

// changeOf is what calls by name do that are made for real; calls that are not listed change what is there.
var changeOf = map[int]change{
	unix.SYS_MKDIR: makes, unix.SYS_MKDIRAT: makes, unix.SYS_SYMLINK: makes, unix.SYS_SYMLINKAT: makes,
	unix.SYS_MKNOD: makes, unix.SYS_MKNODAT: makes,
	unix.SYS_UNLINK: unlinks, unix.SYS_UNLINKAT: unlinks, unix.SYS_RMDIR: empties,
}

// changesFile are the calls by descriptor that change a file which need not be open for writing.
var changesFile = map[int]bool{
	unix.SYS_FCHMOD: true, unix.SYS_FCHOWN: true, unix.SYS_FSETXATTR: true, unix.SYS_FREMOVEXATTR: true,
}

// protects ends the run if a call would change a real file, or refuses the call if that is a device. It reports
// whether it has done so. What the kernel refuses need not be prevented.
func (t *thread) protects(name string, what change) bool {
	if !t.r.c.Protect || !path.IsAbs(name) || t.r.inTemp(name) {
		return false
	}
	if t.c.nr == unix.SYS_INOTIFY_ADD_WATCH {
		return false
	}
	if t.c.nr == unix.SYS_UNLINKAT && t.c.int(2) == unix.AT_REMOVEDIR {
		what = empties
	}
	if ends, ours := t.protectsProc(name, what); ours {
		return ends
	}
	var st unix.Stat_t
	there := unix.Lstat(name, &st) == nil
	kind := st.Mode & unix.S_IFMT
	switch {
	case !there && what == replaces:
		what = makes
	case what == replaces:
		what = removes
	}
	switch isDir := kind == unix.S_IFDIR; {
	case there == (what == makes), what != locks && !mayChange(name, &st, what), what == unlinks && isDir:
		return false
	case what == empties && (!isDir || t.r.hasOthers(name)):
		return false
	case there && what != locks && (kind == unix.S_IFCHR || kind == unix.S_IFBLK):
		t.fail(unix.EROFS) // as where devices are mounted so that nobody can change them
		return true
	}
	t.outside(name, (what == removes || what == empties) && kind == unix.S_IFDIR)
	return true
}

// mayChange reports whether the program's user may make a change.
func mayChange(name string, st *unix.Stat_t, what change) bool {
	if what == changes {
		return os.Geteuid() == int(st.Uid) || os.Geteuid() == 0 || unix.Access(name, unix.W_OK) == nil
	}
	return unix.Access(path.Dir(name), unix.W_OK|unix.X_OK) == nil
}

// hasOthers reports whether there is something in a real directory that is not virtual.
func (r *Run) hasOthers(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !r.virtual(path.Join(dir,
			e.Name()))
	})
}

// protectsProc is protects of what is below /proc and /sys, and reports whether the name is there. What a program
// tells of itself there is its own; a descriptor is the file that is open there.
func (t *thread) protectsProc(name string, what change) (ends, is bool) {
	if !below(name, "/proc") && !below(name, "/sys") {
		return false, false
	}
	for _, p := range t.r.procs {
		rest, own := strings.CutPrefix(name, "/proc/"+strconv.Itoa(p.real)+"/")
		if fd, isFD := strings.CutPrefix(rest, "fd/"); own && isFD {
			target, err := os.Readlink(name)
			if err != nil || !path.IsAbs(target) || strings.Contains(fd, "/") || strings.HasSuffix(target, " (deleted)") {
				return false, true
			}
			return t.protects(target, what), true
		}
		if own {
			return false, true
		}
	}
	if unix.Access(name, unix.W_OK) != nil {
		return false, true // the kernel refuses it
	}
	t.unmodelled("it would change %s, of the whole machine", name)
	return true, true
}

// protectsOpen is protects for an opening that may change what is there.
func (t *thread) protectsOpen(name string, flags int) bool {
	if !t.r.c.Protect || !path.IsAbs(name) {
		return false
	}
	var st unix.Stat_t
	err := unix.Stat(name, &st)
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	kind := st.Mode & unix.S_IFMT
	switch {
	case flags&unix.O_TMPFILE == unix.O_TMPFILE && kind == unix.S_IFDIR:
		return t.protects(path.Join(name, "tmpfile"), makes)
	case err != nil && flags&unix.O_CREAT != 0:
		return t.protects(name, makes)
	case err != nil || kind == unix.S_IFDIR || !writes || flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return false
	case unix.Access(name, unix.W_OK) != nil || kind == unix.S_IFCHR && isHarmless(st.Rdev):
		return false
	case kind == unix.S_IFCHR || kind == unix.S_IFBLK:
		t.unmodelled("it would write to the device %s", name)
		return true
	}
	return t.protects(name, changes)
}

// isHarmless reports whether a device keeps nothing that is written to it: memory's null, zero, full, random and
// urandom, and terminals.
func isHarmless(rdev uint64) bool {
	const memory, terminals, pty = 1, 5, 136
	switch major := unix.Major(rdev); {
	case major == memory:
		return slices.Contains([]uint32{3, 5, 7, 8, 9}, unix.Minor(rdev))
	default:
		return major == terminals || major >= pty && major < pty+8
	}
}

// protectsFile is protects for a call on a real descriptor.
func (t *thread) protectsFile(fd int, what change) bool {
	name, err := os.Readlink(t.p.inProc(fd))
	if err != nil || strings.HasSuffix(name, " (deleted)") {
		return false
	}
	return t.protects(name, what)
}

// outside ends the run, for a call would change a real file.
func (t *thread) outside(name string, tree bool) {
	t.end(Error{Outside: name, Tree: tree, What: "it would change " + name +
		", which is real: share it, or have the program keep it in the virtual directory"})
}

// holdsShared ends the run, under Protect, if a real directory that a program looks at has a virtual name in it: its
// list of names and its times are then others. It reports whether that is so.
func (t *thread) holdsShared(dir string) bool {
	if !t.r.c.Protect || dir == "/" {
		return false
	}
	for name := range t.r.shared { // order does not matter: any
		if path.Dir(name) == dir {
			t.outside(dir, false)
			return true
		}
	}
	return false
}

// known is the virtual path of a real file that may have another name, and whether it is a directory.
func (r *Run) known(name string) (at string, dir bool) {
	var st unix.Stat_t
	if len(r.c.Known) == 0 || unix.Lstat(name, &st) != nil {
		return "", false
	}
	return r.c.Known[FileID{st.Dev, st.Ino}], st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// alias is the virtual directory that a real one is under another name, by its path from the root, or "".
func (r *Run) alias(name string) string {
	at, dir := r.known(name)
	if !dir || at == name || !r.virtual(at) {
		return ""
	}
	if below(at, r.c.Dir) {
		return r.dir + strings.TrimPrefix(at, r.c.Dir)
	}
	return at
}

// other ends the run, under Protect, if a real file is a virtual one under another name.
func (t *thread) other(name string) {
	if at, dir := t.r.known(name); t.r.c.Protect && at != "" && !dir && at != name {
		t.outside(name, false)
	}
}

// movesRegion ends the run if a call would move or remove a directory of which only some is virtual, and reports
// whether it does.
func (t *thread) movesRegion(name string) bool {
	g := t.r.shared[path.Clean(name)]
	if g == nil || !g.Partly {
		return false
	}
	t.outside(g.Path, true)
	return true
}
