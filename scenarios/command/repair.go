package command

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Repair is a change to commands that may make them hold, for somebody to decide: commands that race are told to take
// one lock of the kernel each, from their start to their end (C. Černý and others, "From non-preemptive to preemptive
// scheduling using synchronization synthesis", FMSD 2017: what they do one after the other is the specification), or to
// write to a private name.
type Repair struct {
	// Name says in a few words what is changed.
	Name string
	// Spec has the commands and files as changed.
	Spec Spec
	// Paste is what to take over: commands, or a unified diff of a script.
	Paste []string
	// Lock is the name of the lock file, which was not there before; empty when a file is locked that was.
	Lock string
	// OnlyLocks: the commands do what they did, while they have a lock.
	OnlyLocks bool
	// Around: it puts flock(1) around each command, which needs no look at what they are.
	Around bool
	// Instead: it is for where the change before it makes a command do something else alone.
	Instead bool
}

// A candidate is a change to try: how commands are rewritten, and whether it applies to them. data is the name of a
// file that a race has spoiled, empty when none is known, and lock a name that nothing has.
type candidate struct {
	name    string
	rewrite func(s *Spec, data, lock string) (to Spec, applies bool)
	locks   bool // lock is made
	only    bool // and nothing else is changed
}

// withoutF is for BusyBox. With -F flock(1) becomes the command, and a kill ends both. Without it the command goes on
// then, and has the lock.
const withoutF = "flock(1) without -F on a file of its own around each command"

const around = "flock(1) on a file of its own around each command"

// candidates are the changes to try, the least intrusive first.
var candidates = []candidate{
	{"flock(1) that waits so long, without timeout(1), which ends flock and not what it has started; if exit 124 means " +
		"that nothing was done (--refused 124)",
		(*Spec).waitsInFlock, false, false},
	{"fsync before the rename, and of the directory after it", (*Spec).synced, false, false},
	{"write to a private name, then rename", (*Spec).private, false, false},
	{around, flock("-F"), true, true},
	{withoutF, flock(), true, true},
	{"a lock that the script takes in its first lines", (*Spec).lockedInside, true, true},
	{"that lock in the script, and a private name, then rename", both((*Spec).lockedInside), true, false},
	{"that flock(1), and a private name, then rename", both(flock("-F")), true, false},
	{"flock(1) -n, which gives up with exit status 75 where another one is at work", giveUp, true, true},
	{"flock(1) on the data file itself", func(s *Spec, data, _ string) (Spec, bool) {
		if !s.has(data) || strings.HasSuffix(data, "/") {
			return *s, false
		}
		return flock("-F")(s, data, data)
	}, false, true},
}

// Repairs lists changes to try, the least intrusive first. data is the name of a file that a race has spoiled,
// relative to the directory; when none is known, it is one that a command or script is seen to write over, if any.
// uses are names that the commands have used: git config -f c makes c.lock, so a lock file has another name.
func (s *Spec) Repairs(data string, uses []string) (out []Repair) {
	if data == "" { // what was printed is wrong, say: a file that is written over was read
		for _, f := range s.Files {
			if _, applies := s.private(f.Name, ""); applies {
				data = f.Name
				break
			}
		}
	}
	name := s.free(path.Base(cmp.Or(strings.TrimSuffix(data, "/"), "command")), uses)
	lock := name
	if path.IsAbs(data) || s.mentions(s.Dir) {
		lock = path.Join(s.Dir, name) // the commands may be started elsewhere
	}
	for _, c := range candidates {
		to, applies := c.rewrite(s, data, lock)
		if !applies {
			continue
		}
		r := Repair{Name: c.name, Spec: to, Paste: s.paste(&to), OnlyLocks: c.only, Around: c.name == around,
			Instead: c.name == withoutF}
		if c.locks {
			r.Lock = name
		}
		out = append(out, r)
	}
	return out
}

func (s *Spec) has(name string) bool {
	return slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == name })
}

