package command

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/scenarios"
)

// A Repair is a change to commands that may make them hold, for somebody to decide: commands that race are told to take
// one lock of the kernel each, from their start to their end (C. Černý and others, "From non-preemptive to preemptive
// scheduling using synchronization synthesis", FMSD 2017: what they do one after the other is the specification).
type Repair struct {
	// Name says in a few words what is changed.
	Name string
	// Spec has the commands and files as changed.
	Spec Spec
	// Paste is what to take over: commands, or a unified diff of a script.
	Paste []string
	// Lock is the name of the lock file, which was not there before; empty when a file is locked that was.
	Lock string
}

// Repairs lists changes to try, the least intrusive first. data is the name of a file that a race has spoiled,
// relative to the directory; empty when none is known.
func (s *Spec) Repairs(data string) (out []Repair) {
	lock := s.free(path.Base(cmp.Or(data, "command")))
	if r, ok := s.lockedInside(lock); ok {
		out = append(out, r)
	}
	out = append(out, s.wrapped("flock(1) on a file of its own around each command", lock, lock))
	if slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == data }) {
		out = append(out, s.wrapped("flock(1) on the data file itself", data, ""))
	}
	return out
}

// free is a name for a lock file that nothing has yet.
func (s *Spec) free(base string) string {
	name := base + ".lock"
	for slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == name }) {
		name = "." + name
	}
	return name
}

// changed is the spec with other commands and files, and nothing that was learned of the old ones.
func (s *Spec) changed(commands []Line, files []File) Spec {
	c := *s
	c.ID, c.Commands, c.Files = "", commands, files
	c.record, c.shared, c.again, c.early, c.oneOrder = nil, nil, nil, nil, false
	return c
}

// OneMore is the spec with the first command once more.
func (s *Spec) OneMore() Spec {
	return s.changed(append(slices.Clone(s.Commands), s.Commands[0]), s.Files)
}

// wrapped runs each command under flock(1).
func (s *Spec) wrapped(name, lock, made string) Repair {
	r := Repair{Name: name, Lock: made}
	commands := slices.Clone(s.Commands)
	for i, l := range commands {
		commands[i].Argv, commands[i].Shell = append([]string{"flock", lock}, l.argv()...), ""
		if text := commands[i].String(); !slices.Contains(r.Paste, text) {
			r.Paste = append(r.Paste, text)
		}
	}
	r.Spec = s.changed(commands, s.Files)
	return r
}

// lockers are the lines by which a script locks a file for as long as it lives, by the name of its interpreter.
var lockers = map[string]string{
	"sh":      "exec 9>%s\nflock 9\n",
	"python3": "import fcntl\n_lock = open(%q, 'a')\nfcntl.flock(_lock, fcntl.LOCK_EX)\n",
	"perl":    "use Fcntl ':flock';\nopen(my $lock, '>>', %q) or die $!;\nflock($lock, LOCK_EX) or die $!;\n",
}

// interpreters are other names for those.
var interpreters = map[string]string{"bash": "sh", "dash": "sh", "python": "python3"}

// lockedInside has every script take the lock in its first lines. It is false where a command is no script of the
// directory.
func (s *Spec) lockedInside(lock string) (Repair, bool) {
	r := Repair{Name: "a lock that the script takes in its first lines", Lock: lock}
	files := slices.Clone(s.Files)
	var done []string
	for _, l := range s.Commands {
		words := l.argv()
		if l.Func != nil || len(words) < 2 {
			return r, false
		}
		interpreter := path.Base(words[0])
		lines, known := lockers[cmp.Or(interpreters[interpreter], interpreter)]
		i := slices.IndexFunc(files, func(f File) bool {
			return f.Name == path.Clean(words[1]) && f.Link == "" &&
				f.Same == ""
		})
		if !known || i < 0 {
			return r, false
		}
		if slices.Contains(done, files[i].Name) {
			continue
		}
		done = append(done, files[i].Name)
		text, diff := inserted(files[i], strings.ReplaceAll(fmt.Sprintf(lines, lock), "\"", "'"))
		files[i].Content = text
		r.Paste = append(r.Paste, diff...)
	}
	r.Spec = s.changed(slices.Clone(s.Commands), files)
	return r, true
}

