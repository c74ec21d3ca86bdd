package anynumber

import (
	"cmp"
	"fmt"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A refusal is panicked with where something is met that views do not have.
type refusal string

// Refused is why a question is not asked for any number of processes.
type Refused struct{ Why string }

// Error implements error.
func (r Refused) Error() string { return r.Why }

// refused turns a refusal into an error.
func refused(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = Refused{string(r)}
	default:
		panic(r)
	}
}

// A System is a scenario with any number of processes: its program as an automaton, learned as process 101.
type System struct {
	sc      *scenarios.Scenario
	a       *learn.Automaton
	start   learn.Starter
	kind    *fsfake.Machine       // whose clock and kind all machines have
	rest    []fsfake.SnapshotProc // of the processes that no configuration lists
	results map[fsfake.Result]*fsfake.Result
	told    map[uint32]int  // of each node, how many processes it has been told of
	via     map[uint32]edge // how a node was first reached
	edges   []edge
	known   map[edge]bool
	listed  bool     // a directory is listed
	pidDirs []string // directories in which names hold pids
	emptied []string // directories that are removed or moved
	makers  bool     // files remember who made them
	names   bool     // views show names that hold the pids of others
	sizes   bool     // the program is told sizes and link counts
	slept   bool     // it sleeps
	timed   bool     // it looks at the clock, which stands still
	reuses  bool     // inode numbers may come back
}

// An edge leads from a node with a result, both as process 101 has them.
type edge struct {
	from   uint32
	result *fsfake.Result
}

// New returns the system of a scenario. The error is a [Refused] where its setting is about more than any number of
// equal processes, their ends and kills.
func New(sc *scenarios.Scenario) (s *System, err error) {
	defer refused(&err)
	if why := settingOf(sc); why != "" {
		return nil, Refused{why}
	}
	s = &System{sc: sc, start: learn.Functions(sc), results: map[fsfake.Result]*fsfake.Result{}, told: map[uint32]int{},
		via: map[uint32]edge{}, known: map[edge]bool{}, reuses: sc.Setting.Assume.Inodes != scenarios.InodesNotReused}
	if s.a, err = learn.New(sc, s.start, 0, 1); err != nil {
		return nil, err
	}
	s.a.Intern = s.intern
	s.told[s.a.First()] = 0
	if s.a.First() >= learn.Start {
		s.seesNothing(s.a.Node(s.a.First()).Begins)
	}
	return s, nil
}

// settingOf says why a scenario is not asked, or nothing.
func settingOf(sc *scenarios.Scenario) string {
	st := &sc.Setting
	for _, c := range []struct {
		is  bool
		why string
	}{
		{sc.External, "it runs commands, of which only Go functions are proved so far"},
		{!st.Interchangeable, "its processes are not interchangeable, so there is no \"one more of them\""},
		{st.Tasks != nil, "a process has several tasks"},
		{len(st.Handlers) > 0, "a process has a signal handler"},
		{st.Stalls > 0 || len(st.Punctual) > 0 || len(st.Skew) > 0, "time passes: stalls, punctual processes or skewed " +
			"clocks"},
		{st.PowerLosses > 0, "the power may be lost"},
		{st.FailingCalls > 0, "calls may fail for an outside reason"},
		{len(st.Mortal) > 0, "only some processes may be killed"},
		{len(st.Users) > 0 || len(st.Containers) > 0, "processes have users or containers of their own"},
		{st.Assume.Sleeps == scenarios.SleepsLast, "sleeps last"},
	} {
		if c.is {
			return c.why
		}
	}
	return ""
}

func (s *System) intern(r fsfake.Result) *fsfake.Result {
	p, ok := s.results[r]
	if !ok {
		p = &r
		s.results[r] = p
	}
	return p
}