// mentions reports whether a command, or a script among the files that one runs, has a text.
func (s *Spec) mentions(text string) bool {
	return text != "" && slices.ContainsFunc(s.Commands, func(l Line) bool {
		i, _ := s.script(l)
		return strings.Contains(l.String(), text) || i >= 0 && strings.Contains(s.Files[i].Content, text)
	})
}

// free is a name for a lock file that nothing has yet, and that the commands do not use.
func (s *Spec) free(base string, uses []string) string {
	name := base + ".lock"
	used := func(of string) bool { return path.Base(of) == name }
	for s.has(name) || slices.ContainsFunc(uses, used) {
		name = "." + name
	}
	return name
}

// changed is the spec with other commands and files, and nothing that was learned of the old ones.
func (s *Spec) changed(commands []Line, files []File) Spec {
	c := *s
	c.ID, c.Commands, c.Files = "", commands, files
	c.record, c.shared, c.again, c.early, c.throughout, c.ownOrders = nil, nil, nil, nil, nil, 0
	return c
}

// OneMore is the spec with the first command once more.
func (s *Spec) OneMore() Spec {
	more := s.changed(append(slices.Clone(s.Commands), s.Commands[0]), s.Files)
	more.shared = s.shared
	return more
}

// flock runs each command under flock(1).
func flock(options ...string) func(s *Spec, data, lock string) (Spec, bool) {
	return func(s *Spec, _, lock string) (Spec, bool) {
		commands := slices.Clone(s.Commands)
		for i, l := range commands {
			if l.Func != nil {
				return *s, false
			}
			commands[i].Argv, commands[i].Shell = slices.Concat([]string{"flock"}, options, []string{lock}, l.argv()), ""
		}
		return s.changed(commands, s.Files), len(commands) > 1
	}
}

// timeouts are commands in which timeout(1) runs flock(1), with whole seconds.
var timeouts = regexp.MustCompile(`^timeout (\d+)s? flock `)

// waitsInFlock has flock(1) give up where timeout(1) would end it, with the same exit status.
func (s *Spec) waitsInFlock(_, _ string) (to Spec, applies bool) {
	commands := slices.Clone(s.Commands)
	for i, l := range commands {
		if text := timeouts.ReplaceAllString(l.String(), "flock -w $1 -E 124 "); l.Func == nil && text != l.String() {
			commands[i].Argv, commands[i].Shell, applies = nil, text, true
		}
	}
	to = s.changed(commands, s.Files)
	to.Refused.Declared, to.Refused.Statuses = true, append(slices.Clone(s.Refused.Statuses), 124)
	return to, applies
}

// syncs are what to write around a line that renames a file, by the language of a script.
var syncs = map[string]struct{ line, now string }{
	"python3": {`(?m)^([ \t]*)(os\.(?:rename|replace)\(([^,\n]+), ?([^,\n]+)\))$`,
		"${1}os.fsync(os.open(${3}, os.O_RDONLY))\n${1}${2}\n" +
			"${1}os.fsync(os.open(os.path.dirname(${4}) or '.', os.O_RDONLY))"},
	"node": {`(?m)^([ \t]*)(fs\.renameSync\(([^,\n]+), ?([^,\n]+)\);?)$`,
		"${1}fs.fsyncSync(fs.openSync(${3}, 'r+'));\n${1}${2}\n" +
			"${1}fs.fsyncSync(fs.openSync(require('path').dirname(${4}), 'r'));"},
}

// synced has scripts write what they rename to the disk, and the directory afterwards, where the power may be lost.
func (s *Spec) synced(_, _ string) (to Spec, applies bool) {
	files := slices.Clone(s.Files)
	for _, l := range s.Commands {
		i, interpreter := s.script(l)
		if in, known := syncs[interpreter]; i >= 0 && known && s.PowerLosses > 0 {
			was := files[i].Content
			files[i].Content = regexp.MustCompile(in.line).ReplaceAllString(s.Files[i].Content, in.now)
			applies = applies || files[i].Content != was
		}
	}
	return s.changed(slices.Clone(s.Commands), files), applies
}

