//go:build linux && amd64

package tracer

import (
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What a program changes or locks outside of the virtual directory. It is real, and nobody judges it; whoever
// reads a verdict should know of it.

// realOpen makes a call that opens a file outside.
func (t *thread) realOpen(pl place, i, flags int) {
	if flags&unix.O_PATH == 0 && t.holdsShared(pl.path) {
		return
	}
	if opensForWriting(flags) {
		if t.protectsOpen(pl.path, flags) {
			return
		}
		t.realThen(pl, i, t.noting(pl.path))
		return
	}
	t.realThen(pl, i, nil)
}

// opensForWriting reports whether an opening may change what is there.
func opensForWriting(flags int) bool {
	return flags&unix.O_PATH == 0 && (flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0)
}

// noting returns what notes names once the call has succeeded, and so has changed them.
func (t *thread) noting(names ...string) func(ret int64) {
	return func(ret int64) {
		for _, name := range names {
			if ret >= 0 {
				t.r.note(name)
			}
		}
	}
}

// noteLocked notes that the file behind a real descriptor is locked. It reports whether that has ended the run.
func (t *thread) noteLocked(fd int) bool {
	if t.protectsFile(fd, locks) {
		return true
	}
	if name, err := os.Readlink(t.p.inProc(fd)); err == nil {
		t.r.note(strings.TrimSuffix(name, " (deleted)"))
	}
	return false
}

// note notes a file outside. What is no file is left out, and so is what is the run's own.
func (r *Run) note(name string) {
	if !strings.HasPrefix(name, "/") || r.inTemp(name) || r.virtual(name) {
		return
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if below(name, dir) {
			return
		}
	}
	if r.outside == nil {
		r.outside = map[string]bool{}
	}
	r.outside[name] = true
}

// Outside lists the files outside of the virtual directory that the program has changed or locked so far, in this run and not in
// the one that it is a clone of, in order: their absolute paths, without symlinks on the way. Devices and /proc are left out.
func (r *Run) Outside() []string {
	return looked(r, func() []string { return slices.Sorted(maps.Keys(r.outside)) })
}