// begin is the configuration of n processes at the start.
func (s *System) begin(n int) Config {
	st := s.sc.Setting
	st.Processes = n
	sc, err := s.sc.In(st)
	if err != nil {
		panic(refusal(err.Error()))
	}
	m, err := sc.Start()
	if err != nil {
		panic(refusal(err.Error()))
	}
	if !m.CountsInodes() {
		panic(refusal("the setting fixes how inodes are numbered"))
	}
	snap, err := m.Snapshot()
	if err != nil {
		panic(refusal("at the start there is " + err.Error()))
	}
	c := Config{}
	s.kind, s.rest = m, nil
	for _, i := range snap.Inodes {
		if len(pidsIn(i.Data)) > 0 {
			panic(refusal("a file names a process before any of them has begun"))
		}
		for _, e := range i.Names {
			if len(pidsIn(e.Name)) > 0 {
				panic(refusal("a name at the start holds the pid of a process: " + e.Name))
			}
		}
		c.Inodes = append(c.Inodes, Inode{SnapshotInode: i})
	}
	for _, p := range snap.Procs {
		if _, ok := scenarios.ProcessOf(p.Pid); !ok {
			if len(p.FDs)+len(p.Records) > 0 || p.Cwd != root {
				panic(refusal("a process that the scenario does not run has something open"))
			}
			p.Seen = nil // it makes no call
			s.rest = append(s.rest, p)
			continue
		}
		if len(p.FDs) > 0 || len(p.Seen) > 0 || p.Cwd != root {
			panic(refusal("a process has something open before it begins"))
		}
		c.Procs = append(c.Procs, Proc{SnapshotProc: p, Full: true, Place: Place{Node: s.a.First()}})
	}
	return c
}

// A step is what can happen: a configuration, and whether an assertion failed on the way there.
type step struct {
	Config
	failed bool
}

// next visits what can happen when a full process makes a step, or is killed.
func (s *System) next(c *Config, pid int, visit func(step)) {
	p := c.proc(pid)
	if p.Dead {
		return
	}
	if s.sc.Setting.Crashes > 0 {
		s.ends(c, pid, visit)
	}
	nd := s.a.Node(p.Place.Node)
	if p.Place.Node == learn.Ended || nd.Ended {
		if !s.sc.Setting.Daemons {
			s.ends(c, pid, visit)
		}
		return
	}
	op := s.called(p, nd.Op)
	before := nd.Begins
	if before.By != (fsfake.Task{}) || before.OfFirst {
		panic(refusal("somebody else makes a call for the process"))
	}
	failed := before.Failed != "" && !p.Place.Begun
	if op.Call.Ends() {
		s.ends(c, pid, func(e step) { visit(step{e.Config, failed}) })
		return
	}
	m := c.machine(s.kind, s.rest)
	s.directories(m, op)
	r := m.Do(fsfake.Task{Pid: pid, N: 1}, op)
	switch {
	case r.Unmodelled != "":
		panic(refusal(r.Unmodelled))
	case r.Blocked:
		if !op.Call.IsLock() {
			panic(refusal("a call waits that asks for no lock: " + op.String()))
		}
		return // as if it had not asked yet
	}
	d := s.after(c, m, pid)
	if before.LetGo && !p.Place.Begun {
		lock, _ := model.LockOf(before.Input)
		d.proc(pid).letGo(lock)
	}
	s.answered(&d, pid, nd.Op, r, failed, visit)
	if s.reuses && r.Stat.Ino != 0 {
		s.sameNumber(c, &d, pid, r, func(e Config, r fsfake.Result) { s.answered(&e, pid, nd.Op, r, failed, visit) })
	}
}

// ends visits the configuration in which a process has ended, or was killed.
func (s *System) ends(c *Config, pid int, visit func(step)) {
	m := c.machine(s.kind, s.rest)
	m.KillProc(pid)
	d := s.after(c, m, pid)
	visit(step{Config: d})
}

