package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// A Spec says which commands run side by side, on which files, and what is asked of them.
type Spec struct {
	// ID is the scenario's id, system/variant/setting; empty means run/commands/N, with the
	// number of commands.
	ID string
	// Commands has one command for each process: at least one, at most 26.
	Commands []Line
	// Dir is the virtual directory, an absolute and clean path; empty means /data. The
	// commands start in it.
	Dir string
	// Files are what is in it at the start, and in Outside.
	Files []File
	// Outside are the places outside of the directory that are virtual, too, in the order of their paths; see
	// [Spec.Extend], which finds them. An execution that would change a real file beside these is an error.
	Outside []fsfake.Region
	// RealOutside: nothing outside of the directory is virtual, and what the commands do there happens each
	// time that one is executed. What they change there is not judged.
	RealOutside bool
	// Inside is a name in the directory that a command creates (mkdir, symlink, or open with O_CREAT)
	// where its critical section begins, and removes where it ends; empty for none.
	Inside string
	// Refused says which exit statuses are a refusal, by which a command may end without having
	// done anything; see [Serializable].
	Refused Refused
	// NoStdout leaves what is printed out of the outcome; Ignore are patterns of names, as
	// path.Match has them, that are left out.
	NoStdout bool
	Ignore   []string
	// Recover and Read are shell commands by which atomic and durable judge what is left: Recover runs first and must
	// exit 0, and what Read prints and exits with is compared in place of the files. Empty for neither.
	Recover, Read string
	// Setting has the fields that [Fields] lists, and no others. Crashes kill commands, each at any call: their
	// first processes, while those that they have started live on. What they leave behind then is compared with
	// serial orders in which as many are killed, each anywhere. FailingCalls are calls of any of the
	// commands' processes that fail for want of space (ENOSPC). With them, and with PowerLosses, what is left
	// behind is not compared with serial orders.
	scenarios.Setting
	// Left: the files at the start are what a command left behind that was killed. So a command may fail on
	// them, and wedge is asked.
	Left bool
	// Living are pids that unrelated processes have, of the user who runs the commands.
	Living []int
	// Env has entries NAME=VALUE for all commands, added to a fixed environment and to what [Spec.Inherit] has given them.
	Env []string
	// Timeout is how long a command may compute between two calls; zero means 20 s.
	Timeout time.Duration

	// NoSnapshots starts every execution of a command anew. Verdicts do not depend on it; it costs
	// time, and is for tests of that.
	NoSnapshots bool
	// Wrong is [tracer.Config.Wrong], for tests of what notices that. Nothing is compared with the kernel under the same
	// tracer then.
	Wrong *tracer.Wrong

	// DeadlocksFirst has no kill learned of a command that deadlocks alone without one: the error is ErrDeadlocks.
	DeadlocksFirst bool

	mostRuns int          // executions, after which nothing is decided any more; 0 for no bound
	ran      int          // executions that the record had before
	stopped  func() error // why no execution is to begin, or nil
	worth    int          // system calls that make a snapshot worth it, for tests; zero means snapshotCalls
	record   *record      // of the scenario's executions
	shared   *record      // of all scenarios that are made of it; nil where each has its own, see Share
	again    *bool        // whether the command repeats, where that is known; see [Spec.repeats]
	space    bool         // in a survey: some call of the command needs space on the disk
	// in a survey: a run has left the files at the start, so another one may have nothing to do
	done      bool
	reader    *reader                  // what Recover and Read say of machines
	early     *early                   // of the serial runs
	keeps     *scenarios.Learning      // of some runs of a command alone, or nil
	inherited []string                 // environment of the caller
	direct    []string                 // where the programs are that shims in PATH would execute
	known     map[tracer.FileID]string // see files
	devices   []uint64                 // of Outside, by number
	// ownOrders is how many orders are followed of calls of one command that could go on side by side; 0 for all.
	ownOrders int
	// everyBirth: that children begin or end is followed in every order with the calls of others, see reduce.go.
	everyBirth bool
	// sought are children, by number, that have children when their parents look at them or send them signals: so it is
	// for calls by which these signals are told apart.
	sought map[int]bool
	// looksFirst: a look of one thread goes before the calls of the others, see threads.go.
	looksFirst bool
	throughout *Throughout // looks at the serial runs, or nil
	// starts: some command has other processes or threads than its first, where faults are asked about.
	starts bool
	// lasting: sleeps last, and each look at a clock is a call.
	lasting bool
	usually
	// later is how much later than the others a command begins.
	later time.Duration
	// mixed, when not 0, is the number of a drawn order of those calls.
	mixed uint64
}

