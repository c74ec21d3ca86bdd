package command

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Study is what a survey asks of a command about one hazard.
type Study struct {
	Hazard scenarios.Hazard
	// Situations are asked in this order, small ones first.
	Situations []Situation
	// Of are hazards whose situations are asked again on each of On, file systems, as far as what they ask
	// holds on none in particular.
	Of, On []string
	// NotAsked says why there is no situation; empty when there are some.
	NotAsked string
}

// A Situation is a command in a setting, and what is asked there.
type Situation struct {
	// Name is what the situation is called, "contention-2"; Summary says it in one sentence.
	Name, Summary string
	Spec          Spec
	// Asked are the ids of properties, as far as [Spec.Readings] claims them.
	Asked []string
	// Apart: it is asked also where the hazard has broken something else, as it is about other things: what is left of
	// files.
	Apart bool
}

// surveyID begins the ids of a survey's scenarios, as [scenarios.Surveyed] knows them.
const surveyID = "run/commands/survey-"

// surveyAge is how long ago whoever left something behind was killed: past every age rule.
const surveyAge = 48 * time.Hour

// ownerNumber is the process that leaves something behind: of the commands of a survey nobody else has its pid.
const ownerNumber = 3

// On returns the situation on a file system.
func (s Situation) On(name string) Situation {
	s.Name += "-on-" + name
	s.Spec.ID = surveyID + s.Name
	s.Spec.Machine.Profile = scenarios.ProfileOf(name)
	return s
}

// Survey makes the situations that are dangerous to locks from one command alone, hazard by hazard, in the
// order of [scenarios.Hazards]. All share one record of what the command does. Asked are what is left behind
// (serializable), deadlock, whether one more run gets through (wedge), and with Inside mutual exclusion:
//
//   - contention: two and three runs of the command, and two on what a run leaves behind, if that has other
//     names than the start;
//   - dead-owner: a run that is killed at any of its calls, and one more after it; and, for each directory that
//     it leaves, two runs two days later;
//   - crash: two and three runs, of which one may be killed at any call;
//   - pid-reuse: as dead-owner, and the pid of the killed run is an unrelated process's, where what it leaves
//     has that pid in it, in decimals;
//   - power-loss: one run, and the power may be lost at any call;
//   - failing-call: one and two runs, and one call of a command may find no space left, where one needs any;
//   - file-system: contention and dead-owner again, on each of [scenarios.FileSystems].
//
// Where one run may be killed, lose the power or find no space left, what is left of its files is asked as well
// (atomic, durable).
//
// A run that is made again is another process; three runs have among their schedules those in which one begins
// when another has ended. The error says what is wrong with the spec, or that its one command does not get
// through alone.
func (s Spec) Survey() ([]Study, error) {
	s.Dir = cmp.Or(s.Dir, defaultDir)
	switch {
	case len(s.Commands) == 0 || !s.sameCommands() || s.Commands[0].Func != nil:
		return nil, errors.New("command: a survey is of one command: it makes the others")
	case len(s.Changed(scenarios.Setting{Assume: s.Assume})) > 0 || s.Left || s.Living != nil:
		return nil, errors.New("command: a survey makes its own settings: " +
			"leave out crashes, failing calls, losses of power, file systems, left and living")
	}
	s.Commands = s.Commands[:1]
	s.Share()
	left, after, err := s.leftovers()
	if err != nil {
		return nil, err
	}
	var out []Study
	for _, h := range scenarios.Hazards() {
		st := s.study(h, left, after)
		if len(st.Situations) == 0 && st.Of == nil && st.NotAsked == "" {
			st.NotAsked = "no situation of it is made of commands"
		}
		out = append(out, st)
	}
	return out, nil
}

