package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A File is something in the virtual directory at the start.
type File struct {
	// Name is relative to the directory, or absolute and in [Spec.Outside]. One that ends in a slash is a directory.
	Name string
	// Content of a file; Link, when not empty, is the target of a symbolic link.
	Content, Link string
	// Node is the kind of a FIFO or a socket; KindNone of everything else.
	Node fsfake.Kind
	// Same, when not empty, is the name of an earlier file that is this one too: a hard link.
	Same string
	// Mode is the permission bits, with setuid, setgid and sticky as chmod(2) has them; zero means 0644, for a
	// directory
	// 0755.
	Mode uint32
	// Owner is its user and group as "UID:GID"; empty means those of who runs the commands.
	Owner string
	// Age is how long before the start it was changed last; less than 0 for a time that has not come.
	Age time.Duration
	// Mounted: it is a directory on which something is mounted.
	Mounted bool
	// Image: with [Spec.Left] it was there before the command that was killed, and is as it was: on an overlay, it
	// is of the image.
	Image bool
}

// setup makes the directory and its files, the oldest first and each at its time, and lets every
// process start in the directory. All is the user's who runs the commands: a program asks the
// kernel who that is.
func (s *Spec) setup(m *fsfake.Machine) {
	p := m.Proc(1)
	must(p.MkdirAll(s.Dir, 0o777))
	must(p.Chmod(s.Dir, 0o777))
	must(p.Chown(s.Dir, os.Getuid(), os.Getgid()))
	for _, r := range s.Outside {
		must(p.MkdirAll(path.Dir(r.Path), 0o777))
	}
	files := slices.Clone(s.Files)
	above := func(f File) bool { return s.Left && !f.Image }
	slices.SortStableFunc(files, func(a, b File) int {
		switch {
		case above(a) == above(b):
			return cmp.Compare(b.Age, a.Age)
		case above(b):
			return -1
		}
		return 1
	})
	age := s.oldest()
	for _, f := range files {
		if above(f) {
			m.SealImage() // what a run has left was made in the container
		}
		m.Advance(max(age-max(f.Age, 0), 0))
		age = min(age, max(f.Age, 0))
		must(f.make(p, s.at))
	}
	m.Advance(age)
	for _, f := range files { // later files have changed the times of directories
		if f.Age < 0 || f.Age > 0 && (strings.HasSuffix(f.Name, "/") || above(f) && f.Link == "") {
			at := m.Now().Add(-f.Age)
			must(p.Chtimes(s.at(f.Name), at, at))
		}
	}
	// The directory itself was changed just now. The clock stands still, so its times do not show
	// what the commands do in it: most interpreters ask for them on their way to a script, and to
	// each that would be another run of the program.
	must(p.Chtimes(s.Dir, m.Now(), m.Now()))
	m.SetBorder(s.Dir, s.Outside...)
	if s.Inside != "" {
		m.SetSign(s.at(s.Inside))
	}
	for i := range s.Commands {
		m.KillProc(scenarios.Pid(i))
		m.AddProc(s.procSpec(i))
	}
	for _, pid := range s.Living {
		m.AddProc(fsfake.ProcSpec{
			Pid: pid, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Start: 900, Cwd: "/"})
	}
}

// procSpec is the process of a command, which is the user's who runs the commands.
func (s *Spec) procSpec(process int) fsfake.ProcSpec {
	id := scenarios.ProcID(process)
	spec := fsfake.ProcSpec{Pid: id.Pid, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
		Start: id.Start, Cwd: s.Dir}
	if process < len(s.Skew) {
		spec.Skew = s.Skew[process]
	}
	return spec
}

// begin is the time of day when the commands start.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// oldest is the age of the oldest file. The commands start so long after the machine.
func (s *Spec) oldest() (age time.Duration) {
	for _, f := range s.Files {
		age = max(age, f.Age)
	}
	return age
}

// nodeTypes are the types of [File.Node] as mknod(2) takes them.
var nodeTypes = map[fsfake.Kind]int{fsfake.KindFIFO: fsfake.S_IFIFO, fsfake.KindSocket: fsfake.S_IFSOCK}

// mode is the file's permission bits.
func (f *File) mode() uint32 {
	switch {
	case f.Mode != 0:
		return f.Mode
	case strings.HasSuffix(f.Name, "/"):
		return 0o755
	}
	return 0o644
}

func (f *File) make(p *fsfake.Proc, at func(name string) string) error {
	name := at(f.Name)
	if err := p.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	var err error
	switch {
	case f.Same != "":
		return p.Link(at(f.Same), name)
	case f.Link != "":
		return p.Symlink(f.Link, name)
	case strings.HasSuffix(f.Name, "/"):
		err = p.MkdirAll(name, 0o777)
	case f.Node != fsfake.KindNone:
		err = do(p, fsfake.Op{Call: fsfake.CallMknod, Path: name, Flags: nodeTypes[f.Node]})
	default:
		err = p.WriteFile(name, []byte(f.Content), 0o666)
	}
	uid, gid := f.owner() // first, for who gives a program away takes its privileges off
	return errors.Join(err, p.Chown(name, uid, gid),
		do(p, fsfake.Op{Call: fsfake.CallChmod, Path: name, Mode: f.mode()}))
}

// assumedOutside is what every verdict assumes of the files that are not the machine's.
func (s *Spec) assumedOutside() scenarios.Premise {
	if s.RealOutside {
		return scenarios.Premise{Code: "outside-real", Text: "what the commands do outside " + s.Dir +
			" is real, and is the same in every execution"}
	}
	names := map[string]bool{}
	for _, r := range s.Outside {
		names[r.Path] = true
		if r.Hidden { // what is there is not shown
			delete(names, r.Path)
			names[r.Path+" (a private one)"] = true
		}
	}
	text := "files outside " + s.Dir + " stay as they are"
	if len(names) > 0 {
		text += ", but for what the commands share: " + listed(names)
	}
	return scenarios.Premise{Code: "outside-unchanged", Text: text}
}

func do(p *fsfake.Proc, op fsfake.Op) error {
	if r := p.Do(op); r.Errno != 0 {
		return fmt.Errorf("command: %s: %w", op, r.Errno)
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
