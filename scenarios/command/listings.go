package command

import (
	"path"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
)

// Python lists a directory again when that has another time, at each import. On a machine where no two changes share
// a time, each place on the way may then have such a listing or not, and a command has thousands of paths that come to
// the same. So while it is tried whether a command acts on the order of file times, it may list a directory again that
// it has listed before: what it finds there is made up, with and without each name that commands make or remove. If it
// makes the same other calls every time, what it lists again makes no difference.

// mostToggled is how many such names there may be.
const mostToggled = 8

// listings answer those that a path has earlier only.
type listings struct {
	stays func(dir string) bool
	// names are those that commands make or remove, there those of them that a listing has.
	names, there []string
	used         bool
	claimed      string // names that it took beside, which are others than on the path
	// next is the place of the earlier listing whose call comes next, or 0, was the descriptor there.
	next, was int
}

// relisted is the descriptor of a listing that the path does not have.
const relisted = 1 << 20

// toggled are the names, without their directories, that commands make or remove; more than mostToggled are too many.
func (s *Spec) toggled() (names []string) {
	known := map[string]bool{}
	for i := range s.Commands {
		for _, end := range s.record.lateness(s.start(i)).ends {
			for p := end; p != nil && len(names) <= mostToggled; p = p.before {
				for _, name := range []string{p.op.Path, p.op.Path2} {
					if name == "" || known[name] || !changesNames(p.op) {
						continue
					}
					known[name] = true
					if base := path.Base(name); !slices.Contains(names, base) && !s.stays(name) {
						names = append(names, base)
					}
				}
			}
		}
	}
	return names
}

// changesNames reports whether a call may make or remove a name.
func changesNames(op fsfake.Op) bool {
	c := op.Call
	return c.Is(fsfake.Removes|fsfake.Creates) || c == fsfake.CallRename ||
		c == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0
}

// repeated are listings that a command may repeat on the path that is tried as the n-th, with one content after the
// other; nil alone where it may not. The first path has each name alone, and others have one.
func (s *Spec) repeated(names []string, n int, rise bool) (all []*listings) {
	if len(names) > mostToggled {
		return []*listings{nil}
	}
	contents := [][]string{names}
	if !rise {
		contents[0] = nil
	}
	for i := range names {
		if rise && n == 1 || !rise && n > 1 && i == n%len(names) {
			contents = append(contents, names[i:i+1])
		}
	}
	for _, there := range contents {
		all = append(all, &listings{stays: s.stays, names: names, there: there})
	}
	return all
}

// moves reports whether a call may change the working directory, which is that of the commands at first.
func moves(p *place) bool { return p.op.Call == fsfake.CallChdir }

// again answers a call of a listing that the path does not have here.
func (l *listings) again(p *latePort, op fsfake.Op) (r fsfake.Result, is bool) {
	if l == nil {
		return r, false
	}
	if l.next == 0 {
		if op.Call != fsfake.CallOpen || op.Flags&fsfake.O_DIRECTORY == 0 || p.path[p.at].op == op ||
			(op.Path != "." || slices.ContainsFunc(p.path[:p.at], moves)) && !l.stays(op.Path) {
			return r, false
		}
		l.next = max(0, slices.IndexFunc(p.path[:p.at], func(q *place) bool { return q.op == op }))
		l.was = int(p.path[l.next+1].via.N)
	}
	if op.FD == relisted {
		op.FD = l.was
	}
	if r = p.path[l.next+1].via; op != p.path[l.next].op || !r.OK() {
		return r, false
	}
	l.used = true
	l.next++
	switch op.Call {
	case fsfake.CallOpen:
		r.N = relisted
	case fsfake.CallReaddir:
		r = l.list(r)
	case fsfake.CallClose:
		l.next = 0
	}
	if at := p.stamps[p.at]; at != 0 { // of the look before
		r.Stat.Mtime, r.Stat.Ctime = at, at
	}
	return r, true
}

// claim notes that a command takes another name than on the path, as far as that may come of listings that it repeats.
func (l *listings) claim(op *fsfake.Op) bool {
	if l == nil || !l.used {
		return false
	}
	l.claimed += brief(op.String()) + "\n"
	return true
}

// list is a listing with other names.
func (l *listings) list(r fsfake.Result) fsfake.Result {
	text, _ := r.Value.(string)
	inos := strings.Fields(text)
	if r.Data == "" && len(l.there) == 0 || len(inos) < 2 {
		return r
	}
	var names []string
	numbers := inos[:2:2]
	for i, name := range strings.Split(r.Data, "\x00") {
		if name != "" && !slices.Contains(l.names, name) {
			names, numbers = append(names, name), append(numbers, inos[i+2])
		}
	}
	for _, name := range l.there {
		at, _ := slices.BinarySearch(names, name)
		names, numbers = slices.Insert(names, at, name), slices.Insert(numbers, at+2, "1048576")
	}
	r.Data, r.N, r.Value = strings.Join(names, "\x00"), int64(len(names)), strings.Join(numbers, " ")
	return r
}

// looksAgain answers a look by name that the path has earlier only: PHP forgets after two minutes what it knew of a
// name. What is there all the time has been changed meanwhile here, so that who acts on that makes other calls.
func (p *latePort) looksAgain(op fsfake.Op) (fsfake.Result, bool) {
	const most = 10
	byName := op.Call == fsfake.CallStat || op.Call == fsfake.CallLstat
	if !byName || p.stays == nil || p.more == most || p.path[p.at].op == op {
		return fsfake.Result{}, false
	}
	i := slices.IndexFunc(p.path[:p.at], func(q *place) bool { return q.op == op })
	if i < 0 || !p.path[i+1].via.OK() || !p.stays(op.Path) {
		return fsfake.Result{}, false
	}
	p.more++
	r := p.path[i+1].via
	r.Stat.Mtime += int64(time.Minute)
	r.Stat.Ctime, r.Stat.Nlink, r.Stat.Size = r.Stat.Mtime, r.Stat.Nlink+1, r.Stat.Size+1
	return r, true
}
