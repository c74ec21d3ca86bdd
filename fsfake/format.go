package fsfake

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String renders the call as a person would write it in a trace: "open .sync.lock
// O_CREAT|O_EXCL", "write fd 3 \"101\\n\"".
func (o Op) String() string {
	text := o.Call.row().text
	if text == nil {
		return o.Call.String()
	}
	return joinWords(o.Call.String(), text(&o))
}

// Describe renders what op answered: "= fd 3", "ENOENT", "waits", "inode 7".
func (r Result) Describe(op Op) string {
	switch {
	case r.Unmodelled != "":
		return "not modelled"
	case r.Blocked:
		return "waits"
	}
	if s, is := r.Interrupts(); is {
		return "not made: " + s.Name() + " comes for " + strconv.Itoa(s.Pid)
	}
	if r.Errno != 0 {
		return ErrnoName(r.Errno)
	}
	if answer := op.Call.row().answer; answer != nil {
		return answer(&op, &r)
	}
	return "ok"
}

// words joins what several functions say of a call.
func words(texts ...func(*Op) string) func(*Op) string {
	return func(o *Op) string {
		all := make([]string, len(texts))
		for i, text := range texts {
			all[i] = text(o)
		}
		return joinWords(all...)
	}
}

// How operands read.

func noText(*Op) string       { return "" }
func pathText(o *Op) string   { return o.Path }
func path2Text(o *Op) string  { return o.Path2 }
func openText(o *Op) string   { return openFlags(o.Flags) }
func renameText(o *Op) string { return renameFlags(o.Flags) }
func nodeText(o *Op) string   { return nodeType(o.Flags) }
func linkText(o *Op) string {
	if o.Flags&AT_SYMLINK_FOLLOW != 0 {
		return "AT_SYMLINK_FOLLOW"
	}
	return ""
}
func fdText(o *Op) string   { return "fd " + strconv.Itoa(o.FD) }
func toFDText(o *Op) string { return "to fd " + strconv.Itoa(o.FD2) }
func modeText(o *Op) string { return fmt.Sprintf("%#o", o.Mode) }

// ownerText is the user and the group that a file gets; -1 stays as it is.
func ownerText(o *Op) string { return fmt.Sprintf("%d:%d", o.Off, o.Len) }

func lenText(o *Op) string { return strconv.FormatInt(o.Len, 10) }
func sharesText(o *Op) string {
	return [...]string{"", "for a shared mapping", "after a shared mapping"}[o.Flags&3%3]
}
func atLeastText(o *Op) string  { return strings.Repeat("at least", o.Flags&AtLeast) }
func offText(o *Op) string      { return strconv.FormatInt(o.Off, 10) }
func atText(o *Op) string       { return "at " + strconv.FormatInt(o.Off, 10) }
func dataText(o *Op) string     { return strconv.Quote(o.Data) }
func flockText(o *Op) string    { return flockFlags(o.Flags) }
func lockTypeText(o *Op) string { return recordType(o.Flags) }
func rangeText(o *Op) string    { return fmt.Sprintf("%d+%d", o.Off, o.Len) }
func syncText(o *Op) string     { return [...]string{"", "data only", "all files"}[o.Flags&3%3] }
func pidText(o *Op) string      { return strconv.Itoa(o.Pid) }
func signalText(o *Op) string   { return signalName(o.Flags) }
func durationText(o *Op) string { return time.Duration(o.Time).String() }
func cellText(o *Op) string     { return o.Cell }
func storedText(o *Op) string   { return "= " + cellValue(o.Value) }
func awaitedText(o *Op) string  { return "≠ " + cellValue(o.Value) }

func swapText(o *Op) string {
	swap, _ := o.Value.(Swap)
	return cellValue(swap.Old) + " → " + cellValue(swap.New)
}

func cloexecText(o *Op) string {
	if o.Flags&O_CLOEXEC != 0 {
		return "O_CLOEXEC"
	}
	return ""
}

// statusAnswer is the answer of F_GETFL.
func statusAnswer(_ *Op, r *Result) string {
	if text := openFlags(int(r.N)); text != "" {
		return "= " + text
	}
	return "= O_RDONLY"
}

func lowestText(o *Op) string {
	if o.FD2 == 0 {
		return ""
	}
	return "from fd " + strconv.Itoa(o.FD2)
}

func whenceText(o *Op) string {
	return [...]string{"SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE", "?"}[min(max(o.Flags, 0), 5)]
}

