package edit

import (
	"fmt"
	"sync/atomic"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// An Edit is a change to a program, in words.
type Edit struct {
	// Text says what is changed: "without unlink a.lock". Answer is what a call left out that only looks is taken to
	// do each time: "succeed", "fail with ENOENT".
	Text, Answer string
	// Sites are the calls that it changes, the first one first.
	Sites []*Site
	// Change makes it. It is for one scenario at a time.
	Change Change
	// Omits: it leaves out a call that changes something, always or where that changes what others have made.
	Omits bool

	doubt atomic.Pointer[string]
}

// Doubt says why what was found out about the changed program says nothing of an edited source; empty when it does.
func (e *Edit) Doubt() string {
	if d := e.doubt.Load(); d != nil {
		return *d
	}
	return ""
}

// OmitsTakeover reports whether a call is left out that removes or replaces a name, and that nobody makes who runs
// alone: it is about what somebody else has left there, who may be dead.
func (e *Edit) OmitsTakeover() bool {
	return e.Omits && e.Sites[0].N == 0 && replaced(&e.Sites[0].Op) != ""
}

// Forget forgets the doubt.
func (e *Edit) Forget() { e.doubt.Store(nil) }

func (e *Edit) doubts(why string) { e.doubt.Store(&why) }

// flags are those of open(2) that can be left out.
var flags = []struct {
	flag int
	name string
}{
	{fsfake.O_EXCL, "O_EXCL"}, {fsfake.O_TRUNC, "O_TRUNC"}, {fsfake.O_APPEND, "O_APPEND"},
	{fsfake.O_NOFOLLOW, "O_NOFOLLOW"},
}

// Without lists the ways to leave the site's call out. A call that changes something is taken to have succeeded. One
// that looks at something is taken to answer what it was seen to answer: the same each time, whatever is there. Of a
// call that opens a file flags are left out, for the descriptor is needed.
func (s *Site) Without() (all []*Edit) {
	c := s.Op.Call
	switch {
	case c == fsfake.CallOpen:
		for _, f := range flags {
			if s.Op.Flags&f.flag != 0 {
				all = append(all, s.changed("without "+f.name+" of "+s.String(),
					func(op fsfake.Op) fsfake.Op { op.Flags &^= f.flag; return op }))
			}
		}
	case s.acts():
		e := &Edit{Text: "without " + s.String(), Sites: []*Site{s}, Omits: true}
		e.Change = s.instead(func(_ int, op fsfake.Op) fsfake.Result { return succeeded(op) })
		all = append(all, e)
	case s.Looks() && s.later == nil:
		for _, errno := range s.errors() {
			e := &Edit{Text: "without " + s.String(), Sites: []*Site{s}, Answer: "succeed"}
			if errno != 0 {
				e.Answer = "fail with " + fsfake.ErrnoName(errno)
			}
			e.Change = func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
				return &blind{Port: p, site: s, edit: e, fixed: s.answer(t.Index, errno)}
			}
			all = append(all, e)
		}
	}
	return all
}

// Later is the later look that the site's answer is compared with, which is left out in its place; nil for none.
func (s *Site) Later() *Site { return s.later }

// acts reports whether the call changes something and answers, where it succeeds, what is known beforehand.
func (s *Site) acts() bool {
	c := s.Op.Call
	return c.Is(fsfake.Changes|fsfake.Locks|fsfake.Closes) || c == fsfake.CallFsync || c == fsfake.CallSetfd ||
		c == fsfake.CallCellStore
}

// Looks reports whether the call only looks at something.
func (s *Site) Looks() bool {
	c := s.Op.Call
	return c.Is(fsfake.Looks|fsfake.Stats|fsfake.Reads|fsfake.Asks) && c != fsfake.CallChdir
}

// OfName reports whether the call is about a name: it opens, looks at, makes or removes it.
func (s *Site) OfName() bool { return s.Op.Path != "" }

// succeeded is what a call answers that acts and succeeds.
func succeeded(op fsfake.Op) fsfake.Result {
	if op.Call.Is(fsfake.Writes) {
		return fsfake.Result{N: int64(len(op.Data))}
	}
	return fsfake.Result{}
}