// giveUp is for commands of which it was said that they may refuse.
func giveUp(s *Spec, data, lock string) (Spec, bool) {
	to, applies := flock("-F", "-n", "-E", "75")(s, data, lock)
	r := &to.Refused
	r.Statuses = append(slices.Clone(r.Statuses), 75)
	return to, applies && r.Declared && (len(r.Statuses) > 1 || r.Skips)
}

// both puts a lock around commands that write to private names.
func both(locked func(s *Spec, data, lock string) (Spec, bool)) func(s *Spec, data, lock string) (Spec, bool) {
	return func(s *Spec, data, lock string) (Spec, bool) {
		to, applies := s.private(data, lock)
		if !applies {
			return *s, false
		}
		return locked(&to, data, lock)
	}
}

// lockers are the lines by which a script locks a file for as long as it lives, by the name of its interpreter. FD is a
// descriptor that the script does not redirect.
var lockers = map[string]string{
	"sh":      "exec FD>%s\nflock FD\n",
	"python3": "import fcntl\n_lock = open('%s', 'a')\nfcntl.flock(_lock, fcntl.LOCK_EX)\n",
	"perl":    "use Fcntl ':flock';\nopen(my $lock, '>>', '%s') or die $!;\nflock($lock, LOCK_EX) or die $!;\n",
}

// descriptors are those for FD, the first that is free.
var descriptors = []string{"9", "8", "7", "6"}

// interpreters are other names for those.
var interpreters = map[string]string{"bash": "sh", "dash": "sh", "python": "python3"}

// script is the file of the directory that a command runs as a script, -1 for none, and the name of its interpreter.
func (s *Spec) script(l Line) (file int, interpreter string) {
	words := l.argv()
	if l.Func != nil {
		return -1, ""
	}
	find := func(name string) int {
		return slices.IndexFunc(s.Files, func(f File) bool {
			return f.Name == strings.TrimPrefix(path.Clean(name), s.Dir+"/") && f.Link == "" && f.Same == ""
		})
	}
	interpreter = path.Base(words[0])
	if file = find(words[0]); file >= 0 && strings.Contains(words[0], "/") {
		first, _, _ := strings.Cut(s.Files[file].Content, "\n")
		if f := strings.Fields(strings.TrimPrefix(first, "#!")); strings.HasPrefix(first, "#!") && len(f) > 0 {
			interpreter = path.Base(f[len(f)-1])
		}
	} else if file = -1; len(words) > 1 {
		file = find(words[1])
	}
	interpreter = cmp.Or(interpreters[interpreter], interpreter)
	if lockers[interpreter] == "" && syncs[interpreter].line == "" {
		return -1, ""
	}
	return file, interpreter
}

// needsNoQuotes are names that no language has to quote.
var needsNoQuotes = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// lockedInside has every script take the lock in its first lines, after the comments that it begins with. It is false
// where a command is no script of the directory.
func (s *Spec) lockedInside(_, lock string) (to Spec, applies bool) {
	files := slices.Clone(s.Files)
	var done []int
	for _, l := range s.Commands {
		i, interpreter := s.script(l)
		if i < 0 || lockers[interpreter] == "" || !needsNoQuotes.MatchString(lock) {
			return *s, false
		}
		if slices.Contains(done, i) {
			continue
		}
		done = append(done, i)
		old := strings.SplitAfter(files[i].Content, "\n")
		at := 0
		for at < len(old) && (strings.HasPrefix(old[at], "#") || strings.HasPrefix(old[at], "from __future__ ")) {
			at++
		}
		fd := slices.IndexFunc(descriptors, func(fd string) bool {
			return !strings.Contains(files[i].Content, fd+"<") && !strings.Contains(files[i].Content, fd+">")
		})
		added := strings.ReplaceAll(fmt.Sprintf(lockers[interpreter], lock), "FD", descriptors[max(fd, 0)])
		files[i].Content = strings.Join(old[:at], "") + added + strings.Join(old[at:], "")
	}
	return s.changed(slices.Clone(s.Commands), files), len(s.Commands) > 1
}

