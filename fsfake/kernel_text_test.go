//go:build linux

package fsfake_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"lockpick/fsfake"
)

// A sequence is what one comparison with the kernel does: calls by several processes, one
// a line, as in
//
//	users 0 1000
//	A open /a rw|creat 0644
//	B fcntl-setlk 3 wrlck 0 10 wait
//	kill A
//	interrupt B
//	look
//
// The processes A, B, … (pids 101, 102, …) belong to the users given; a forked one has the
// next letter. A line that makes no sense when it is reached, because its process is dead
// or blocked, is passed over: so any part of a sequence is a sequence too.
type sequence struct {
	users []uint32
	lines []line
}

// A line is one step of a sequence.
type line struct {
	what lineKind
	pid  int
	op   fsfake.Op
}

type lineKind uint8

const (
	lineCall      lineKind = iota
	lineKill               // SIGKILL
	lineInterrupt          // a caught signal, when the process is blocked
	lineLook               // compare everything that can be seen
)

const firstPid = 101

func procName(pid int) string { return string(rune('A' + pid - firstPid)) }

func (s sequence) String() string {
	var b strings.Builder
	b.WriteString("users")
	for _, u := range s.users {
		fmt.Fprintf(&b, " %d", u)
	}
	b.WriteByte('\n')
	for _, l := range s.lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (l line) String() string {
	switch l.what {
	case lineKill:
		return "kill " + procName(l.pid)
	case lineInterrupt:
		return "interrupt " + procName(l.pid)
	case lineLook:
		return "look"
	}
	return procName(l.pid) + " " + opText(l.op)
}

// grammar is the words of each call after its name, in the order of the manual page.
var grammar = map[fsfake.Call]string{
	fsfake.CallOpen: "path flags mode", fsfake.CallStat: "path", fsfake.CallLstat: "path",
	fsfake.CallUnlink: "path", fsfake.CallRename: "path path2 rename", fsfake.CallLink: "path path2",
	fsfake.CallSymlink: "path2 path", fsfake.CallReadlink: "path", fsfake.CallMkdir: "path mode",
	fsfake.CallRmdir: "path", fsfake.CallTruncate: "path len", fsfake.CallUtimes: "path time time2",
	fsfake.CallChmod: "path mode", fsfake.CallChown: "path off len", fsfake.CallRead: "fd len",
	fsfake.CallPread: "fd len off", fsfake.CallWrite: "fd data", fsfake.CallPwrite: "fd data off",
	fsfake.CallLseek: "fd off whence", fsfake.CallClose: "fd", fsfake.CallDup: "fd",
	fsfake.CallFstat: "fd", fsfake.CallFtruncate: "fd len", fsfake.CallFutimes: "fd time time2",
	fsfake.CallFsync: "fd", fsfake.CallReaddir: "fd", fsfake.CallFlock: "fd flock",
	fsfake.CallSetlk: "fd type off len wait", fsfake.CallGetlk: "fd type off len",
	fsfake.CallOFDSetlk: "fd type off len wait", fsfake.CallOFDGetlk: "fd type off len",
	fsfake.CallLinkFD: "fd path2", fsfake.CallKill: "pid", fsfake.CallExit: "", fsfake.CallFork: "",
	fsfake.CallExec: "",
}

var callsByName = func() map[string]fsfake.Call {
	m := map[string]fsfake.Call{}
	for c := range grammar {
		m[c.String()] = c
	}
	return m
}()

// A bit names a value or a bit of a flag word.
type bit struct {
	name  string
	value int
}

var bits = map[string][]bit{
	"flags": {
		{"tmpfile", fsfake.O_TMPFILE}, {"rw", os.O_RDWR}, {"w", os.O_WRONLY}, {"creat", os.O_CREATE},
		{"excl", os.O_EXCL}, {"trunc", os.O_TRUNC}, {"append", os.O_APPEND}, {"nofollow", fsfake.O_NOFOLLOW},
		{"dir", fsfake.O_DIRECTORY}, {"cloexec", fsfake.O_CLOEXEC}, {"sync", os.O_SYNC}, {"nonblock", syscall.O_NONBLOCK},
	},
	"flock":  {{"nb", fsfake.LOCK_NB}, {"un", fsfake.LOCK_UN}, {"ex", fsfake.LOCK_EX}, {"sh", fsfake.LOCK_SH}},
	"rename": {{"noreplace", fsfake.RENAME_NOREPLACE}, {"exchange", fsfake.RENAME_EXCHANGE}},
}

var values = map[string][]string{"type": {"rdlck", "wrlck", "unlck"}, "whence": {"set", "cur", "end"}}

func bitsText(kind string, v int) string {
	var names []string
	for _, b := range bits[kind] {
		if v&b.value == b.value {
			names = append(names, b.name)
			v &^= b.value
		}
	}
	if v != 0 || len(names) == 0 {
		names = append(names, "0x"+strconv.FormatInt(int64(v), 16))
	}
	return strings.Join(names, "|")
}

func parseBits(kind, text string) (int, error) {
	v := 0
words:
	for _, w := range strings.Split(text, "|") {
		for _, b := range bits[kind] {
			if b.name == w {
				v |= b.value
				continue words
			}
		}
		n, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%s %q", kind, w)
		}
		v |= int(n)
	}
	return v, nil
}

