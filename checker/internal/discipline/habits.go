package discipline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
)

// habits are what a copy does after a call that meets the lock, until the next such call: for each call and answer, in
// the first round and later, such a part of a run. A round begins as the first did. The part before stands at "".
type habits map[string]part

type part struct {
	process int
	calls   []call // the last one's answer is no part of it
}

// add adds the parts of a run until it takes the lock. The error says where one is not as always.
func (h habits) add(s *shared, l *lock, process int, calls []call) error {
	key, first, round, from := "", "", 0, 0
	for i := range calls {
		c := &calls[i]
		id, _ := c.before.FDInode(c.by.Pid, c.op.FD)
		if key != "" && c.op.Call == fsfake.CallReaddir && len(s.dirs[id]) > 0 {
			return notProved("a copy that waits for the lock lists a directory in which copies make names: %s", c.op)
		}
		if i+1 < len(calls) && !l.meets(c) {
			continue
		}
		is := part{process, awake(calls[from : i+1])}
		if was, ok := h[key]; !ok {
			h[key] = is
		} else if op, ok := was.same(s, is); !ok {
			return notProved("before it takes the lock a copy does not always do the same: %s", op)
		}
		if first = cmp.Or(first, c.op.String()); first == c.op.String() {
			round++
		}
		key, from = fmt.Sprintf("%t %s = %+v", round > 1, c.op, c.shown()), i+1
	}
	return nil
}

// same compares two parts, but for the pids of the copies, and for listings and lengths, which are tried. It returns a
// call that only one of them makes, or that is answered otherwise.
func (p part) same(s *shared, o part) (fsfake.Op, bool) {
	for i := range min(len(p.calls), len(o.calls)) {
		a, b := p.calls[i], o.calls[i]
		if last := i+1 == len(p.calls); last || a.op.Call == fsfake.CallReaddir || s.sized(&a) != 0 {
			a.result, b.result = fsfake.Result{}, fsfake.Result{}
		}
		x, y := told([]call{a}), told([]call{b})
		mine, theirs := pid(p.process), pid(o.process) // of the caller; what else looks like a pid may be none
		if x != y && strings.ReplaceAll(x, mine, theirs) != y && strings.Replace(x, mine, theirs, 1) != y {
			return b.op, false
		}
	}
	return p.calls[len(p.calls)-1].op, len(p.calls) == len(o.calls)
}

// awake leaves out sleeps, which may be of any length.
func awake(calls []call) []call {
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.op.Call == fsfake.CallSleep })
}

// meetings runs a copy from where a run began, among others that are in its way at up to some of the calls by which it
// meets the lock: they have it, or have not yet made its file. And at the first so many of these calls, and of those
// that ask for the lock.
func (x *runner) meetings(s *shared, l *lock, h habits, r *serial, some, many int) error {
	if !slices.ContainsFunc(r.calls[:r.took+1], func(c call) bool { return l.meets(&c) }) {
		return nil
	}
	var words func(word []int, ways int) error
	words = func(word []int, ways int) error {
		n, err := x.meet(s, l, h, r, func(k int, _ bool) int { return append(word, make([]int, k+1)...)[k] })
		for k := len(word); k < n && ways < some; k++ {
			for way := 1; way <= l.ways() && err == nil; way++ {
				err = words(append(append(slices.Clone(word), make([]int, k-len(word))...), way), ways+1)
			}
		}
		return err
	}
	if err := words(nil, 0); err != nil {
		return err
	}
	for _, onlyTries := range []bool{false, true} {
		n := 0
		if onlyTries {
			many = min(many, rounds)
		}
		if _, err := x.meet(s, l, h, r, func(_ int, tries bool) int {
			if n == many || onlyTries && !tries {
				return 0
			}
			n++
			return 1 + n%l.ways()
		}); err != nil {
			return err
		}
	}
	return nil
}

// meet runs a copy from where a run began, with others in its way at the calls by which it meets the lock as way says:
// not at all (0), or with one of the texts in the lock's file. It must do nothing but wait until it gets the lock, the
// same after the same answer, and then what the run does. meet returns how often it has met the lock.
func (x *runner) meet(s *shared, l *lock, h habits, r *serial, way func(k int, tries bool) int) (n int, err error) {
	m := r.from.Clone()
	if !l.byName && !l.there && !l.varies {
		l.hide(m)
	}
	others, has := false, false // who has the lock
	calls, err := x.run(r.again(), m, nil, func(m *fsfake.Machine, c *call) (*fsfake.Result, error) {
		if has = has || l.held(m) && !others; has || !l.meets(c) {
			return nil, nil
		}
		tries := l.tries(c)
		is := way(n, tries)
		n++
		if err := l.among(m, is, tries, &others); err != nil {
			return nil, err
		}
		l.view(m)
		c.before = m.Clone()
		return nil, nil
	})
	if err != nil {
		return n, err
	}
	took := slices.IndexFunc(calls, func(c call) bool { return l.tries(&c) && c.result.OK() })
	for i := range calls {
		if i == took {
			break
		}
		if why := l.outside(s, &calls[i], true); why != "" {
			return n, notProved("%s", why)
		}
	}
	if took < 0 {
		return n, notProved("a copy that does not get the lock gives up: %s", l.take)
	}
	if err := h.add(s, l, r.process, calls[:took+1]); err != nil {
		return n, err
	}
	if told(calls[took:]) != told(r.calls[r.took:]) {
		return n, notProved("a copy that has waited for the lock does something else than one that has not: %s", l.take)
	}
	return n, nil
}

// among has others take the lock or give it back before a call, or make the file of a kernel lock.
func (l *lock) among(m *fsfake.Machine, way int, tries bool, others *bool) error {
	if *others && (way == 0 || tries || l.byName) {
		*others = false
		l.vacate(m)
	}
	_, there := m.LookupName(l.path)
	switch {
	case way > 0 && (tries || l.byName):
		*others = true
		return l.occupy(m, l.texts[way-1])
	case way == 0 && !l.byName && !tries && !there:
		err := l.open(m, func(fsfake.Task, int) error { return nil })
		m.KillProc(other)
		return err
	}
	return nil
}