// Share has all scenarios that are made of the spec from now on take from one record what was executed. They may differ
// in the setting and in what is a refusal, and have other commands: as processes, these are told apart.
func (s *Spec) Share() {
	if s.shared == nil {
		s.shared = newRecord()
		s.shared.inTime = newRecord()
	}
}

// WithoutKills is the same without kills.
func (s *Spec) WithoutKills() *Spec {
	without := *s
	without.Crashes, without.Kill, without.shared = 0, scenarios.Setting{}.Kill, nil
	return &without
}

// Within has executions of the commands end with a context, which begin while a scenario is made, too.
func (s *Spec) Within(ctx context.Context) { s.stopped = ctx.Err }

// defaultDir is the virtual directory where none is named.
const defaultDir = "/data"

// Scenario returns the scenario of the commands. The error says what is wrong with the
// spec, or that programs cannot be traced here.
func (s Spec) Scenario() (scenarios.Scenario, error) {
	sc, _, err := s.Readings()
	return sc, err
}

// Readings returns the scenario of the commands as it is to be read, and as it is read where no
// exit status is a refusal. They differ where that is not declared ([Refused]), and what was executed
// for one of them is not executed again for the other.
func (s Spec) Readings() (sc, strict scenarios.Scenario, err error) {
	if s.Dir == "" {
		s.Dir = defaultDir
	}
	if s.ID == "" {
		s.ID = fmt.Sprintf("run/commands/%d", len(s.Commands))
	}
	if err := s.validate(); err != nil {
		return sc, strict, err
	}
	sc, strict, err = s.readings()
	if !s.lasting && errors.Is(err, stuck(errAlone.Error())) { // it may wait until a time has come
		s.lasting = true
		if in, strictly, err := s.readings(); err == nil {
			return in, strictly, nil
		}
	}
	return sc, strict, err
}

func (s Spec) readings() (sc, strict scenarios.Scenario, err error) {
	if sc, err = s.bare(); err != nil {
		return sc, strict, err
	}
	s.reader = s.newReader(&sc)
	serial, err := s.serial(&sc)
	if err != nil {
		return sc, strict, err
	}
	others, err := s.others(&sc)
	if err != nil {
		return sc, strict, err
	}
	survives := s.survives(&sc, serial)
	strict = sc
	sc.Claims, strict.Claims = slices.Concat(survives, others), slices.Concat(survives, others)
	switch {
	case s.FailingCalls > 0 || s.PowerLosses > 0:
		assume(&sc, "serializable-not-asked",
			"whether what is left behind is what a serial order leaves behind is not asked where calls "+
				"fail or the power is lost")
	case len(serial.orders) == 0:
		assume(&sc, "serializable-not-asked",
			"whether what is left behind is what a serial order leaves behind is not asked: no command "+
				"ends alone on the files at the start")
	default:
		sc.Claims = slices.Concat(claims(s.serializable(&sc, serial)), survives, others)
		strict.Claims = slices.Concat(claims(s.strictly().serializable(&sc, serial)), survives, others)
	}
	strict.Assumes = sc.Assumes
	s.movesClocks(&sc, &strict)
	s.tellsApart(&sc, &strict)
	s.asksBirths(&sc, &strict)
	return sc, strict, nil
}