// after is a configuration after a call of a process: the machine's files and processes, and what is known beside.
func (s *System) after(c *Config, m *fsfake.Machine, by int) Config {
	snap, err := m.Snapshot()
	if err != nil {
		panic(refusal("it needs " + err.Error()))
	}
	s.hides(m, &snap)
	d := Config{Inside: c.Inside}
	for _, n := range snap.Inodes {
		i := Inode{SnapshotInode: n}
		if was := c.inode(n.ID); was != nil {
			i.Maker = was.Maker
		} else if s.makers {
			i.Maker = by
		}
		if i.Maker != 0 && len(pidsIn(n.Data)) > 0 {
			i.Maker = 0 // whoever matters is in the text
		}
		d.Inodes = append(d.Inodes, i)
	}
	for i := range c.Procs {
		p := c.Procs[i]
		at := slices.IndexFunc(snap.Procs, func(o fsfake.SnapshotProc) bool { return o.Pid == p.Pid })
		switch {
		case at >= 0:
			p.SnapshotProc = snap.Procs[at]
		case !p.Dead:
			p.Dead, p.Place = true, Place{Node: learn.Gone}
			p.FDs, p.Seen, p.Records, p.Cwd, p.Pinned = nil, nil, nil, 0, false
			for j := range d.Inodes {
				if d.Inodes[j].Maker == p.Pid {
					d.Inodes[j].Maker = 0
				}
			}
		}
		d.Procs = append(d.Procs, p)
	}
	return d
}

// directories keeps which directories a call lists, removes or moves.
func (s *System) directories(m *fsfake.Machine, op fsfake.Op) {
	switch {
	case op.Call == fsfake.CallReaddir:
		s.listed = true
	case op.Call == fsfake.CallRmdir || op.Call == fsfake.CallRename:
		for _, p := range []string{op.Path, op.Path2} {
			if id, ok := m.LookupName(p); ok && m.View(id).Kind == fsfake.KindDir {
				s.emptied = append(s.emptied, m.Paths(id)...)
			}
		}
	}
}

// othersNamed is panicked with where a program may say a name that holds the pid of another process.
const othersNamed refusal = "a name that holds the pid of another process is used"

// sizeSeen is panicked with where a program looks at a size, and is not told sizes.
const sizeSeen refusal = "a size is looked at"

func (s *System) namesOthers() {
	if !s.names {
		panic(othersNamed)
	}
}

// hides refuses programs for which the answer of a call hangs on names that hold pids of processes that no view
// names: a directory with such names is listed, removed or moved. Directories are told apart by their paths, which is
// stricter.
func (s *System) hides(m *fsfake.Machine, snap *fsfake.Snapshot) {
	for i := range snap.Inodes {
		n := &snap.Inodes[i]
		if n.Kind == fsfake.KindSymlink && len(pidsIn(n.Data)) > 0 {
			s.namesOthers()
		}
		if slices.ContainsFunc(n.Names, func(e fsfake.SnapshotName) bool { return len(pidsIn(e.Name)) > 0 }) {
			s.pidDirs = append(s.pidDirs, m.Paths(n.ID)...)
		}
	}
	slices.Sort(s.pidDirs)
	s.pidDirs = slices.Compact(s.pidDirs)
	slices.Sort(s.emptied)
	s.emptied = slices.Compact(s.emptied)
	for _, dir := range s.pidDirs {
		if s.listed || slices.Contains(s.emptied, dir) {
			panic(refusal("names in " + dir + " hold pids, and a directory is listed, or this one removed or moved"))
		}
	}
}

// modelled are the calls whose answers hang on nothing but what views have.
var modelled = []fsfake.Call{
	fsfake.CallOpen, fsfake.CallStat, fsfake.CallLstat, fsfake.CallUnlink, fsfake.CallRename, fsfake.CallLink,
	fsfake.CallSymlink,
	fsfake.CallReadlink, fsfake.CallMkdir, fsfake.CallRmdir, fsfake.CallTruncate, fsfake.CallChmod, fsfake.CallRead,
	fsfake.CallPread,
	fsfake.CallWrite, fsfake.CallPwrite, fsfake.CallLseek, fsfake.CallClose, fsfake.CallGetfd, fsfake.CallSetfd,
	fsfake.CallGetfl,
	fsfake.CallFstat, fsfake.CallFtruncate, fsfake.CallFchmod, fsfake.CallFsync, fsfake.CallFlock, fsfake.CallSetlk,
	fsfake.CallOFDSetlk, fsfake.CallGetlk, fsfake.CallOFDGetlk, fsfake.CallReaddir, fsfake.CallNow,
	fsfake.CallKill, fsfake.CallStartTime, fsfake.CallExit, fsfake.CallEnd, fsfake.CallSleep, fsfake.CallWork,
	fsfake.CallGetcwd,
}