// study makes what is asked about one hazard. after is what a run leaves, nil when its names are those of the
// start.
func (s *Spec) study(h scenarios.Hazard, left []leftover, after []File) Study {
	st := Study{Hazard: h}
	add := func(name, summary string, n int, change func(*Spec), asked ...string) {
		one := Situation{Name: name, Summary: summary, Spec: *s}
		one.Spec.ID, one.Spec.Commands = surveyID+name, slices.Repeat(s.Commands, n)
		change(&one.Spec)
		one.Asked = slices.DeleteFunc(asked, func(id string) bool { return id == "" })
		st.Situations = append(st.Situations, one)
	}
	as := func(*Spec) {}
	excl, serial, wedge, stuck := "", scenarios.Serializable.ID, scenarios.Wedge.ID, scenarios.Deadlock.ID
	data := func(name, summary string, change func(*Spec)) {
		add(name+"-data", summary, 1, change, "atomic", "durable")
		st.Situations[len(st.Situations)-1].Apart = true
	}
	if s.Inside != "" {
		excl = scenarios.MutualExclusion.ID
	}
	switch h.ID {
	case scenarios.HazardContention:
		add("contention-2", "Two runs of the command.", 2, as, excl, serial, stuck)
		if after != nil {
			add("contention-again", "Two runs of the command, on what an earlier one leaves.", 2, func(o *Spec) { o.Files, o.done = after, true }, excl, serial, stuck)
		}
		add("contention-3", "Three runs of the command.", 3, as, excl, serial, stuck)
	case scenarios.HazardThreads:
		st.NotAsked = "two runs of a command are two processes; its own threads run side by side in every situation"
	case scenarios.HazardDeadOwner:
		add("dead-owner-alone", "The command is killed, and nobody else comes but one more run.", 1, func(o *Spec) { o.Crashes = 1 }, wedge)
		for _, l := range left {
			add("dead-owner-"+l.name(), l.summary("is dead", "two runs come"), 2, l.starts(), excl, serial)
		}
	case scenarios.HazardCrash:
		for n := 2; n <= 3; n++ {
			add(fmt.Sprintf("crash-%d", n), fmt.Sprintf("%d runs of the command, and one may be killed.", n), n, func(o *Spec) { o.Crashes = 1 }, excl, wedge, serial)
		}
		data("crash", "The command may be killed.", func(o *Spec) { o.Crashes = 1 })
	case scenarios.HazardExit:
		st.NotAsked = "a run ends by itself in every situation, and its pid is dead from then on"
	case scenarios.HazardStall:
		st.NotAsked = "run with --stalls 1 asks it"
	case scenarios.HazardClock:
		st.NotAsked = "run with --skew 0s,90s asks it"
	case scenarios.HazardSignal:
		st.NotAsked = "no signal that a command handles is sent; crash has the one that none can"
	case scenarios.HazardPidReuse:
		st.NotAsked = "no run that is killed leaves its pid behind, in decimals"
		for _, l := range left {
			if l.names(scenarios.Pid(ownerNumber)) {
				st.NotAsked = ""
				lives := l.starts(scenarios.Pid(ownerNumber))
				add("pid-reuse-"+l.name()+"-alone", l.summary("is an unrelated process's", "one run comes, and one more"), 1, lives, wedge)
				add("pid-reuse-"+l.name(), l.summary("is an unrelated process's", "two runs come"), 2, lives, excl, serial)
			}
		}
	case scenarios.HazardPidNamespace:
		st.NotAsked = "what starts other programs in a pid namespace of its own is not modelled"
	case scenarios.HazardHostName:
		st.NotAsked = "the name of the host is the real one's, and there is one"
	case scenarios.HazardPowerLoss:
		add("power-loss-1", "The power may be lost, and one more run comes.", 1, func(o *Spec) { o.PowerLosses = 1 }, wedge)
		data("power-loss", "The power may be lost.", func(o *Spec) { o.PowerLosses = 1 })
	case scenarios.HazardFileSystem:
		st.Of, st.On = []string{scenarios.HazardContention, scenarios.HazardDeadOwner}, scenarios.FileSystems()
	case scenarios.HazardFailingCall:
		if !s.space {
			st.NotAsked = "no call of the command needs space on the disk"
			break
		}
		fails := func(o *Spec) { o.FailingCalls = 1 }
		add("failing-call-1", "A call may find no space left, and one more run comes.", 1, fails, wedge)
		data("failing-call", "A call may find no space left.", fails)
		add("failing-call-2", "Two runs of the command, of which a call may find no space left.", 2, fails, excl, wedge)
	}
	return st
}

// A leftover is what a run leaves that was killed after so many calls.
type leftover struct {
	calls int
	files []File
}

func (l leftover) name() string { return strconv.Itoa(l.calls) }

func (l leftover) summary(pid, then string) string {
	return fmt.Sprintf("A run was killed before its call %d; two days later its pid %s; %s.", l.calls+1, pid, then)
}

