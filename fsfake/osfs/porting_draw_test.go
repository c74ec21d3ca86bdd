//go:build linux

package osfs_test

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"pgregory.net/rapid"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// stepsInSequence is how many steps a drawn sequence has.
const stepsInSequence = 30

// A stepper draws one sequence. Names are few, so that steps meet.
type stepper struct {
	t     *rapid.T
	files int // how many files have been opened, if all went well
}

var sequences = rapid.Custom(func(t *rapid.T) []step {
	d := stepper{t: t}
	var steps []step
	for len(steps) < stepsInSequence {
		steps = append(steps, d.step())
	}
	return steps
})

func (d *stepper) n(k int) int { return rapid.IntRange(0, k-1).Draw(d.t, "") }

func pick[T any](d *stepper, from ...T) T { return from[d.n(len(from))] }

// weights says how often each step is drawn.
var weights = []struct {
	call   string
	weight int
}{
	{"OpenFile", 10}, {"Open", 4}, {"Create", 4}, {"CreateTemp", 2}, {"MkdirTemp", 1}, {"ReadFile", 3}, {"WriteFile", 6},
	{"Stat", 2}, {"Lstat", 2}, {"SameFile", 3}, {"Remove", 4}, {"RemoveAll", 2}, {"Rename", 8}, {"Link", 3}, {"Symlink", 4},
	{"Readlink", 2}, {"Mkdir", 5}, {"MkdirAll", 3}, {"Truncate", 2}, {"Chmod", 2}, {"Chown", 1}, {"Chtimes", 3},
	{"File.Read", 5}, {"File.ReadAt", 5}, {"File.Write", 5}, {"File.WriteString", 2}, {"File.WriteAt", 5}, {"File.Seek", 4},
	{"File.Close", 8}, {"File.Stat", 2}, {"File.Truncate", 3}, {"File.Sync", 1}, {"File.Flock", 5}, {"File.Readdirnames", 4},
	{"File.Readdir", 3}, {"File.Name", 1},
}

func (d *stepper) step() step {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	n := d.n(total)
	for _, w := range weights {
		if n -= w.weight; n < 0 {
			return d.arguments(step{call: w.call})
		}
	}
	panic("unreachable")
}

func (d *stepper) arguments(s step) step {
	if strings.HasPrefix(s.call, "File.") {
		s.file = d.file()
	} else {
		s.name = d.name()
	}
	if opens(s.call) {
		s.file = d.files
		d.files++
	}
	switch s.call {
	case "OpenFile":
		s.flag = d.flags()
		s.perm = d.perm()
	case "CreateTemp", "MkdirTemp":
		s.data = pick(d, "t", "t-*.tmp", "*", "", "a*b*c", "**", "x/y", "d/*", "/", ".lock.*")
		s.name = pick(d, ".", "d", "d/", "d/e", "a", "no", "s")
	case "WriteFile":
		s.data, s.perm = d.data(), d.perm()
	case "SameFile", "Rename", "Link":
		s.name2 = d.name()
		if d.n(8) == 0 {
			s.name2 = s.name
		}
	case "Symlink":
		s.name, s.name2 = pick(d, "a", "d", "/a", "/d", "no", "s", ".", "d/e", strings.Repeat("x/", 63)+"y", strings.Repeat("./", 64)+"a", strings.Repeat("./", 200)+"a", ""), d.name()
	case "Mkdir", "MkdirAll", "Chmod":
		s.perm = d.perm()
		if s.name == tooLong && s.call == "MkdirAll" { // how much of it is made depends on the root
			s.name = "f/g"
		}
	case "Truncate", "File.Truncate":
		s.off = pick[int64](d, 0, 0, 1, 5, 12, 600, -1)
	case "Chown":
		s.n, s.off = pick(d, -1, os.Geteuid()), pick(d, -1, int64(os.Getegid()))
	case "Chtimes":
		s.t, s.t2 = d.time(), d.time()
	case "File.Read":
		s.n = pick(d, 0, 1, 3, 100)
	case "File.ReadAt":
		s.n, s.off = pick(d, 0, 1, 3, 100), pick[int64](d, 0, 1, 5, 1000, -1)
	case "File.Write", "File.WriteString":
		s.data = d.data()
	case "File.WriteAt":
		s.data, s.off = d.data(), pick[int64](d, 0, 1, 5, 20, -1)
	case "File.Seek":
		s.off, s.n = pick[int64](d, 0, 0, 0, 1, 5, -1, -100), pick(d, 0, 0, 0, 1, 2, 9)
	case "File.Flock":
		s.flag = pick(d, osfs.LOCK_SH|osfs.LOCK_NB, osfs.LOCK_EX|osfs.LOCK_NB, osfs.LOCK_EX|osfs.LOCK_NB, osfs.LOCK_UN, 0)
	case "File.Readdirnames", "File.Readdir":
		s.n = pick(d, -1, 0, 1, 1, 2, 5, 100)
	}
	return s
}

// tooLong is longer than any path may be.
var tooLong = "d/" + strings.Repeat("p/", 2100) + "q"

// name draws a name below the root. None leads further out of it than to its parent.
func (d *stepper) name() string {
	base := pick(d, "a", "a", "a", "b", "b", "d", "d", "s", "d/a", "d/a", "d/b", "d/e", "d/e/a", "s/a", "no/a", "a/a")
	switch d.n(25) {
	case 0:
		return base + "/"
	case 1:
		return "d/../" + base
	case 2:
		return "d//" + base
	case 3:
		return base + "/."
	case 4:
		return pick(d, "", ".", "d/.", "d/..", "d/e/..", "a\x00b", "a//", "d/e//", strings.Repeat("n", 255), strings.Repeat("n", 256), tooLong, "/a", "//")
	case 5:
		return pick(d, "f/g/h", "f//g/", "d/e/f/g", "f")
	}
	return base
}

func (d *stepper) flags() int {
	f := pick(d, os.O_RDWR, os.O_RDWR, os.O_WRONLY, os.O_RDONLY)
	for _, o := range []struct{ flag, oneIn int }{
		{os.O_CREATE, 2}, {os.O_EXCL, 5}, {os.O_TRUNC, 5}, {os.O_APPEND, 4}, {os.O_SYNC, 30}, {syscall.O_NOFOLLOW, 12}, {fsfake.O_DIRECTORY, 20},
	} {
		if d.n(o.oneIn) == 0 {
			f |= o.flag
		}
	}
	return f
}

func (d *stepper) perm() fs.FileMode {
	return pick(d, fs.FileMode(0o644), 0o755, 0o600, 0o777, 0o700, 0o777|fs.ModeSticky, 0o755|fs.ModeSetuid, 0o775|fs.ModeSetgid)
}

func (d *stepper) data() string {
	return pick(d, "", "x", "hello", "0123456789", strings.Repeat("z", 511), strings.Repeat("y", 512), strings.Repeat("w", 1500))
}

func (d *stepper) time() time.Time {
	return pick(d, time.Time{}, time.Unix(0, 0), time.Unix(1, 1), time.Unix(1e9, 999_999_999), time.Unix(-5, 500), time.Date(2021, 6, 1, 12, 0, 0, 0, time.FixedZone("", 7200)))
}

// file draws a file, most often one of the last.
func (d *stepper) file() int {
	if d.files == 0 || d.n(30) == 0 {
		return -1
	}
	if d.n(3) == 0 {
		return d.n(d.files)
	}
	return max(0, d.files-1-d.n(3))
}