// called is a call of the automaton as a process makes it.
func (s *System) called(p *Proc, op fsfake.Op) fsfake.Op {
	if !slices.Contains(modelled, op.Call) || op.Ways() > 1 {
		panic(refusal("the call is not modelled for any number of processes: " + op.String()))
	}
	if op.Call == fsfake.CallFlock {
		if op.Flags&^fsfake.LOCK_NB == fsfake.LOCK_SH {
			panic(refusal("a lock is shared: " + op.String()))
		}
		if op.Flags&fsfake.LOCK_NB == 0 && slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool {
			return f.FD == op.FD && f.Flock == fsfake.LOCK_SH
		}) {
			panic(refusal("a shared lock is converted: " + op.String()))
		}
	}
	s.slept, s.timed = s.slept || op.Call == fsfake.CallSleep, s.timed || op.Call == fsfake.CallNow
	if s.slept && s.timed {
		panic(refusal("the program sleeps and looks at the clock, so time passes"))
	}
	record := op.Call == fsfake.CallSetlk || op.Call == fsfake.CallOFDSetlk
	switch {
	case record && op.Flags == fsfake.F_RDLCK:
		panic(refusal("a record lock is shared: " + op.String()))
	case record && op.Wait && len(p.Records) > 0: // who waits with none is in no cycle of waits
		panic(refusal("a process waits for a record lock and has another, which may be a deadlock (EDEADLK): " + op.String()))
	}
	real := func(q int) int {
		if q == low {
			return p.Pid
		}
		if i := q - low - 1; i < len(p.Place.Told) {
			return p.Place.Told[i]
		}
		panic(refusal("it names a process that it was not told of: " + op.String()))
	}
	if slices.ContainsFunc(pidsIn(op.Path+" "+op.Path2), func(q int) bool { return q != low }) {
		s.namesOthers()
	}
	op.Path, op.Path2, op.Data = renamed(op.Path, real), renamed(op.Path2, real), renamed(op.Data, real)
	if _, ok := scenarios.ProcessOf(op.Pid); ok {
		op.Pid = real(op.Pid)
	}
	return op
}

// seesNothing refuses a program that looks at what views do not have.
func (s *System) seesNothing(e learn.Effects) {
	switch {
	case e.TimeSeen || e.ClockSeen || e.TimersLast || e.TimedWait:
		panic(refusal("the program looks at a file time or at the clock"))
	case e.NumberSeen:
		panic(refusal("the program gets hold of an inode number itself, and may do more than compare it"))
	case e.Mapped || e.OneOrder:
		panic(refusal("the program maps a file, or has threads"))
	}
}

// answered visits where the program goes on after an answer to the call asked, which is as the automaton has it.
func (s *System) answered(d *Config, pid int, asked fsfake.Op, r fsfake.Result, failed bool, visit func(step)) {
	c := d.clone()
	p := c.proc(pid)
	at := p.Place
	p.Place.Told = slices.Clone(at.Told)
	told := func(q int) int {
		if q == pid {
			return low
		}
		k := slices.Index(p.Place.Told, q)
		if k < 0 {
			k = len(p.Place.Told)
			p.Place.Told = append(p.Place.Told, q)
		}
		if k+1 >= scenarios.MaxProcesses {
			panic(refusal("a process is told of ever more others"))
		}
		return low + 1 + k
	}
	r.Data = renamed(r.Data, told)
	r = retold(asked.Call, r, told)
	if !s.sizes {
		r.Stat.Size, r.Stat.Nlink = 0, 0
	}
	via := edge{at.Node, s.intern(r)}
	e, err := s.a.Learn(at.Node, via.result)
	if err != nil {
		panic(refusal(err.Error()))
	}
	if e.Effects.SizeSeen && !s.sizes {
		panic(sizeSeen)
	}
	s.seesNothing(e.Effects)
	p.Place.Node, p.Place.Begun = e.To&^learn.Begun, e.To&learn.Begun != 0
	s.remember(via, p)
	s.forget(&c, pid, via, &e)
	if out, ok := e.Effects.Output.(model.Acquired); ok && e.Effects.Returned && out.OK && (!e.Effects.Holds ||
		out.Shared) {
		panic(refusal("a lock is joined, or acquired without a note of it"))
	}
	if s.reuses {
		c.apart(d, pid)
	}
	if e.Effects.Holds {
		c.holds(s, pid, e.Effects.Holding)
	}
	visit(step{Config: c, failed: failed || e.Effects.Failed != ""})
}

