package edit

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A Site is a place in a program from which it makes calls of one kind.
type Site struct {
	// Op is the first call that was seen of it.
	Op fsfake.Op
	// N is which call it is of a process that runs alone, from 1; 0 when no such process makes it.
	N int
	// Source is where it stands.
	Source scenarios.Source

	chain   string
	line    bool // it is every call of its kind in that line, from wherever it is reached
	places  *places
	failed  bool              // it was seen to fail
	answers [][]fsfake.Result // of each process: what it was told first, and of each error the first
	next    []*Site           // what was called right after it, in some run
	later   *Site             // a later look with which its answer is compared: of a name and a descriptor the same file
	earlier *Site             // the other way round
}

// String names the call, with the last parts of paths.
func (s *Site) String() string {
	op := s.Op
	for _, p := range []*string{&op.Path, &op.Path2} {
		if *p != "" {
			*p = path.Base(*p)
		}
	}
	return op.String()
}

// Place says where the call is: "step 7, lock.go:31".
func (s *Site) Place() string {
	var at []string
	if s.N > 0 {
		at = append(at, fmt.Sprintf("step %d", s.N))
	}
	if s.Source.File != "" {
		at = append(at, fmt.Sprintf("%s:%d", filepath.Base(s.Source.File), s.Source.Line))
	}
	return strings.Join(at, ", ")
}

// stackDepth is how many callers are looked at.
const stackDepth = 64

const own = "lockpick/checker/internal/edit."

// operations begin the names of the functions in which an operation is recorded: from where a program calls them
// makes no difference to the calls in them, which a probe makes without.
var operations = []string{"lockpick/scenarios.Record[", "lockpick/scenarios.(*Task).acquire",
	"lockpick/scenarios.(*Task).release", "lockpick/scenarios.(*Task).Leave"}

// A place is where a program makes a call: the lines from the call outwards, to the operation that it belongs to,
// or to the program's beginning.
type place struct {
	chain  string
	source scenarios.Source
}

// places are those of stacks that were seen: to read one takes longer than a call.
type places struct{ seen sync.Map }

// here is the place that makes a call.
func (p *places) here(c fsfake.Call) place {
	var pcs [stackDepth]uintptr
	n := runtime.Callers(2, pcs[:])
	lines, known := p.seen.Load(pcs)
	if !known {
		lines = read(pcs[:n])
		p.seen.Store(pcs, lines)
	}
	at := lines.(place)
	at.chain = c.String() + ";" + at.chain
	return at
}

func read(pcs []uintptr) (at place) {
	frames := runtime.CallersFrames(pcs)
	for begun := false; ; {
		f, more := frames.Next()
		mine := strings.HasPrefix(f.Function, own)
		if begun = begun || !mine; begun && mine || !more ||
			slices.ContainsFunc(operations, func(o string) bool { return strings.HasPrefix(f.Function, o) }) {
			return at
		}
		if mine || strings.HasPrefix(f.Function, "lockpick/fsfake.") || strings.HasPrefix(f.Function, "lockpick/scenarios.") {
			continue
		}
		at.chain += fmt.Sprintf("%s:%d;", f.File, f.Line)
		if at.source.File == "" && !learn.Foreign(f) {
			at.source = scenarios.Source{File: f.File, Line: f.Line, Func: path.Base(f.Function)}
		}
	}
}

// makes reports whether a call is made at the site.
func (s *Site) makes(op *fsfake.Op) bool {
	return op.Call == s.Op.Call && s.holds(s.places.here(op.Call))
}

// holds reports whether a place is the site's: a probe may be called from further out.
func (s *Site) holds(at place) bool {
	if s.line {
		return at.source == s.Source
	}
	return strings.HasPrefix(at.chain, s.chain)
}

// Line is the site of all calls of its kind that stand in its line, if others of a list do; else nil, and for all but
// the first one. Who edits a line changes them all.
func (s *Site) Line(all []*Site) *Site {
	same := func(t *Site) bool { return t.Source == s.Source && t.Op.Call == s.Op.Call }
	first := slices.IndexFunc(all, same)
	if s.Source.File == "" || all[first] != s || !slices.ContainsFunc(all[first+1:], same) {
		return nil
	}
	line := *s
	line.line = true
	return &line
}

// A Recorder notes which sites a scenario's programs have. What one worker explores it notes in one order.
type Recorder struct {
	places places
	mu     sync.Mutex
	sites  []*Site
	// refused: somebody did not get a lock, in some run.
	refused bool
}

// Alone runs the first task of each process by itself, as far as it comes without waiting, and notes its calls.
func (r *Recorder) Alone(sc *scenarios.Scenario) error {
	noted := Through(*sc, func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
		return &recording{Port: p, Recorder: r, process: t.Index, counts: true}
	})
	for i := range sc.Setting.Processes {
		m, err := sc.Start()
		if err != nil {
			return err
		}
		if !sc.Setting.AfterReboot(i) {
			RunAlone(&noted, m, i, 1, 0, func(any) {})
		}
	}
	return nil
}