// inserted puts lines into a script, after the comments that it begins with, and shows that as a unified diff.
func inserted(f File, lines string) (text string, diff []string) {
	old := strings.SplitAfter(f.Content, "\n")
	at := 0
	for at < len(old) && (strings.HasPrefix(old[at], "#") || strings.HasPrefix(old[at], "from __future__ ")) {
		at++
	}
	const context = 3
	from, to := max(at-context, 0), min(at+context, len(old))
	if to == len(old) && old[to-1] == "" {
		to--
	}
	added := strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n")
	diff = []string{"--- a/" + f.Name, "+++ b/" + f.Name,
		fmt.Sprintf("@@ -%d,%d +%d,%d @@", from+1, to-from, from+1, to-from+len(added))}
	mark := func(sign string, part []string) {
		for _, l := range part {
			diff = append(diff, sign+strings.TrimSuffix(l, "\n"))
		}
	}
	mark(" ", old[from:at])
	mark("+", added)
	mark(" ", old[at:to])
	return strings.Join(old[:at], "") + lines + strings.Join(old[at:], ""), diff
}

// Trials are the settings in which a repair has to hold: as many processes as before, one more, and one that is killed.
func (r *Repair) Trials() []Trial {
	more := r.Spec.OneMore()
	killed := r.Spec.changed(r.Spec.Commands, r.Spec.Files)
	killed.Crashes = 1
	n := len(r.Spec.Commands)
	trials := []Trial{{fmt.Sprintf("%d processes", n), r.Spec}, {fmt.Sprintf("%d processes", n+1), more}}
	if r.Spec.Crashes == 0 {
		trials = append(trials, Trial{fmt.Sprintf("%d processes and a kill at any call", n), killed})
	}
	return trials
}

// A Trial is one setting of a repair.
type Trial struct {
	Name string
	Spec Spec
}

// KilledAlone are the settings in which each command, as it is, is killed with nobody beside it. What that breaks no
// lock mends.
func (s *Spec) KilledAlone() (out []Trial) {
	for _, l := range s.Commands {
		one := s.changed([]Line{l}, s.Files)
		one.Crashes = 1
		if t := (Trial{l.String(), one}); !slices.ContainsFunc(out, func(u Trial) bool { return u.Name == t.Name }) {
			out = append(out, t)
		}
	}
	return out
}

// SameAlone reports whether each command, alone, still does what it did: it ends as it did, has printed what it
// printed, and leaves what it left, beside the lock file. A repair that does nothing, or refuses always, would hold
// otherwise.
func (s *Spec) SameAlone(r *Repair) (bool, error) {
	ignore := append(slices.Clone(s.Ignore), r.Lock)
	for _, f := range r.Spec.Files { // a script of the directory is what was changed
		if i := slices.IndexFunc(s.Files, func(g File) bool { return g.Name == f.Name }); s.Files[i].Content != f.Content {
			ignore = append(ignore, f.Name)
		}
	}
	before, err := s.firstEnds(ignore)
	if err != nil {
		return false, err
	}
	after, err := r.Spec.firstEnds(ignore)
	return slices.Equal(before, after), err
}

// firstEnds are the outcomes of each command alone, as text.
func (s *Spec) firstEnds(ignore []string) (out []string, err error) {
	for i := range s.Commands {
		one := s.changed([]Line{s.Commands[i]}, s.Files)
		one.Ignore = slices.DeleteFunc(slices.Clone(ignore), func(n string) bool { return n == "" })
		one.Dir, one.Crashes = cmp.Or(one.Dir, defaultDir), 0
		if err := one.validate(); err != nil {
			return nil, err
		}
		sc, err := one.bare()
		if err != nil {
			return nil, err
		}
		ends, err := one.everyWay(&sc, sc.NewMachine(), 0, false)
		if err != nil {
			return nil, err
		}
		for _, e := range ends {
			if e.m != nil {
				out = append(out, one.outcome(scenarios.NewView(e.m)).Key(nil))
			}
		}
	}
	return out, nil
}
