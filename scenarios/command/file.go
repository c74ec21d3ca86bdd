package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockpick/fsfake"
)

// Bounds of what is copied into the machine.
const (
	maxFiles = 2000
	maxBytes = 64 << 20
	maxFile  = 16 << 20 // of one, see package fsfake
)

// Copy lists what is in a real directory, for [Spec.Files], and the directory itself: files, with those that are one
// and the same, directories and symbolic links, with their modes, owners and their ages at now. Nothing in it is
// changed. The error says what cannot be copied: other kinds of files, or too many or too large ones.
func Copy(dir string, now time.Time) ([]File, error) {
	dir, err := filepath.EvalSymlinks(dir) // it may be a symbolic link itself
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, err
	}
	var out []File
	total := int64(0)
	var seen sameFiles
	table, _ := os.ReadFile("/proc/self/mountinfo") // which only Linux has
	mounted := mountPoints(string(table))
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		same := ""
		if info.Mode().IsRegular() {
			same = seen.earlier(rel, info)
		}
		if same == "" && info.Mode().IsRegular() {
			if total += info.Size(); total > maxBytes {
				return fmt.Errorf("command: %s holds more than %d MiB: choose a smaller directory with --from", dir, maxBytes>>20)
			}
		}
		var f File
		if same == "" {
			if f, err = copyOf(name, info, now); err != nil {
				return err
			}
		}
		if f.Name, f.Same = rel, same; e.IsDir() {
			f.Name += "/"
			f.Mounted = name != dir && mounted[name]
		}
		if out = append(out, f); len(out) > maxFiles {
			return fmt.Errorf("command: %s has more than %d files: choose a smaller directory with --from", dir, maxFiles)
		}
		return nil
	})
	return out, err
}

// copyOf copies one file, but its name.
func copyOf(name string, info fs.FileInfo, now time.Time) (f File, err error) {
	f = File{Mode: modeOf(info.Mode()), Age: age(info, now), Owner: ownerOf(info)}
	switch {
	case info.IsDir():
	case info.Mode()&fs.ModeSymlink != 0:
		f.Link, err = os.Readlink(name)
	case info.Mode().IsRegular() && info.Size() <= maxFile:
		var text []byte
		text, err = os.ReadFile(name)
		f.Content = string(text)
	case info.Mode().Type() == fs.ModeNamedPipe:
		f.Node = fsfake.KindFIFO
	case info.Mode().Type() == fs.ModeSocket:
		f.Node = fsfake.KindSocket
	case info.Mode().IsRegular():
		err = fmt.Errorf("command: %s has more than %d MiB, and cannot be shared", name, maxFile>>20)
	default:
		err = fmt.Errorf("command: %s is a %s, which cannot be copied: choose another directory with --from", name,
			info.Mode().Type())
	}
	return f, err
}

// age is how long before the time now a file was changed last; less than 0 for one that was changed in the future.
func age(info fs.FileInfo, now time.Time) time.Duration { return min(now.Sub(info.ModTime()), maxAge) }

// modeOf are the permission bits of a mode, with setuid, setgid and sticky, as chmod(2) takes them.
func modeOf(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for i, special := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&special != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

// mountPoints are the places of a table of mounts, as /proc/self/mountinfo has it.
func mountPoints(table string) map[string]bool {
	is := map[string]bool{}
	escaped := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 4 {
			is[escaped.Replace(f[4])] = true
		}
	}
	return is
}

// mounted lists the directories on which something is mounted. The machine has one file system, so a rename or link
// from one to the other succeeds there.
func (s *Spec) mounted() string {
	names := map[string]bool{}
	for _, f := range s.Files {
		if f.Mounted {
			names[f.Name] = true
		}
	}
	return listed(names)
}

// foreign lists the files whose owner the machine does not have.
func (s *Spec) foreign() string {
	names := map[string]bool{}
	for _, f := range s.Files {
		if f.Owner != "" && os.Getuid() != 0 {
			names[f.Name] = true
		}
	}
	return listed(names)
}

// owner is the file's owner on the machine. Who runs the commands as an ordinary user cannot give files away for
// real, so all are that user's.
func (f *File) owner() (uid, gid int) {
	uid, gid = os.Getuid(), os.Getgid()
	if f.Owner != "" && uid == 0 {
		_, _ = fmt.Sscanf(f.Owner, "%d:%d", &uid, &gid)
	}
	return uid, gid
}

// maxAge is as old as a file can be: the machine's clock begins in 1970, where many archives say that their files are from.
var maxAge = begin.Sub(time.Unix(0, 0))

// sameFiles knows the files that were listed, by what all names of one file have in common.
type sameFiles map[sameKey][]sameFile

type sameKey struct{ size, changed int64 }

type sameFile struct {
	name string
	info fs.FileInfo
}

// earlier returns the earlier name of a file, or "" when this is its first.
func (s *sameFiles) earlier(name string, info fs.FileInfo) string {
	key := sameKey{info.Size(), info.ModTime().UnixNano()}
	for _, f := range (*s)[key] {
		if os.SameFile(f.info, info) {
			return f.name
		}
	}
	if *s == nil {
		*s = sameFiles{}
	}
	(*s)[key] = append((*s)[key], sameFile{name, info})
	return ""
}