// starts makes it the start, where processes with the given pids live.
func (l leftover) starts(living ...int) func(*Spec) {
	return func(o *Spec) { o.Files, o.Left, o.Living = l.files, true, living }
}

// names reports whether a pid stands in what is left behind.
func (l leftover) names(pid int) bool {
	return slices.ContainsFunc(l.files, func(f File) bool {
		return slices.Contains(decimals.FindAllString(f.Name+" "+f.Link+" "+f.Content, -1), strconv.Itoa(pid))
	})
}

// leftovers lists what a run leaves that is killed, in the order of its calls, each directory once and none
// that is there without; and what one leaves that ends, nil when that has the names of the start.
func (s *Spec) leftovers() (left []leftover, after []File, err error) {
	first, owner := *s, *s
	sc, err := first.bare()
	if err != nil {
		return nil, nil, err
	}
	if err := first.validate(); err != nil {
		return nil, nil, err
	}
	sc.Program = first.program
	before := s.filesOf(sc.NewMachine())
	end := sc.NewMachine()
	if _, err := first.alone(&sc, end, 0, true, nil, never, nil); err != nil {
		return nil, nil, err
	}
	if files := s.filesOf(end); namesIn(files) != namesIn(before) {
		after = files
	}
	if again, err := first.repeats(&sc); err != nil {
		return nil, nil, err
	} else {
		s.again = &again
	}
	owner.Crashes, owner.Commands = 1, slices.Repeat(s.Commands, ownerNumber+1)
	if sc, err = owner.bare(); err != nil {
		return nil, nil, err
	}
	start := sc.NewMachine()
	ran, err := owner.alone(&sc, start.Clone(), ownerNumber, false, nil, never, nil)
	if err != nil {
		return nil, nil, err
	}
	seen := [][]File{s.filesOf(start), s.filesOf(end)} // what is left at an end is for contention to show
	for at := range ran.before {
		st := &ran.steps[at]
		s.space = s.space || ran.before[at].m.CanFail(st.task(ownerNumber), st.Op, fsfake.ENOSPC)
		cuts, err := owner.killedBefore(&sc, start, ownerNumber, ran, at, nil)
		if errors.Is(err, errManyOrders) { // what it has started races, and one end of that is enough here
			err = nil
		}
		if err != nil {
			return nil, nil, err
		}
		for _, m := range cuts {
			files := s.filesOf(m)
			if !slices.ContainsFunc(seen, func(f []File) bool { return slices.Equal(f, files) }) {
				seen = append(seen, files)
				left = append(left, leftover{at, markImage(slices.Clone(files), seen[0])})
			}
		}
	}
	return left, after, nil
}

// filesOf lists what is in the directory of a machine, older than it is by [surveyAge].
func (s *Spec) filesOf(m *fsfake.Machine) (out []File) {
	names := map[fsfake.InodeID]string{}
	for _, n := range m.Tree() {
		if !s.owns(n.Path) {
			continue
		}
		name := s.named(n.Path)
		if n.Path == s.Dir {
			name = "."
		}
		v := m.View(n.ID)
		f := File{Name: name, Mode: modeOf(v.Mode), Age: surveyAge + begin.Sub(time.Unix(0, v.Mtime))}
		switch {
		case names[n.ID] != "":
			f.Same = names[n.ID]
		case v.Kind == fsfake.KindDir:
			f.Name += "/"
		case v.Kind == fsfake.KindSymlink:
			f.Link = v.Target
		case v.Kind == fsfake.KindFIFO, v.Kind == fsfake.KindSocket:
			f.Node = v.Kind
		default:
			f.Content = v.Content
		}
		if n.Path == s.Dir && f.Mode == 0o777 {
			continue // as it is where nobody says
		}
		names[n.ID] = path.Clean(name)
		out = append(out, f)
	}
	return out
}

// markImage marks the files that are as before. A directory stays the same one when something in it changes.
func markImage(files, before []File) []File {
	for i, f := range files {
		files[i].Image = slices.ContainsFunc(before, func(b File) bool {
			return b == f || b.Name == f.Name && strings.HasSuffix(f.Name, "/")
		})
	}
	return files
}

// namesIn are the names of files, in a text.
func namesIn(files []File) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return strings.Join(names, "\n")
}