func opText(o fsfake.Op) string {
	words := []string{o.Call.String()}
	num := func(n int64) { words = append(words, strconv.FormatInt(n, 10)) }
	for _, f := range strings.Fields(grammar[o.Call]) {
		switch f {
		case "path":
			words = append(words, quote(o.Path))
		case "path2":
			words = append(words, quote(o.Path2))
		case "data":
			words = append(words, quote(o.Data))
		case "flags", "flock", "rename":
			words = append(words, bitsText(f, o.Flags))
		case "type", "whence":
			if names := values[f]; o.Flags >= 0 && o.Flags < len(names) {
				words = append(words, names[o.Flags])
			} else {
				num(int64(o.Flags))
			}
		case "mode":
			words = append(words, fmt.Sprintf("%#o", o.Mode))
		case "fd":
			num(int64(o.FD))
		case "pid":
			num(int64(o.Pid))
		case "off":
			num(o.Off)
		case "len":
			num(o.Len)
		case "time":
			num(o.Time)
		case "time2":
			num(o.Time2)
		case "wait":
			if o.Wait {
				words = append(words, "wait")
			}
		}
	}
	return strings.Join(words, " ")
}

var repeated = regexp.MustCompile(`\{([^{}*]+)\*(\d+)\}`)

// quote writes a string as a word; what is repeated often is written {x*300}.
func quote(s string) string {
	var b strings.Builder
	for s != "" {
		unit, n := s[:1], 1
		for size := 1; size <= min(6, len(s)) && n < 20; size++ {
			for unit, n = s[:size], 1; strings.HasPrefix(s[n*size:], unit); {
				n++
			}
		}
		if n < 20 {
			b.WriteString(s[:1])
			s = s[1:]
			continue
		}
		fmt.Fprintf(&b, "{%s*%d}", unit, n)
		s = s[n*len(unit):]
	}
	w := b.String()
	if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r == ' ' || r == '"' || !unicode.IsPrint(r) }) {
		return strconv.Quote(w)
	}
	return w
}

func unquote(w string) string {
	return repeated.ReplaceAllStringFunc(w, func(m string) string {
		p := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(p[2])
		return strings.Repeat(p[1], n)
	})
}

// parseSequence reads the text of a sequence. Empty lines and those that begin with # say
// nothing.
func parseSequence(text string) (sequence, error) {
	var s sequence
	for i, t := range strings.Split(text, "\n") {
		w, err := splitWords(t)
		if err == nil && len(w) > 0 && !strings.HasPrefix(w[0], "#") {
			err = s.parseLine(w)
		}
		if err != nil {
			return s, fmt.Errorf("line %d, %q: %w", i+1, t, err)
		}
	}
	if len(s.users) == 0 {
		return s, fmt.Errorf("the line \"users\" is missing")
	}
	return s, nil
}

// splitWords splits at spaces, but keeps quoted strings, unquoted.
func splitWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			u, _ := strconv.Unquote(q)
			words, line = append(words, u), line[len(q):]
			continue
		}
		w, rest, _ := strings.Cut(line, " ")
		words, line = append(words, w), rest
	}
	return words, nil
}

func (s *sequence) parseLine(w []string) error {
	pid := func(name string) (int, error) {
		if len(name) != 1 || name[0] < 'A' || name[0] > 'Z' {
			return 0, fmt.Errorf("process %q", name)
		}
		return firstPid + int(name[0]-'A'), nil
	}
	switch {
	case w[0] == "users":
		for _, u := range w[1:] {
			n, err := strconv.ParseUint(u, 10, 32)
			if err != nil {
				return err
			}
			s.users = append(s.users, uint32(n))
		}
		return nil
	case w[0] == "look":
		s.lines = append(s.lines, line{what: lineLook})
		return nil
	case len(w) < 2:
		return fmt.Errorf("too short")
	case w[0] == "kill" || w[0] == "interrupt":
		p, err := pid(w[1])
		what := lineKill
		if w[0] == "interrupt" {
			what = lineInterrupt
		}
		s.lines = append(s.lines, line{what: what, pid: p})
		return err
	}
	p, err := pid(w[0])
	if err != nil {
		return err
	}
	op, err := parseOp(w[1], w[2:])
	s.lines = append(s.lines, line{pid: p, op: op})
	return err
}

func parseOp(name string, w []string) (op fsfake.Op, err error) {
	c, ok := callsByName[name]
	if !ok {
		return op, fmt.Errorf("call %q", name)
	}
	op.Call = c
	fields := strings.Fields(grammar[c])
	if len(w) > len(fields) {
		return op, fmt.Errorf("%d words too many", len(w)-len(fields))
	}
	for i, f := range fields {
		if i >= len(w) {
			if f == "wait" {
				break
			}
			return op, fmt.Errorf("%s is missing", f)
		}
		if err := setField(&op, f, w[i]); err != nil {
			return op, err
		}
	}
	return op, nil
}

func setField(op *fsfake.Op, f, w string) (err error) {
	var n int64
	switch f {
	case "path":
		op.Path = unquote(w)
		return nil
	case "path2":
		op.Path2 = unquote(w)
		return nil
	case "data":
		op.Data = unquote(w)
		return nil
	case "flags", "flock", "rename":
		op.Flags, err = parseBits(f, w)
		return err
	case "wait":
		op.Wait = w == "wait"
		return nil
	case "type", "whence":
		for i, name := range values[f] {
			if name == w {
				op.Flags = i
				return nil
			}
		}
	}
	if n, err = strconv.ParseInt(w, 0, 64); err != nil {
		return err
	}
	switch f {
	case "type", "whence":
		op.Flags = int(n)
	case "mode":
		op.Mode = uint32(n)
	case "fd":
		op.FD = int(n)
	case "pid":
		op.Pid = int(n)
	case "off":
		op.Off = n
	case "len":
		op.Len = n
	case "time":
		op.Time = n
	case "time2":
		op.Time2 = n
	}
	return nil
}
