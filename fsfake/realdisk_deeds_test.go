package fsfake_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"pgregory.net/rapid"
)

// A deed is one way to change files, as text: calls with their operands, separated by "; ". A file that is opened is
// called by its name until it is closed; c*n is n times the letter c.
type deed string

// usualDeeds are ways in which programs change files. Before, f has two blocks of "o", F four of "O", s is small, and D
// is a directory.
var usualDeeds = []deed{
	"open t creat,excl; write t N*9000; close t; rename t f; fsync .",
	"open t creat,excl; write t N*9000; close t; rename t f",
	"open t creat,excl; write t n*13; close t; rename t s; fsync .",
	"open f append; write f 1*700; write f 2*5000; close f",
	"open F; pwrite F N*12288 0; close F",
	"open f append; ftruncate f 5; write f 1*50; close f",
	"open t creat,excl; write t N*9000; close t; unlink f",
	"open t creat,excl; write t N*9000; fsync t; close t; rename t f",
	"open t creat,excl; write t N*9000; fsync t; close t; rename t f; fsync .",
	"open t creat,excl; write t N*9000; fdatasync t; close t; rename t f",
	"open f trunc; write f N*9000; close f",
	"open f trunc; write f N*9000; fsync f; close f",
	"open f trunc; write f 1*4096; write f 2*4096; close f",
	"open s append; write s 1*7; fdatasync s; write s 2*7; close s",
	"open F; pwrite F 1*4096 8192; pwrite F 2*4096 0; close F",
	"open f; ftruncate f 12288; pwrite f 1*100 12000; close f",
	"open f; fallocate f 12288; pwrite f 1*100 100; close f",
	"rename f g",
	"link f g; unlink f",
	"open t creat,excl; write t N*9000; fsync t; close t; unlink f",
	"mkdir d; open d/x creat,excl; write d/x N*13; close d/x; rename d e",
	"rename f D/f",
	"rename f D/f; fsync D",
	"rename f D/f; fsync .",
	"link f D/f; unlink f",
	"open a creat,excl; write a N*13; close a; open b creat,excl; write b N*13; close b",
	"open t creat,excl; write t N*13; fsync t; close t",
	"open t creat,excl; write t N*13; fsync .; close t",
	"open f sync; pwrite f 1*20 0; pwrite f 2*20 5; close f",
	"open f dsync,append; write f 1*700; write f 2*700; close f",
	"open t creat,excl,sync; write t N*13; close t",
	"open s append; write s 1*700; open F; pwrite F 2*4096 4096; close s; close F",
	"open F; pwrite F 2*4096 4096; rename s g; close F",
	"exchange f s",
	"symlink new t; rename t l",
	"open t creat,excl; write t N*13; syncfs .; write t M*5000; close t; rename t s",
}

// beforeDeeds makes what is there before a deed.
const beforeDeeds deed = "mkdir D; open f creat; write f o*6000; close f; open F creat; write F O*16384; close F; " +
	"open s creat; write s g*12; close s; symlink old l"

// steps are the calls of a deed.
func (d deed) steps() []string { return strings.Split(string(d), "; ") }

// A doer makes the steps of deeds below a directory.
type doer struct {
	dir string
	do  func(fsfake.Op) (fsfake.Result, error)
	fds map[string]int // by name
}

func (d *doer) path(name string) string { return strings.TrimSuffix(d.dir+"/"+name, "/.") }