// bare is the scenario of the commands in which nothing is asked yet.
func (s *Spec) bare() (scenarios.Scenario, error) {
	if s.Stalls > 0 || s.Skew != nil {
		s.lasting = true
	}
	switch {
	case s.shared == nil:
		s.record = newRecord()
	case s.lasting:
		s.record = s.shared.inTime
	default:
		s.record = s.shared
	}
	if s.Crashes > 0 && s.record.fewerOrders { // a kill may come between calls that one order has next to each other
		drawn := s.record.drawn
		s.record = newRecord()
		s.record.drawn = drawn
	}
	s.ran = s.record.started()
	sc := scenarios.Scenario{
		ID: s.ID, Summary: s.summary(), External: true,
		Setting: s.Setting, Setup: s.setup,
		Program: s.program, Same: s.sameAs,
		Watch:    s.watch(),
		OneOrder: func() string { return s.record.where() },
		Assumed:  func() []scenarios.Premise { return append(s.record.assumed(), s.assumesShims()...) },
		Slept:    func() time.Duration { return s.record.slept() },
	}
	st := &sc.Setting
	drawn := sync.OnceValue(func() string { return s.draws(&sc) })
	sc.Unjudged = func() string { return cmp.Or(s.unjudged(), drawn()) }
	if s.Stalls == 0 { // delays that are longer are ruled out
		sc.Late = s.late
	}
	if s.lasting {
		st.Assume.Sleeps = scenarios.SleepsLast
	}
	st.Processes, st.Fixed = len(s.Commands), true
	st.Daemons = true // a command makes its own exit, which is a call of its own
	// The tracer masks, as the kernel does.
	st.Machine = fsfake.Options{
		Umask: fsfake.NoUmask, Start: begin.Add(-s.oldest()), DirLinksHidden: true, ChildPids: scenarios.ChildPids,
	}
	if s.FailingCalls > 0 && s.FailWith == nil {
		st.FailWith = []syscall.Errno{syscall.ENOSPC}
	}
	st.Machine.PowerLoss = s.FailingCalls > 0 && slices.Contains(s.FailWith, syscall.EIO) // what fsync drops
	checked, err := sc.In(*st)
	if err != nil {
		return sc, err
	}
	*st = checked.Setting // with what is not said and follows
	sc.Assumes = []scenarios.Premise{s.assumedOutside()}
	if s.lasting {
		assume(&sc, "calls-take-no-time", "a call takes no time, and a sleep as much as it says")
	} else {
		assume(&sc, "clock-stands-still", "the time of day stands still, and a sleep lasts for any time")
	}
	if foreign := s.foreign(); foreign != "" {
		assume(&sc, "files-of-others",
			"files of other users are your own here, as an ordinary user cannot give files away: "+foreign)
	}
	if mounted := s.mounted(); mounted != "" {
		assume(&sc, "one-file-system", "no command renames or links a file to or from what is mounted in the directory, "+
			"which is one file system here: "+mounted)
	}
	if s.FileSystem() == "" {
		return sc, nil
	}
	return sc.On(s.FileSystem())
}

// others lists what is asked beside what is left behind. What never ends leaves nothing behind that
// could be compared, so deadlock is.
func (s *Spec) others(sc *scenarios.Scenario) ([]scenarios.Claim, error) {
	var out []*scenarios.Property
	if s.PowerLosses == 0 {
		out = append(out, scenarios.Deadlock)
	}
	if s.Crashes > 0 || s.PowerLosses > 0 || s.FailingCalls > 0 || s.Left {
		asked, err := s.asksWedge(sc)
		if err != nil {
			return nil, err
		}
		if asked {
			out = append(out, scenarios.Wedge)
		}
	}
	if s.Inside != "" && s.PowerLosses == 0 {
		out = append(out, scenarios.MutualExclusion)
	}
	return claims(out...), nil
}