// instead answers the site's calls without making them.
func (s *Site) instead(answer func(process int, op fsfake.Op) fsfake.Result) Change {
	return func(t *scenarios.Task, p fsfake.Port) fsfake.Port {
		return Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			if !s.makes(&op) {
				return p.Do(op)
			}
			p.Do(Work)
			return answer(t.Index, op)
		}}
	}
}

// changed makes the site's calls with other arguments.
func (s *Site) changed(text string, change func(fsfake.Op) fsfake.Op) *Edit {
	return &Edit{Text: text, Sites: []*Site{s}, Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
		return Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			if s.makes(&op) {
				op = change(op)
			}
			return p.Do(op)
		}}
	}}
}

// blind is the port of a task that takes one look for granted. Where the answer is compared with that of an earlier
// look, it is the same: the comparison finds nothing.
type blind struct {
	fsfake.Port
	site  *Site
	edit  *Edit
	fixed fsfake.Result

	seen    fsfake.Result // the answer of the earlier look, in this round
	again   bool          // the site's call came last: of a file that is read nothing is left
	unknown bool          // it was told a number that no file has
}

func (b *blind) Do(op fsfake.Op) fsfake.Result {
	if !b.site.makes(&op) {
		b.again = false
		a := b.Port.Do(op)
		if b.site.earlier != nil && b.site.earlier.makes(&op) {
			b.seen = a
		}
		return a
	}
	b.Port.Do(Work)
	a := b.fixed
	switch {
	case a.Stat.Ino != 0 && b.seen.Stat.Ino != 0:
		a = b.seen
	case a.Stat.Ino != 0:
		b.unknown = true
	case b.again && a.OK() && op.Call.Is(fsfake.Reads):
		a = fsfake.Result{}
	}
	b.again = true
	return a
}

// Note forgets at the top of a round what was seen in the last one.
func (b *blind) Note(v any) {
	switch v := v.(type) {
	case fsfake.RoundTop:
		b.seen, b.again, b.unknown = fsfake.Result{}, false, false
	case fsfake.Seen:
		if b.unknown && v&(fsfake.InodeSeen|fsfake.NumberSeen) != 0 {
			b.edit.doubts("its inode number is compared with another file's")
		}
	}
	b.Port.Note(v)
}

// Swapped is the edit in which the call that follows is made first; nil where what follows hangs on what the site's
// call answers.
func (s *Site) Swapped(next *Site) *Edit {
	c := next.Op.Call
	if !s.acts() || s.failed || s == next || c.Ends() || c == fsfake.CallChoose || c == fsfake.CallStart ||
		next.Op.Call.Is(fsfake.Closes) && next.Op.FD == s.Op.FD && s.Op.FD > 0 {
		return nil
	}
	e := &Edit{Text: fmt.Sprintf("%s before %s", next, s), Sites: []*Site{next, s}}
	e.Change = func(_ *scenarios.Task, p fsfake.Port) fsfake.Port { return &swapped{Port: p, edit: e} }
	return e
}

// swapped is the port of a task that makes a call one call later.
type swapped struct {
	fsfake.Port
	edit *Edit
	late []fsfake.Op // the call to make, if any
}

func (w *swapped) Do(op fsfake.Op) fsfake.Result {
	next, first := w.edit.Sites[0], w.edit.Sites[1]
	if next.makes(&op) {
		a := w.Port.Do(op)
		w.end()
		return a
	}
	w.end()
	if first.makes(&op) {
		w.late = []fsfake.Op{op}
		w.Port.Do(Work)
		return succeeded(op)
	}
	return w.Port.Do(op)
}

// end makes the call that is late.
func (w *swapped) end() {
	late := w.late
	w.late = nil
	for _, op := range late {
		if a := w.Port.Do(op); a.Errno != 0 {
			w.edit.doubts(fmt.Sprintf("%s fails then (%s), and what the program would do is not known", w.edit.Sites[1],
				fsfake.ErrnoName(a.Errno)))
		}
	}
}

// Note makes the call before a round begins anew.
func (w *swapped) Note(v any) {
	if _, ok := v.(fsfake.RoundTop); ok {
		w.end()
	}
	w.Port.Note(v)
}

// Next lists the sites whose calls were seen right after the site's.
func (s *Site) Next() []*Site { return s.next }
