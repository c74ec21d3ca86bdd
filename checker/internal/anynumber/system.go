package anynumber

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

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
	timed   bool     // it looks at the clock or at file times
	reuses  bool     // inode numbers may come back
	why     refusal  // the first, or nothing
	calls   uint32   // the node of the last call that was made; 0 before there is one
}

// An edge leads from a node with a result, both as process 101 has them.
type edge struct {
	from   uint32
	result *fsfake.Result
}

// New returns the system of a scenario. The error is a [Refused] where its setting is about more than any number of
// equal processes, their ends and kills.
func New(sc *scenarios.Scenario) (s *System, err error) {
	if why := settingOf(sc); why != "" {
		return nil, Refused{why}
	}
	s = &System{sc: sc, start: learn.Functions(sc), results: map[fsfake.Result]*fsfake.Result{}, told: map[uint32]int{},
		via: map[uint32]edge{}, known: map[edge]bool{}, reuses: sc.Setting.Assume.Inodes != scenarios.InodesNotReused}
	if s.a, err = learn.New(sc, s.start, 0, 1); err != nil {
		return nil, err
	}
	s.told[s.a.First()] = 0
	if s.a.First() >= learn.Start {
		s.seesNothing(s.a.Node(s.a.First()).Begins)
	}
	return s, s.refused()
}

// settingOf says why a scenario is not asked, or nothing.
func settingOf(sc *scenarios.Scenario) string {
	st := &sc.Setting
	for _, c := range []struct {
		is  bool
		why string
	}{
		{sc.External, "it runs commands, of which only Go functions are proved so far"},
		{!st.Alike(), "its processes have roles of their own, so there is no \"one more of them\""},
		{st.Tasks != nil, "a process has several tasks"},
		{len(st.Handlers) > 0, "a process has a signal handler"},
		{st.Stalls > 0, "the clock may jump"},
		{len(st.Punctual)+len(st.Skew) > 0, "processes are never delayed, or their clocks differ from the disk's"},
		{len(st.Mortal) > 0, "only some processes may be killed"},
		{st.PowerLosses > 0, "the power may be lost"},
		{st.FailingCalls > 0, "calls may fail for an outside reason"},
		{len(st.Users) > 0 || len(st.Containers) > 0, "the processes run as another user, or in containers"},
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
		s.refuse(err.Error())
		return Config{}
	}
	m, err := sc.Start()
	if err != nil {
		s.refuse(err.Error())
		return Config{}
	}
	if !m.CountsInodes() {
		s.refuse("the setting fixes how inodes are numbered")
	}
	snap, err := m.Snapshot()
	if err != nil {
		s.refuse("at the start there is " + err.Error())
		return Config{}
	}
	c := Config{}
	s.kind, s.rest = m, nil
	for _, i := range snap.Inodes {
		if len(pidsIn(i.Data)) > 0 {
			s.refuse("a file names a process before any of them has begun")
		}
		for _, e := range i.Names {
			if len(pidsIn(e.Name)) > 0 {
				s.refuse("a name at the start holds the pid of a process: " + e.Name)
			}
		}
		c.Inodes = append(c.Inodes, Inode{SnapshotInode: i})
	}
	for _, p := range snap.Procs {
		if _, ok := scenarios.ProcessOf(p.Pid); !ok {
			if len(p.FDs)+len(p.Records) > 0 || p.Cwd != root {
				s.refuse("a process that the scenario does not run has something open")
			}
			p.Seen = nil // it makes no call
			s.rest = append(s.rest, p)
			continue
		}
		if len(p.FDs) > 0 || len(p.Seen) > 0 || p.Cwd != root {
			s.refuse("a process has something open before it begins")
		}
		c.Procs = append(c.Procs, Proc{SnapshotProc: p, Full: true, Place: Place{Node: s.a.First()}})
	}
	return c
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
