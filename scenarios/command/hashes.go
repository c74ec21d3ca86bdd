package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lockpick/fsfake"
)

// Names that are made of the time, as git's are: a commit has the time in it, and is called by its hash. Of one command
// alone nobody else uses such names. So where only they differ when time has passed, and each stands where another one
// stood, the command does the same as before. It is said with the verdict. So are names of temporary files, as patch
// has them, which it makes with O_EXCL: who finds that one is there takes another.

// minHash is how many hexadecimal digits such a name has at least, over all directories that it is split into.
const minHash = 32

// digits matches a part of such a name, as git splits it into directories; hashed matches a whole one within a text.
var digits, hashed = regexp.MustCompile(`^[0-9a-f]+$`), regexp.MustCompile(`\b[0-9a-f]{32,}\b`)

// drawn matches the end of the name of a temporary file, counted one that may be a date or a time.
var drawn, counted = regexp.MustCompile(`[0-9A-Za-z]{6}$`), regexp.MustCompile(`[0-9]{6}$`)

// A madeOfTime knows which names now stand for which ones of an earlier execution.
type madeOfTime struct {
	exists func(path string) bool // at the start
	alone  bool                   // no other command may make such names of a hash
	// pairs are names now and then, contents what was written.
	pairs, contents [][2]string
	used            bool
}

// asBefore is a call with the names that it had, as far as they are made of the time; was is the call then.
func (m *madeOfTime) asBefore(op, was fsfake.Op) fsfake.Op {
	m.temporary(op, was)
	op.Path, op.Path2 = m.path(op.Path, was.Path), m.path(op.Path2, was.Path2)
	if op.Data == was.Data || !m.alone {
		return op
	}
	if !utf8.ValidString(op.Data) && !utf8.ValidString(was.Data) { // compressed, say
		m.contents = append(m.contents, [2]string{op.Data, was.Data})
		op.Data, m.used = was.Data, true
		return op
	}
	old := hashed.FindAllString(was.Data, -1)
	if now := hashed.FindAllString(op.Data, -1); len(now) == len(old) {
		op.Data = hashed.ReplaceAllStringFunc(op.Data, func(is string) string {
			then := old[0]
			if old = old[1:]; m.same(is, then) {
				return then
			}
			return is
		})
	}
	return op
}

// temporary notes names that stand for each other if a call makes a temporary file, now and then.
func (m *madeOfTime) temporary(op, was fsfake.Op) {
	const makes = fsfake.O_CREAT | fsfake.O_EXCL
	is, then := op.Path, was.Path
	if op.Call == fsfake.CallOpen && op.Flags&was.Flags&makes == makes && is != then &&
		path.Dir(is) == path.Dir(then) &&
		drawn.MatchString(is) && !counted.MatchString(is) &&
		drawn.ReplaceAllString(is, "") == drawn.ReplaceAllString(then, "") &&
		!m.exists(is) && !m.exists(then) {
		m.same(path.Base(is), path.Base(then))
	}
}

// path is asBefore of one name.
func (m *madeOfTime) path(is, was string) string {
	now, then := strings.Split(is, "/"), strings.Split(was, "/")
	if is == was || len(now) != len(then) {
		return is
	}
	var a, b string
	known := true
	for i := range now {
		if now[i] == then[i] {
			continue
		}
		if slices.Contains(m.pairs, [2]string{now[i], then[i]}) {
			continue
		}
		if len(now[i]) != len(then[i]) || !digits.MatchString(now[i]) || !digits.MatchString(then[i]) ||
			m.exists(strings.Join(now[:i+1], "/")) != m.exists(strings.Join(then[:i+1], "/")) {
			return is
		}
		a, b, known = a+now[i], b+then[i], known && slices.Contains(m.pairs, [2]string{now[i], then[i]})
	}
	if !known && (!m.alone || len(a) < minHash || m.exists(is) || m.exists(was) || !m.same(a, b)) {
		return is
	}
	for i := range now {
		if now[i] != then[i] {
			m.pairs = append(m.pairs, [2]string{now[i], then[i]})
		}
	}
	return was
}

// same reports whether a name stands for another one, and for nothing else.
func (m *madeOfTime) same(is, was string) bool {
	for _, p := range m.pairs {
		if (p[0] == is) != (p[1] == was) && len(p[0]) == len(is) {
			return false
		}
	}
	m.used, m.pairs = m.used || is != was, append(m.pairs, [2]string{is, was})
	return len(is) == len(was)
}

// now is an answer as it is where such names and contents are there.
func (m *madeOfTime) now(r fsfake.Result) fsfake.Result {
	for _, p := range m.contents {
		if r.Data == p[1] {
			r.Data, r.N = p[0], int64(len(p[0]))
		}
		if r.Stat.Size == int64(len(p[1])) {
			r.Stat.Size = int64(len(p[0]))
		}
	}
	r.Data = hashed.ReplaceAllStringFunc(r.Data, func(then string) string {
		for _, p := range m.pairs {
			if p[1] == then {
				return p[0]
			}
		}
		return then
	})
	return r
}

// isThere reports whether a path leads to a file or a directory at the start.
func (s *Spec) isThere(path string) bool {
	rel := strings.TrimPrefix(path, s.Dir+"/")
	return slices.ContainsFunc(s.Files, func(f File) bool {
		name := strings.TrimSuffix(f.Name, "/")
		return name == rel || strings.HasPrefix(name, rel+"/")
	})
}

// stays reports whether a path leads to the directory, or to what is in it from the start and bears a name that no
// command takes away, as far as was learned.
func (s *Spec) stays(path string) bool {
	if path == s.Dir {
		return true
	}
	names := strings.Split(strings.TrimPrefix(path, s.Dir+"/"), "/")
	taken := func(of string) bool { return of != "" && slices.Contains(names, of[strings.LastIndex(of, "/")+1:]) }
	for i := range s.Commands {
		for _, end := range s.record.lateness(s.start(i)).ends {
			for p := end; p != nil; p = p.before {
				takes := p.op.Call.Is(fsfake.Removes) || p.op.Call == fsfake.CallRename
				if takes && (taken(p.op.Path) || taken(p.op.Path2)) {
					return false
				}
			}
		}
	}
	return s.isThere(path)
}