// private has shell commands and scripts write the data file under a private name and rename that over it. Where the
// power may be lost, the file is synced before, and its directory afterwards.
func (s *Spec) private(data, _ string) (to Spec, applies bool) {
	if !s.has(data) || !needsNoQuotes.MatchString(data) {
		return *s, false
	}
	commands, files := slices.Clone(s.Commands), slices.Clone(s.Files)
	for i, l := range s.Commands {
		if l.Func != nil {
			continue
		}
		if text, changed := s.privately(l.String(), data); changed {
			commands[i].Argv, commands[i].Shell, applies = nil, text, true
		}
		if f, interpreter := s.script(l); f >= 0 && interpreter == "sh" {
			text, changed := s.privately(s.Files[f].Content, data)
			files[f].Content, applies = text, applies || changed
		}
	}
	return s.changed(commands, files), applies
}

// privately rewrites the lines of a shell script that end in > NAME, are one command with -o NAME, or rename by mv.
func (s *Spec) privately(script, data string) (text string, changed bool) {
	name := regexp.QuoteMeta(data)
	redirects := regexp.MustCompile(`^([^#>|&]*[^#>|&0-9])> ?` + name + `( *;.*| *)$`)
	option := regexp.MustCompile(`^([^#;&|<>]* -o ?)` + name + `( [^#;&|<>]*|)$`)
	renames := regexp.MustCompile(`^( *|[^#|]*(?:;|&&) *)mv ([^- ;&|]+) ` + name + `( *;.*| *)$`)
	private := data + ".$$"
	move, after := "mv "+private+" "+data, ""
	if s.PowerLosses > 0 {
		move, after = "sync "+private+" && "+move, " && sync "+path.Dir(data)
	}
	literally := func(text string) string { return strings.ReplaceAll(text, "$", "$$") }
	lines := strings.Split(script, "\n")
	for i, l := range lines {
		switch {
		case redirects.MatchString(l):
			l = redirects.ReplaceAllString(l, "${1}> "+literally(private+" && "+move+after)+"${2}")
		case option.MatchString(l):
			l = option.ReplaceAllString(l, "${1}"+literally(private)+"${2}"+literally(" && "+move+after))
		case s.PowerLosses > 0 && renames.MatchString(l):
			l = renames.ReplaceAllString(l, "${1}sync ${2} && mv ${2} "+data+after+"${3}")
		}
		changed = changed || l != lines[i]
		lines[i] = l
	}
	return strings.Join(lines, "\n"), changed
}

// paste lists what differs in a changed spec: each command once, and each file as a unified diff.
func (s *Spec) paste(to *Spec) (out []string) {
	for i, l := range to.Commands {
		if text := l.String(); text != s.Commands[i].String() && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for i, f := range to.Files {
		if old := s.Files[i].Content; old != f.Content {
			out = append(append(out, "--- a/"+f.Name, "+++ b/"+f.Name), hunk(lines(old), lines(f.Content))...)
		}
	}
	return out
}

// lines splits a text; a last line without an end is marked as a unified diff does.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	if last := len(all) - 1; all[last] == "" {
		return all[:last]
	}
	return append(all[:len(all)-1], all[len(all)-1]+"\n\\ No newline at end of file")
}

// hunk is the part of a unified diff from the first line that differs to the last one.
func hunk(old, now []string) (out []string) {
	from, end := 0, 0
	for from < min(len(old), len(now)) && old[from] == now[from] {
		from++
	}
	for end < min(len(old), len(now))-from && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	const context = 3
	before, after := max(from-context, 0), max(end-context, 0)
	mark := func(sign string, part []string) {
		for _, l := range part {
			out = append(out, strings.Split(sign+l, "\n")...)
		}
	}
	out = []string{fmt.Sprintf("@@ -%d,%d +%d,%d @@", min(before+1, len(old)), len(old)-after-before, before+1,
		len(now)-after-before)}
	mark(" ", old[before:from])
	mark("-", old[from:len(old)-end])
	mark("+", now[from:len(now)-end])
	mark(" ", old[len(old)-end:len(old)-after])
	return out
}
