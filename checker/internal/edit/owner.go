package edit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// made is the name that a call makes and that nobody may have; empty for other calls.
func made(op *fsfake.Op) string {
	switch {
	case op.Call == fsfake.CallOpen && op.Flags&fsfake.O_EXCL != 0,
		op.Call == fsfake.CallMkdir, op.Call == fsfake.CallSymlink,
		op.Call == fsfake.CallMknod, op.Call == fsfake.CallBind:
		return op.Path
	case op.Call == fsfake.CallLink:
		return op.Path2
	}
	return ""
}

// Takeovers lists the ways to go on where the site's call finds the name there that it is to make. They are for whoever
// knows that nobody alive has made it: under a lock of the kernel.
func (s *Site) Takeovers() (all []*Edit) {
	switch {
	case s.Op.Call == fsfake.CallKill && s.Op.Flags == 0:
		all = append(all, &Edit{Text: "take the owner for dead in " + s.String(), Sites: []*Site{s},
			Change: s.instead(func(int, fsfake.Op) fsfake.Result { return fsfake.Result{Errno: fsfake.ESRCH} })})
	case made(&s.Op) == "":
	case s.Op.Call == fsfake.CallMkdir:
		all = append(all, s.onExists("take a directory that is there for made by "+s.String(), nil))
	default:
		all = append(all, s.onExists("where "+s.String()+" finds a file there, unlink it and try again",
			func(op fsfake.Op) fsfake.Op { return fsfake.Op{Call: fsfake.CallUnlink, Path: made(&op)} }))
	}
	return all
}

// onExists answers that a call has succeeded that fails because the name is there, or has it made again.
func (s *Site) onExists(text string, remove func(fsfake.Op) fsfake.Op) *Edit {
	return &Edit{Text: text, Sites: []*Site{s}, Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
		return Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			mine := s.makes(&op)
			a := p.Do(op)
			if !mine || a.Errno != fsfake.EEXIST {
				return a
			}
			if remove == nil {
				return succeeded(op)
			}
			p.Do(remove(op))
			return p.Do(op)
		}}
	}}
}

// IfOwn is the edit in which the site's call removes or replaces a name only if what the task has put there is still
// there; nil for other calls.
func (s *Site) IfOwn() *Edit {
	if replaced(&s.Op) == "" {
		return nil
	}
	return &Edit{Text: s.String() + " only if one's own file is there", Sites: []*Site{s}, Omits: true,
		Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
			return &owning{Port: p, site: s, own: map[string]uint64{}}
		}}
}

// replaced is the name that a call removes or replaces.
func replaced(op *fsfake.Op) string {
	switch {
	case op.Call.Is(fsfake.Removes):
		return op.Path
	case op.Call == fsfake.CallRename:
		return op.Path2
	}
	return ""
}

// owning is the port of a task that knows which files it has made.
type owning struct {
	fsfake.Port
	site *Site
	own  map[string]uint64 // inode numbers by name
}

func (o *owning) Do(op fsfake.Op) fsfake.Result {
	if o.site.makes(&op) {
		if ino, there := o.ino(replaced(&op)); there && ino != o.own[replaced(&op)] {
			return fsfake.Result{Errno: fsfake.ENOENT}
		}
	}
	a := o.Port.Do(op)
	name := made(&op)
	if op.Call == fsfake.CallRename {
		name = op.Path2
	}
	if name != "" && a.OK() {
		o.own[name], _ = o.ino(name)
	}
	return a
}

func (o *owning) ino(name string) (ino uint64, there bool) {
	a := o.Port.Do(fsfake.Op{Call: fsfake.CallLstat, Path: name})
	o.Note(fsfake.InodeSeen)
	return a.Stat.Ino, a.OK()
}
