package scenarios

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
)

// A Subject is a lock protocol alone, without a situation: what [Survey] needs.
type Subject struct {
	// ID is system/variant. The scenarios that are made are called system/variant/survey-….
	ID   string
	Lock Protocol
	// Setting has the Concurrency, Machine and Assume of all situations; what else there is in a setting they say.
	Setting Setting
	// Setup makes what must be there before the lock is used. Nil makes the directory of
	// the lock's path.
	Setup func(m *fsfake.Machine)
	// Watch lists further files that a timeline shows, after the lock.
	Watch []string
	// Update changes the files of Data while the lock is held, and returns an error if it could not; Setup makes
	// them. Nil: nothing is asked of files but the lock.
	Update func(t *Task) error
	// Data lists the files that Update changes, as patterns of package path: [Atomic] and [Durable] judge them.
	Data []string
	// Handler is the signal handler that belongs to the lock, such as a trap that removes it; nil
	// where there is none.
	Handler Program
}

// A Study is what a survey asks about one hazard.
type Study struct {
	Hazard Hazard
	// Scenarios are the situations, small ones first. What each claims is what one wishes:
	// that every property asked holds.
	Scenarios []Scenario
	// On are file systems on each of which the scenarios are asked, as far as what they ask does not break
	// without: what breaks anyway is another hazard's to tell.
	On []string
	// NotAsked says why there is no scenario; empty when there are some.
	NotAsked string
}

// surveyPrefix begins the names of the settings that a survey makes.
const surveyPrefix = "survey-"

// Surveyed reports whether an id is that of a scenario that [Survey] makes.
func Surveyed(id string) bool {
	sc := Scenario{ID: id}
	return strings.HasPrefix(sc.SettingName(), surveyPrefix)
}

// FindSurveyed makes the scenario of a survey that an id names, of a protocol of one in a list; false when there is
// none.
func FindSurveyed(list []Scenario, id string) (Scenario, bool) {
	wanted := Scenario{ID: id}
	i := slices.IndexFunc(list, func(sc Scenario) bool {
		return sc.Subject != nil && sc.Subject.ID == wanted.System()+"/"+wanted.Variant()
	})
	if !Surveyed(id) || i < 0 {
		return Scenario{}, false
	}
	studies, err := Survey(*list[i].Subject)
	if err != nil {
		return Scenario{}, false
	}
	for _, st := range studies {
		for _, sc := range st.Scenarios {
			if sc.ID == id {
				return sc, true
			}
		}
	}
	return Scenario{}, false
}

// surveyLong is how far the clock jumps in a survey: past every lease and age rule.
const surveyLong = 48 * time.Hour

// maxOwnerCalls bounds the calls of the owner that is killed before the start: who is
// alone and makes more of them polls for ever.
const maxOwnerCalls = 200

// Survey makes the situations that are dangerous to locks from a protocol alone, hazard by
// hazard, in the order of [Hazards]. Asked are mutual exclusion, deadlock, and whether a
// fresh process still gets through when everybody has ended or died (wedge). Where the subject has an Update, one
// process makes it in the hazards crash, power-loss and failing-call, and it is asked what is left of the files
// (atomic, durable):
//
//   - contention: two and three processes, once; two processes, twice each;
//   - threads: two tasks of one process, and another process;
//   - dead-owner: the lock as an owner leaves it that is killed, for each step of its
//     acquisition, its work and its release; two days pass, and two processes come, or
//     nobody but the fresh process (who polls for ever never ends, and then nobody is asked);
//   - crash: two and three processes, of which one may be killed at any step;
//   - exit: processes end when they have released, and their pids are dead from then on;
//     one ends without a release;
//   - stall: two processes, and the clock may jump by two days at any step, so that
//     whoever is in the middle of something, holder or contender, has stood still;
//   - pid-reuse: as dead-owner, and the dead owner's pid is an unrelated process's;
//   - pid-namespace: processes in a container each, with equal pids, and with different ones;
//   - power-loss: one process, and the power may be lost at any step;
//   - failing-call: where the subject has an Update, one process, and any call of it may fail;
//   - signal: two and three processes, of which one may get a signal, where the subject has a handler;
//   - file-system: contention and dead owners again, on each of [FileSystems], where whatever is there at the
//     start is an overlay's image.
//
// The error says what is missing from the subject, or what its owner could not do alone.
func Survey(s Subject) ([]Study, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Setup == nil {
		s.Setup = s.directory
	}
	left, err := s.leftovers()
	if err != nil {
		return nil, err
	}
	var out []Study
	for _, h := range Hazards() {
		study := s.study(h, left)
		for i := range study.Scenarios {
			sc := &study.Scenarios[i]
			sc.Entry.Hazard = h.ID
			if err := sc.Validate(); err != nil {
				return nil, err
			}
		}
		out = append(out, study)
	}
	return out, nil
}