// claims claims properties. Of commands a claim says no more than that the property is asked.
func claims(of ...*scenarios.Property) (out []scenarios.Claim) {
	for _, p := range of {
		out = append(out, scenarios.Claim{Property: p, Verdict: scenarios.Holds})
	}
	return out
}

// strictly is the spec in which no exit status is a refusal.
func (s Spec) strictly() *Spec {
	s.Refused = Refused{Declared: true}
	return &s
}

func (s *Spec) validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("command: "+format, args...) }
	switch {
	case len(s.Commands) < 1 || len(s.Commands) > scenarios.MaxProcesses:
		return bad("%d commands: give 1 to %d", len(s.Commands), scenarios.MaxProcesses)
	case !path.IsAbs(s.Dir) || path.Clean(s.Dir) != s.Dir || s.Dir == "/":
		return bad("the virtual directory %q must be an absolute path, clean, and not the root", s.Dir)
	}
	if err := s.validateSetting(); err != nil {
		return err
	}
	for i, l := range s.Commands {
		switch {
		case l.Func != nil && (len(l.Argv) > 0 || l.Stdin != ""):
			return bad("command %s is a Go function and has arguments or a standard input: give it one or the other", scenarios.ProcessName(i))
		case l.Func == nil && len(l.Argv) == 0 && strings.TrimSpace(l.Shell) == "":
			return bad("command %s is empty", scenarios.ProcessName(i))
		}
	}
	for i, pid := range s.Living {
		switch {
		case pid < 2 || slices.Contains(s.Living[:i], pid):
			return bad("living %d: give each process a pid of its own, 2 or more", pid)
		case s.mayHave(pid):
			return bad("living %d: a command, what one starts, or one more run of one may have this pid: choose another, up to 100", pid)
		}
	}
	for _, f := range s.Files {
		name := strings.TrimSuffix(f.Name, "/")
		switch {
		case path.IsAbs(name) && s.owner(name) != nil:
		case name == "" || path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, ".."):
			return bad("file %q: the name must be relative, clean, and inside the directory, or absolute and in a place "+
				"outside that is shared", f.Name)
		}
	}
	for _, r := range s.Outside {
		if !path.IsAbs(r.Path) || path.Clean(r.Path) != r.Path || r.Path == "/" || r.Path == s.Dir ||
			strings.HasPrefix(r.Path, s.Dir+"/") {
			return bad("outside %q: the path must be absolute, clean, and outside of the directory", r.Path)
		}
	}
	for _, p := range s.Ignore {
		if _, err := path.Match(p, ""); err != nil {
			return bad("pattern %q: %v", p, err)
		}
	}
	return nil
}

// mayHave reports whether a command, one more run of one, or what one of these starts may have a pid.
func (s *Spec) mayHave(pid int) bool {
	process, ours := scenarios.ProcessOf(pid)
	_, child := scenarios.StartedBy(pid)
	return ours && process <= len(s.Commands) || child || pid >= scenarios.ProbePid
}

// summary lists the commands; equal ones are counted.
func (s *Spec) summary() string {
	var parts []string
	for i := 0; i < len(s.Commands); {
		n := 1
		for i+n < len(s.Commands) && s.Commands[i+n].String() == s.Commands[i].String() {
			n++
		}
		text := s.Commands[i].String()
		if n > 1 {
			text += fmt.Sprintf(" × %d", n)
		}
		parts = append(parts, text)
		i += n
	}
	return strings.Join(parts, " ‖ ") // which no shell knows
}

// watch lists the files that a timeline shows: those of the start, but no directories.
func (s *Spec) watch() []string {
	var out []string
	for _, f := range s.Files {
		if !strings.HasSuffix(f.Name, "/") && len(out) < 3 {
			out = append(out, s.at(f.Name))
		}
	}
	if s.Inside != "" {
		out = append(out, s.at(s.Inside))
	}
	if len(out) == 0 {
		out = []string{s.Dir}
	}
	return out
}