// How successes read.

func okAnswer(*Op, *Result) string       { return "ok" }
func noAnswer(*Op, *Result) string       { return "" }
func fdAnswer(_ *Op, r *Result) string   { return "= fd " + strconv.FormatInt(r.N, 10) }
func dataAnswer(_ *Op, r *Result) string { return "= " + strconv.Quote(r.Data) }
func killAnswer(o *Op, _ *Result) string {
	if o.Flags != 0 {
		return "sent"
	}
	return "alive"
}

func numberAnswer(_ *Op, r *Result) string {
	return "= " + strconv.FormatInt(r.N, 10)
}

func statAnswer(_ *Op, r *Result) string {
	return fmt.Sprintf("inode %d, %d bytes", r.Stat.Ino, r.Stat.Size)
}

func namesAnswer(_ *Op, r *Result) string {
	return "= " + strings.ReplaceAll(r.Data, "\x00", " ")
}

func timeAnswer(_ *Op, r *Result) string {
	return "= " + time.Unix(0, r.N).UTC().Format("15:04:05.000")
}

func swapAnswer(_ *Op, r *Result) string {
	if r.N == 0 {
		return "not swapped"
	}
	return "swapped"
}

func valueAnswer(_ *Op, r *Result) string { return "= " + cellValue(r.Value) }

func lockAnswer(_ *Op, r *Result) string {
	return fmt.Sprintf("%s %d+%d pid %d", recordType(r.Lock.Type), r.Lock.Start, r.Lock.Len, r.Lock.Pid)
}

func cellValue(v any) string {
	if v == nil {
		return "∅"
	}
	return fmt.Sprintf("%+v", v)
}

func joinWords(words ...string) string {
	kept := words[:0]
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// openFlags leaves out O_RDONLY, which is 0, and O_CLOEXEC, which is always there.
func openFlags(f int) string {
	var names []string
	switch f & (O_WRONLY | O_RDWR) {
	case O_WRONLY:
		names = append(names, "O_WRONLY")
	case O_RDWR:
		names = append(names, "O_RDWR")
	}
	for _, b := range []struct {
		bit  int
		name string
	}{
		{O_CREAT, "O_CREAT"}, {O_EXCL, "O_EXCL"}, {O_TRUNC, "O_TRUNC"}, {O_APPEND, "O_APPEND"},
		{O_NOFOLLOW, "O_NOFOLLOW"}, {O_PATH, "O_PATH"}, {O_NOATIME, "O_NOATIME"}, {O_NONBLOCK, "O_NONBLOCK"},
	} {
		if f&b.bit != 0 {
			names = append(names, b.name)
		}
	}
	switch {
	case f&O_TMPFILE == O_TMPFILE:
		names = append(names, "O_TMPFILE")
	case f&O_DIRECTORY != 0:
		names = append(names, "O_DIRECTORY")
	}
	return strings.Join(names, "|")
}

// descriptorFlags are what F_GETFD and F_SETFD have.
func descriptorFlags(f int) string {
	if f&FD_CLOEXEC != 0 {
		return "FD_CLOEXEC"
	}
	return "0"
}

func flockFlags(f int) string {
	s := map[int]string{LOCK_SH: "LOCK_SH", LOCK_EX: "LOCK_EX", LOCK_UN: "LOCK_UN"}[f&^LOCK_NB]
	if f&LOCK_NB != 0 {
		s += "|LOCK_NB"
	}
	return s
}

func renameFlags(f int) string {
	switch f {
	case 0:
		return ""
	case RENAME_NOREPLACE:
		return "RENAME_NOREPLACE"
	case RENAME_EXCHANGE:
		return "RENAME_EXCHANGE"
	}
	return "flags " + strconv.Itoa(f)
}

// nodeType is the type of what mknod(2) makes.
func nodeType(f int) string {
	switch f {
	case 0, S_IFREG:
		return "S_IFREG"
	case S_IFIFO:
		return "S_IFIFO"
	case S_IFSOCK:
		return "S_IFSOCK"
	}
	return fmt.Sprintf("%#o", f)
}

// recordType is that of a record lock.
func recordType(t int) string {
	switch t {
	case F_RDLCK:
		return "F_RDLCK"
	case F_WRLCK:
		return "F_WRLCK"
	case F_UNLCK:
		return "F_UNLCK"
	}
	return "type " + strconv.Itoa(t)
}
