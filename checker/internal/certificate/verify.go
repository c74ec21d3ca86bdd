package certificate

import (
	"context"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Result is what a verification has come to. Why says what is not so; it is empty where the certificate is a proof.
type Result struct {
	Views, Configurations, Runs int
	Timed                       bool // the program looks at the clock or at file times: nobody is delayed
	Why                         string
}

// A verifier has the file, the program as the file says it is, and the first reason why nothing is proved.
type verifier struct {
	file          *File
	sc            *scenarios.Scenario
	property      *scenarios.Property
	kind          *fsfake.Machine
	rest          []fsfake.SnapshotProc
	nodes         map[uint32]*node
	edges         map[step]*edge
	views         map[string]*known
	lists, sleeps bool
	looks         bool
	pidDirs       map[string]bool // with names that hold pids
	emptied       []string        // directories that are removed or moved
	runs, glued   int
	why           string
}

// no notes why nothing is proved.
func (v *verifier) no(format string, args ...any) {
	if v.why == "" {
		v.why = fmt.Sprintf(format, args...)
	}
}

// Verify looks whether a certificate proves what it says, of the scenario and the property that it names. It proves
// nothing where ctx ends before.
func (f *File) Verify(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property) (r Result) {
	v := &verifier{file: f, sc: sc, property: p, nodes: map[uint32]*node{}, edges: map[step]*edge{},
		views: map[string]*known{}, pidDirs: map[string]bool{}}
	defer func() {
		if e := recover(); e != nil { // fsfake panics where a machine cannot be
			v.no("a view is of a machine that cannot be: %v", e)
		}
		r = Result{len(v.views), v.glued, v.runs, v.looks, v.why}
	}()
	c := v.begin()
	v.learn()
	if v.why == "" {
		v.loops()
	}
	order := v.read()
	v.has(&c)
	for i := range order {
		v.alone(order[i])
	}
	for i, a := range order {
		if ctx.Err() != nil {
			v.no("it was stopped")
		}
		for _, b := range order[:i+1] {
			if v.why == "" && (a.loud || b.loud || a.holding() && b.holding()) {
				glue(a, b, func(u config) { v.inside(u, a, b) })
			}
		}
	}
	emptied := slices.ContainsFunc(v.emptied, func(dir string) bool { return v.pidDirs[dir] })
	if len(v.pidDirs) > 0 && v.lists || emptied {
		v.no("names hold pids, in a directory that is listed, removed or moved")
	}
	return r
}

// begin is the configuration of two processes at the start.
func (v *verifier) begin() config {
	st := v.sc.Setting
	if v.sc.External || st.Fixed || st.Tasks != nil || len(st.Handlers)+len(st.Punctual)+len(st.Skew)+
		len(st.Mortal)+len(st.Users)+len(st.Containers)+st.Stalls+st.PowerLosses+st.FailingCalls > 0 ||
		st.Assume.Sleeps == scenarios.SleepsLast || v.property.Shows == scenarios.InHistories {
		v.no("the question is not one of any number of equal processes and kills")
	}
	st.Processes, st.Crashes = 2, 0
	sc, err := v.sc.In(st)
	if err != nil {
		v.no("%v", err)
		return config{}
	}
	if v.kind, err = sc.Start(); err != nil || !v.kind.CountsInodes() {
		v.no("it does not start: %v", err)
		return config{}
	}
	snap, err := v.kind.Snapshot()
	if err != nil {
		v.no("at the start there is %v", err)
	}
	c := config{}
	for _, n := range snap.Inodes {
		c.Inodes = append(c.Inodes, inode{SnapshotInode: n})
		if len(pids(n.Data)) > 0 {
			v.no("a file names a process before any has begun")
		}
	}
	for _, p := range snap.Procs {
		if len(p.FDs)+len(p.Records) > 0 || p.Cwd != root {
			v.no("a process has something open before it begins")
		}
		p.Seen = nil
		if isPid(p.Pid) {
			c.Procs = append(c.Procs, process{SnapshotProc: p, Full: true, Place: place{Node: v.file.Start}})
		} else {
			v.rest = append(v.rest, p)
		}
	}
	if v.split(&c, v.kind); len(v.pidDirs) > 0 {
		v.no("a name at the start holds the pid of a process")
	}
	return c
}

// read takes the views of the file for known. Each is of process 101.
func (v *verifier) read() (order []*known) {
	for _, c := range v.file.views {
		for _, p := range c.Procs {
			if p.Start != int64(start(p.Pid)) { // views are compared by pids
				v.no("a process of a view has another start time than its pid stands for")
				return nil
			}
		}
		if v.split(&c, v.machine(&c)); v.why != "" {
			return nil
		}
		k := describe(v.view(&c, low))
		if _, ok := v.views[k.key]; !ok {
			v.views[k.key] = k
			order = append(order, k)
		}
	}
	return order
}

// has looks whether the views of a configuration are known, and whether it is good.
func (v *verifier) has(c *config) {
	if v.isBad(c) {
		v.no("a configuration is bad: %s is broken in it", v.property.ID)
	}
	for _, p := range c.Procs {
		if p.Full && v.why == "" {
			if is := v.view(c, p.Pid); v.views[is.key()] == nil {
				v.no("a step leads to a view that the certificate has not: node %d of the program", p.Place.Node)
			}
		}
	}
}

// alone makes the steps of the process of a view that nobody else can notice: nothing changes but where it is in its
// program, its descriptors, and what it remembers. So all other views stay as they are.
func (v *verifier) alone(k *known) {
	if v.isBad(&k.config) {
		v.no("a view is bad: %s is broken in it", v.property.ID)
	}
	if v.why != "" {
		return
	}
	v.steps(&k.config, low, func(d config, failed bool) {
		if !v.unnoticed(&k.config, &d) {
			k.loud = true
		} else if v.failed(failed); v.why == "" {
			v.has(&d)
		}
	})
}

func (v *verifier) unnoticed(was, is *config) bool {
	p, q := was.proc(low), is.proc(low)
	if q.Dead || !slices.Equal(p.Place.Holds, q.Place.Holds) {
		return false
	}
	there := 0
	for _, n := range was.Inodes {
		m := is.inode(n.ID)
		if m == nil {
			if n.Nlink > 0 || n.Flock+n.RecordBy > 0 { // others may have it open, and see that its lock is free
				return false
			}
			continue
		}
		if there++; fmt.Sprintf("%#v", n.mapped(same)) != fmt.Sprintf("%#v", m.mapped(same)) {
			return false
		}
	}
	return there == len(is.Inodes)
}

// inside makes the steps of both processes of a configuration whose views are a and b, for each set of locks that
// others may hold.
func (v *verifier) inside(u config, a, b *known) {
	locks := slices.Concat(a.Inside, b.Inside)
	slices.Sort(locks)
	locks = slices.Compact(locks)
	for set := range 1 << len(locks) {
		u.Inside = nil
		for i, l := range locks {
			if set>>i&1 == 1 {
				u.Inside = append(u.Inside, l)
			}
		}
		q := 0
		for i := range u.Procs {
			if p := &u.Procs[i]; !isPid(p.Pid) {
				v.no("more processes are named at a time than there are pids for")
			} else if p.Full && p.Pid != low {
				q = p.Pid
			}
		}
		if v.why != "" {
			return
		}
		if is, too := v.view(&u, low), v.view(&u, q); is.key() != a.key || too.key() != b.key {
			continue
		}
		if v.glued++; v.isBad(&u) {
			v.no("two views make a configuration that is bad: %s is broken in it", v.property.ID)
		}
		for _, of := range []struct {
			pid int
			*known
		}{{low, a}, {q, b}} {
			if of.loud && v.why == "" {
				v.steps(&u, of.pid, func(d config, failed bool) {
					v.failed(failed)
					v.has(&d)
				})
			}
		}
	}
}

func (v *verifier) failed(failed bool) {
	if failed && v.property.Shows == scenarios.InAStep {
		v.no("an assertion fails")
	}
}

func (c *config) holding() bool {
	return slices.ContainsFunc(c.Procs, func(p process) bool { return len(p.Place.Holds) > 0 })
}

// isBad reports whether a configuration breaks the property: two processes hold one lock; or what stands at the path
// of a lock is not the file that its holder has acquired.
func (v *verifier) isBad(c *config) bool {
	held := slices.Clone(c.Inside)
	for _, p := range c.Procs {
		own := len(held)
		for _, h := range p.Place.Holds {
			if v.property.Shows == scenarios.InTwoHolders &&
				slices.ContainsFunc(held[:own], func(o string) bool { return sameLock(o, h.Lock) }) {
				return true
			}
			held = append(held, h.Lock)
			if v.property.Shows != scenarios.InAHolder || h.Path == "" {
				continue
			}
			m := v.machine(c)
			is, ok := m.LookupName(h.Path)
			to, leads := m.Lookup(h.Path)
			if !(ok && is == h.Inode || leads && to == h.Inode) {
				return true
			}
		}
	}
	return false
}

// sameLock reports whether two names may be one lock's: one without a name may be any.
func sameLock(a, b string) bool { return a == b || a == "" || b == "" }