// Change notes the calls of every task, and changes none.
func (r *Recorder) Change(t *scenarios.Task, p fsfake.Port) fsfake.Port {
	return &recording{Port: p, Recorder: r, process: t.Index}
}

// recording is the port of one task whose calls are noted.
type recording struct {
	fsfake.Port
	*Recorder
	process int
	counts  bool // its calls, in a run alone
	calls   int  // made so far
	last    *Site
	looks   []look // in this round of a loop
}

// look is an inode number that a site was told.
type look struct {
	site *Site
	ino  uint64
}

func (p *recording) Do(op fsfake.Op) fsfake.Result {
	at := p.places.here(op.Call)
	a := p.Port.Do(op)
	p.calls++
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.site(op, at)
	if p.counts && s.N == 0 {
		s.N = p.calls
	}
	s.told(p.process, a)
	if p.last != nil && !slices.Contains(p.last.next, s) {
		p.last.next = append(p.last.next, s)
	}
	p.last = s
	p.compare(s, op, a.Stat.Ino)
	return a
}

// Note forgets at the top of a round what was looked at in the last one.
func (p *recording) Note(v any) {
	if _, is := v.(fsfake.RoundTop); is {
		p.looks = nil
	}
	watching{p.Port, p.Recorder}.Note(v)
}

// Watch sees of every task who is refused, notes no calls, and changes none.
func (r *Recorder) Watch(_ *scenarios.Task, p fsfake.Port) fsfake.Port { return watching{p, r} }

// watching is the port of one task of which it is noted whether it is refused.
type watching struct {
	fsfake.Port
	r *Recorder
}

// Note implements fsfake.Port.
func (w watching) Note(v any) {
	if of, is := v.(scenarios.Returned); is {
		if a, is := of.Output.(model.Acquired); is && !a.OK {
			w.r.mu.Lock()
			w.r.refused = true
			w.r.mu.Unlock()
		}
	}
	w.Port.Note(v)
}

// Refuses reports whether somebody did not get a lock in any run that was noted.
func (r *Recorder) Refuses() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// site is the one from which a call comes.
func (r *Recorder) site(op fsfake.Op, at place) *Site {
	for _, s := range r.sites {
		if s.holds(at) {
			return s
		}
	}
	s := &Site{Op: op, Source: at.source, chain: at.chain, places: &r.places}
	r.sites = append(r.sites, s)
	return s
}

// told notes what a process was answered.
func (s *Site) told(process int, a fsfake.Result) {
	s.failed = s.failed || !a.OK()
	for len(s.answers) <= process {
		s.answers = append(s.answers, nil)
	}
	told := &s.answers[process]
	if !slices.ContainsFunc(*told, func(b fsfake.Result) bool { return b.Errno == a.Errno }) {
		*told = append(*told, a)
	}
}

// compare notes which looks at a name and at a descriptor have shown the same file.
func (p *recording) compare(s *Site, op fsfake.Op, ino uint64) {
	if ino == 0 {
		return
	}
	for _, l := range p.looks {
		if l.ino == ino && l.site.Op.Call != op.Call && l.site.later == nil && l.site.earlier == nil && s.later == nil {
			l.site.later, s.earlier = s, l.site
		}
	}
	p.looks = append(slices.DeleteFunc(p.looks, func(l look) bool { return l.site == s }), look{s, ino})
}

// Sites lists what was noted: the calls of a process alone in their order, then the others by where they stand.
func (r *Recorder) Sites() []*Site {
	all := slices.Clone(r.sites)
	slices.SortFunc(all, func(a, b *Site) int {
		return cmp.Or(cmp.Compare(min(b.N, 1), min(a.N, 1)), cmp.Compare(a.N, b.N),
			strings.Compare(a.Source.File, b.Source.File), cmp.Compare(a.Source.Line, b.Source.Line),
			strings.Compare(a.chain, b.chain))
	})
	return all
}

// errors are with what calls at the site were seen to fail, and 0 for success.
func (s *Site) errors() (all []syscall.Errno) {
	for _, told := range s.answers {
		for _, a := range told {
			if !slices.Contains(all, a.Errno) {
				all = append(all, a.Errno)
			}
		}
	}
	slices.Sort(all)
	return all
}

// answer is what a process was told first that ended in an error, or with success.
func (s *Site) answer(process int, e syscall.Errno) fsfake.Result {
	n := len(s.answers)
	for _, of := range [][][]fsfake.Result{s.answers[min(process, n):min(process+1, n)], s.answers} {
		for _, told := range of {
			for _, a := range told {
				if a.Errno == e {
					return a
				}
			}
		}
	}
	return fsfake.Result{Errno: e}
}