// step makes one, and returns what its calls answer, in few words.
func (d *doer) step(text string) (string, error) {
	word := strings.Fields(text)
	name, operand := d.path(word[min(1, len(word)-1)]), ""
	if len(word) > 2 {
		operand = word[2]
	}
	fd, open := d.fds[name]
	op := fsfake.Op{Path: name, Path2: d.path(operand)}
	onFD := func(call fsfake.Call) { op = fsfake.Op{Call: call, FD: fd} }
	size, _ := strconv.ParseInt(operand, 10, 64)
	switch word[0] {
	case "open":
		op = fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_RDWR | flagsOf(operand), Mode: 0o644}
	case "write", "pwrite":
		onFD(map[bool]fsfake.Call{true: fsfake.CallWrite, false: fsfake.CallPwrite}[word[0] == "write"])
		letter, n, _ := strings.Cut(operand, "*")
		times, _ := strconv.Atoi(n)
		op.Data = strings.Repeat(letter, times)
		if len(word) > 3 {
			op.Off, _ = strconv.ParseInt(word[3], 10, 64)
		}
	case "ftruncate":
		onFD(fsfake.CallFtruncate)
		op.Len = size
	case "fallocate":
		onFD(fsfake.CallFtruncate)
		op.Len, op.Flags = size, fsfake.AtLeast
	case "fsync", "fdatasync", "syncfs":
		if !open {
			return d.opened(word[0], name)
		}
		onFD(fsfake.CallFsync)
		op.Flags = map[string]int{"fdatasync": fsfake.SyncData, "syncfs": fsfake.SyncAll}[word[0]]
	case "close":
		onFD(fsfake.CallClose)
	case "rename":
		op.Call = fsfake.CallRename
	case "exchange":
		op.Call, op.Flags = fsfake.CallRename, fsfake.RENAME_EXCHANGE
	case "link":
		op.Call = fsfake.CallLink
	case "unlink":
		op = fsfake.Op{Call: fsfake.CallUnlink, Path: name}
	case "mkdir":
		op = fsfake.Op{Call: fsfake.CallMkdir, Path: name, Mode: 0o755}
	case "symlink":
		op = fsfake.Op{Call: fsfake.CallSymlink, Path: d.path(operand), Path2: word[1]}
	default:
		return "", fmt.Errorf("deed %q", text)
	}
	r, err := d.do(op)
	if err == nil && r.Unmodelled != "" {
		err = fmt.Errorf("%s: %s", text, r.Unmodelled)
	}
	if r.OK() && word[0] == "open" {
		d.fds[name] = int(r.N)
	} else if word[0] == "close" {
		delete(d.fds, name)
	}
	return r.Errno.Error(), err
}

// opened makes a step with a file that is opened for it.
func (d *doer) opened(what, name string) (string, error) {
	r, err := d.do(fsfake.Op{Call: fsfake.CallOpen, Path: name})
	if err != nil || !r.OK() {
		return r.Errno.Error(), err
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, d.dir), "/")
	if d.fds[name] = int(r.N); rel == "" {
		rel = "."
	}
	said, err := d.step(what + " " + rel)
	if err == nil {
		_, err = d.step("close " + rel)
	}
	return said, err
}

func flagsOf(words string) (flags int) {
	all := map[string]int{"creat": fsfake.O_CREAT, "excl": fsfake.O_EXCL, "trunc": fsfake.O_TRUNC,
		"append": fsfake.O_APPEND, "sync": fsfake.O_SYNC, "dsync": fsfake.O_DSYNC}
	for _, w := range strings.Split(words, ",") {
		flags |= all[w]
	}
	return flags
}

// drawnDeed draws calls on a few names. Files that are written to are open.
func drawnDeed(t *rapid.T) deed {
	names := rapid.SampledFrom([]string{"f", "f", "s", "t", "u", "D/x"})
	open, steps := []string{}, []string{}
	pick := func(label string, of []string) string { return rapid.SampledFrom(of).Draw(t, label) }
	for n := rapid.IntRange(2, 6).Draw(t, "calls"); len(steps) < n; {
		name := names.Draw(t, "name")
		what := pick("what", []string{"open", "open", "write", "write", "write", "ftruncate", "fsync", "fdatasync",
			"rename", "rename", "link", "unlink", "mkdir", "exchange", "fsync dir", "syncfs ."})
		switch what {
		case "write", "ftruncate", "fsync", "fdatasync":
			if len(open) == 0 {
				what = "open"
			} else {
				name = pick("open", open)
			}
		}
		switch what {
		case "open":
			if slices.Contains(open, name) {
				continue
			}
			open = append(open, name)
			what += " " + name + " creat," + pick("flags", []string{"", "", "append", "trunc", "dsync", "sync"})
		case "write":
			size := pick("size", []string{"5", "700", "4096", "5000"})
			what += " " + name + " " + pick("letter", []string{"1", "2", "N"}) + "*" + size
			if rapid.Bool().Draw(t, "at") {
				what = "p" + what + " " + pick("offset", []string{"0", "3", "4096"})
			}
		case "ftruncate":
			if rapid.IntRange(0, 3).Draw(t, "at least") == 0 {
				what = "fallocate"
			}
			what += " " + name + " " + pick("size", []string{"0", "5", "4096", "7000"})
		case "fsync", "fdatasync", "unlink":
			what += " " + name
		case "rename", "link", "exchange":
			what += " " + name + " " + names.Draw(t, "to")
		case "mkdir":
			what += " " + pick("new", []string{"d", "D/d"})
		case "fsync dir":
			what = "fsync " + pick("dir", []string{".", "D"})
		}
		steps = append(steps, what)
	}
	for _, name := range open {
		steps = append(steps, "close "+name)
	}
	return deed(strings.Join(steps, "; "))
}