func (s *Subject) validate() error {
	switch {
	case strings.Count(s.ID, "/") != 1 || strings.HasPrefix(s.ID, "/") || strings.HasSuffix(s.ID, "/"):
		return fmt.Errorf("scenarios: a survey of %q: the id must be system/variant", s.ID)
	case s.Lock.Acquire == nil || s.Lock.Release == nil:
		return fmt.Errorf("scenarios: a survey of %s: give the protocol's Acquire and its Release", s.ID)
	case (s.Update == nil) != (len(s.Data) == 0):
		return fmt.Errorf("scenarios: a survey of %s: give Update and Data together: Data lists the files that "+
			"Update changes", s.ID)
	case !path.IsAbs(s.Lock.Path):
		return fmt.Errorf("scenarios: a survey of %s: give the protocol's Path, absolute, and not %q", s.ID, s.Lock.Path)
	case !reflect.DeepEqual(s.Setting, Setting{
		Concurrency: s.Setting.Concurrency, Machine: s.Setting.Machine, Assume: s.Setting.Assume}):
		return fmt.Errorf("scenarios: a survey of %s: give Concurrency, Machine and Assume only in the subject's "+
			"Setting: the rest is what the situations ask", s.ID)
	}
	return nil
}

// study makes what is asked about one hazard.
func (s *Subject) study(h Hazard, left []leftover) Study {
	st := Study{Hazard: h}
	once, twice := s.times(1), s.times(2)
	add := func(name, summary string, setting Setting, program Program, asked ...*Property) *Scenario {
		st.Scenarios = append(st.Scenarios, s.scenario(name, summary, setting, program, asked))
		return &st.Scenarios[len(st.Scenarios)-1]
	}
	data := func(name, may string, setting Setting, asked ...*Property) {
		if s.Update == nil {
			return
		}
		setting.Processes = 1
		sc := add(name+"-data", "One process changes files under the lock, and "+may+".", setting, s.updates(), asked...)
		sc.Data = s.Data
		for _, name := range s.Data {
			if !strings.ContainsAny(name, `*?[\`) {
				sc.Watch = append(sc.Watch, name)
			}
		}
	}
	alive := func(n int) Setting { return Setting{Processes: n, Daemons: true} }
	switch h.ID {
	case HazardContention:
		add("contention-2", "Two processes want the lock, once.", alive(2), once, MutualExclusion, Deadlock, Wedge)
		add("contention-twice", "Two processes want the lock, twice each.", alive(2), twice, MutualExclusion, Deadlock, Wedge)
		add("contention-3", "Three processes want the lock, once.", alive(3), once, MutualExclusion, Deadlock, Wedge)
	case HazardThreads:
		two := alive(1)
		two.Tasks = []int{2}
		add("threads-2", "Two tasks of one process want the lock.", two, once, MutualExclusion, Deadlock)
		peer := alive(2)
		peer.Tasks = []int{2, 1}
		add("threads-3", "Two tasks of one process want the lock, and another process.", peer, once, MutualExclusion, Deadlock)
	case HazardDeadOwner:
		for _, l := range left {
			add("dead-owner-"+l.name()+"-alone", l.summary("is dead", "nobody else comes"), alive(1), idle, Wedge).Setup = s.after(l, false)
			add("dead-owner-"+l.name(), l.summary("is dead", "two processes come"), alive(2), once, MutualExclusion, Wedge).Setup = s.after(l, false)
		}
	case HazardCrash:
		for n := 2; n <= 3; n++ {
			crash := alive(n)
			crash.Crashes = 1
			add(fmt.Sprintf("crash-%d", n), fmt.Sprintf("%d processes want the lock, and one may be killed.", n), crash, once, MutualExclusion, Wedge)
		}
		data("crash", "may be killed", Setting{Crashes: 1}, Atomic)
	case HazardExit:
		add("exit-2", "Two processes want the lock, and end.", Setting{Processes: 2}, once, MutualExclusion)
		add("exit-holding", "Who has the lock ends without a release.", Setting{Processes: 1}, s.forgets(), Wedge)
		add("exit-3", "Three processes want the lock, and end.", Setting{Processes: 3}, once, MutualExclusion)
	case HazardStall:
		stall := alive(2)
		stall.Stalls, stall.StallFor = 1, surveyLong
		add("stall-2", "Two processes want the lock, and two days may pass at any step.", stall, once, MutualExclusion, Wedge)
	case HazardClock:
		ahead, behind, back := alive(2), alive(2), alive(2)
		ahead.Skew, behind.Skew = []time.Duration{0, surveyLong}, []time.Duration{0, -surveyLong}
		back.Stalls, back.StallFor = 1, -surveyLong
		add("clock-ahead", "Two hosts want the lock, and the clock of the second is two days ahead.", ahead, once, MutualExclusion)
		add("clock-behind", "Two hosts want the lock, and the clock of the second is two days behind.", behind, once, MutualExclusion)
		add("clock-set-back", "Two processes want the lock, and the clock may be set back by two days at any step.", back, once, MutualExclusion, Wedge)
	case HazardPidReuse:
		for _, l := range left {
			const other = "is an unrelated process's"
			add("pid-reuse-"+l.name()+"-alone", l.summary(other, "nobody else comes"), alive(1), idle, Wedge).Setup = s.after(l, true)
			add("pid-reuse-"+l.name(), l.summary(other, "two processes come"), alive(2), once, MutualExclusion, Wedge).Setup = s.after(l, true)
		}
	case HazardPowerLoss:
		add("power-loss-1", "One process wants the lock, and the power may be lost.", Setting{Processes: 1, Daemons: true, PowerLosses: 1}, once, Wedge)
		data("power-loss", "the power may be lost", Setting{PowerLosses: 1}, Atomic, Durable)
	case HazardFileSystem:
		for _, of := range []string{HazardContention, HazardDeadOwner} {
			st.Scenarios = append(st.Scenarios, s.study(Hazard{ID: of}, left).Scenarios...)
		}
		st.On = FileSystems()
	case HazardPidNamespace:
		same, apart := alive(3), alive(2)
		same.Containers, apart.Containers = []int{1, 1, 1}, []int{1, 2}
		add("pid-namespace-same", "Three containers with one host name, whose processes have one pid, want the lock.", same, once, MutualExclusion, Deadlock)
		add("pid-namespace-apart", "Two containers with one host name want the lock; neither knows the other's pid.", apart, once, MutualExclusion, Deadlock)
	case HazardFailingCall:
		if data("failing-call", "a call of it may fail", Setting{FailingCalls: 1}, Atomic); s.Update == nil {
			st.NotAsked = "a port must handle errors like the original: see --failing-calls"
		}
	case HazardSignal:
		if s.Handler == nil {
			st.NotAsked = "the lock comes without a signal handler"
			break
		}
		for n := 2; n <= 3; n++ {
			signal := alive(n)
			signal.Signals = 1
			for i := range n {
				signal.Handlers = append(signal.Handlers, i)
			}
			sc := add(fmt.Sprintf("signal-%d", n), fmt.Sprintf("%d processes want the lock, and one may get a signal.", n), signal, once, MutualExclusion, Wedge)
			sc.Program = func(process, task int) Program {
				if signal.IsHandler(process, task) {
					return s.Handler
				}
				return once
			}
		}
	case HazardHostName:
		st.NotAsked = "host names are constants of the protocol: write a scenario with two"
	}
	switch {
	case len(st.Scenarios) > 0 || st.NotAsked != "":
	case h.ID == HazardDeadOwner || h.ID == HazardPidReuse:
		st.NotAsked = "an owner that is killed leaves nothing behind"
	default:
		st.NotAsked = "no situation of it is made of a protocol"
	}
	return st
}

// scenario is one situation of the subject.
func (s *Subject) scenario(name, summary string, setting Setting, program Program, asked []*Property) Scenario {
	setting.Concurrency, setting.Machine, setting.Assume = s.Setting.Concurrency, s.Setting.Machine, s.Setting.Assume
	sc := Scenario{
		ID: s.ID + "/" + surveyPrefix + name, Summary: summary, Setting: setting,
		Setup: s.Setup, Probe: Attempt(s.Lock), Watch: append([]string{s.Lock.Path}, s.Watch...),
		Program: func(int, int) Program { return program },
	}
	for _, p := range asked {
		sc.Claims = append(sc.Claims, Claim{Property: p, Verdict: Holds})
	}
	return sc
}

// Contend is the plainest scenario of the subject, two processes that want the lock once, and three where that is soon
// decided, for a list of scenarios whose survey is the subject's.
func (s Subject) Contend() Scenario {
	if s.Setup == nil {
		s.Setup = s.directory
	}
	sc := s.scenario("", "Several processes want the lock.", Setting{Processes: 2}, s.times(1),
		[]*Property{MutualExclusion})
	sc.ID = s.ID + "/contend"
	sc.Subject, sc.More = &s, true
	return sc
}

// directory makes the directory of the lock's path.
func (s *Subject) directory(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(path.Dir(s.Lock.Path), 0o777) }

// idle does not want the lock.
func idle(t *Task) { t.Work() }

// times wants the lock so often, and gives up where the protocol does.
func (s *Subject) times(n int) Program {
	return func(t *Task) {
		for range n {
			Once(s.Lock)(t)
		}
	}
}

// updates changes files under the lock, and ends with status 1 where it could not.
func (s *Subject) updates() Program {
	return func(t *Task) {
		var failed error
		if err := Locked(t, s.Lock, func() { failed = s.Update(t) }); err != nil || failed != nil {
			t.ExitWith(1)
		}
	}
}

// forgets acquires, and ends without a release.
func (s *Subject) forgets() Program {
	return func(t *Task) {
		if _, err := t.Acquire(s.Lock.Path, func() (Hold, error) { return s.Lock.Acquire(t) }); err == nil {
			t.Work()
		}
	}
}