// retold is a result, but for its text, with other processes in it.
func retold(call fsfake.Call, r fsfake.Result, to func(int) int) fsfake.Result {
	if _, ok := scenarios.ProcessOf(r.Lock.Pid); ok {
		r.Lock.Pid = to(r.Lock.Pid)
	}
	if pid := int(r.N-startOf(low)) + low; call == fsfake.CallStartTime && r.OK() {
		if _, ok := scenarios.ProcessOf(pid); ok {
			r.N = startOf(to(pid))
		}
	}
	return r
}

// remember keeps how a node was reached, and cuts whom a process was told of to what the node was told: a
// round of a retry loop carries nothing over.
func (s *System) remember(via edge, p *Proc) {
	if !s.known[via] {
		s.known[via] = true
		s.edges = append(s.edges, via)
	}
	n := p.Place.Node
	if n <= learn.Ended {
		p.Place.Told = nil
		return
	}
	if k, ok := s.told[n]; ok {
		if k > len(p.Place.Told) {
			panic(refusal("a loop leads to a place that knows more"))
		}
		p.Place.Told = p.Place.Told[:k]
		return
	}
	s.told[n], s.via[n] = len(p.Place.Told), via
}

// forget has a process forget inode numbers that it cannot use any more.
func (s *System) forget(c *Config, pid int, via edge, e *learn.Edge) {
	keep, fewer := s.a.Forgets(via.from, via.result, e)
	if !fewer || keep == learn.All {
		return
	}
	m := c.machine(s.kind, s.rest)
	m.ForgetInodes(pid, uint64(keep))
	*c = s.after(c, m, pid)
}

// sameLock reports whether two names may be one lock's: one without a name may be any.
func sameLock(a, b string) bool { return a == b || a == "" || b == "" }

// letGo ends the hold of a lock.
func (p *Proc) letGo(lock string) {
	hs := slices.Clone(p.Place.Holds)
	for i := range hs {
		if hs[i].Lock == lock {
			hs = slices.Delete(hs, i, i+1)
			break
		}
	}
	p.Place.Holds = hs
}

// holds notes that a process has acquired a lock, whose object is what it has open or what stands at the path.
func (c *Config) holds(s *System, pid int, h scenarios.Holding) {
	p := c.proc(pid)
	real := func(q int) int {
		if q == low {
			return pid
		}
		if i := q - low - 1; i < len(p.Place.Told) {
			return p.Place.Told[i]
		}
		panic(refusal("a lock is named after a process: " + h.Lock))
	}
	n := Hold{Lock: renamed(h.Lock, real), Path: renamed(h.Path, real), Inode: fsfake.Gone}
	if h.Path != "" {
		m := c.machine(s.kind, s.rest)
		if id, ok := m.FDInode(pid, h.FD); ok && h.FD >= 0 {
			n.Inode = id
		} else if id, ok := m.LookupName(n.Path); ok {
			n.Inode = id
		}
	}
	hs := slices.Clone(p.Place.Holds)
	if slices.ContainsFunc(hs, func(o Hold) bool { return sameLock(o.Lock, n.Lock) }) {
		panic(refusal("a process acquires a lock that it holds: " + h.Lock))
	}
	hs = append(hs, n)
	slices.SortFunc(hs, func(a, b Hold) int { return cmp.Compare(a.Lock, b.Lock) })
	p.Place.Holds = hs
}

// follow is the path of edges from the start to an edge.
func (s *System) follow(e edge) (path []edge, err error) {
	for path = []edge{e}; path[0].from != s.a.First(); {
		via, ok := s.via[path[0].from]
		if !ok {
			return nil, fmt.Errorf("no path leads to node %d", path[0].from)
		}
		path = slices.Insert(path, 0, via)
	}
	return path, nil
}
