package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
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
	// serial orders in which as many are killed, each anywhere. FailingCalls are calls of the commands' first
	// processes that fail for want of space (ENOSPC). With them, and with PowerLosses, what is left behind is not
	// compared with serial orders.
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

	worth     int                      // system calls that make a snapshot worth it, for tests; zero means snapshotCalls
	record    *record                  // of the scenario's executions
	shared    *record                  // of all scenarios of a survey; nil outside of one
	again     *bool                    // whether the command repeats, where that is known; see [Spec.repeats]
	space     bool                     // in a survey: some call of the command's first process needs space on the disk
	done      bool                     // in a survey: a run has left the files at the start, so another one may have nothing to do
	reader    *reader                  // what Recover and Read say of machines
	early     *early                   // of the serial runs
	inherited []string                 // environment of the caller
	known     map[tracer.FileID]string // see files
	devices   []uint64                 // of Outside, by number
	// oneOrder: of calls of one command that could go on side by side only one order is followed.
	oneOrder bool
	// lasting: sleeps last, and each look at a clock is a call.
	lasting bool
	// mixed, when not 0, is the number of a drawn order of those calls.
	mixed uint64
}

// A Line is one command: Argv, or the text of a shell command; or else a Go function.
type Line struct {
	// Argv is the program and its arguments.
	Argv []string
	// Shell is run by sh -c when Argv is empty.
	Shell string
	// Stdin is what the command reads from its standard input.
	Stdin string
	// Func, when not nil, is what the process runs instead: a function of one task, which ends with status 0 when it
	// returns, and otherwise by [fsfake.Proc.ExitWith]. It is a cleaner in Go beside a script, say. Shell is what it is called
	// then. It cannot be written down in an archive, and a run in which it takes part is not carried out on the kernel.
	Func scenarios.Program
}

// String is the command as a person would type it.
func (l Line) String() string {
	if l.Func != nil {
		return cmp.Or(l.Shell, "a Go function")
	}
	if len(l.Argv) == 0 {
		return l.Shell
	}
	words := make([]string, len(l.Argv))
	for i, w := range l.Argv {
		words[i] = w
		if w == "" || strings.ContainsAny(w, " "+special) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// argv is what is executed. A shell command of plain words, and of words in quotes, needs no shell, which
// would be a process more.
func (l Line) argv() []string {
	if len(l.Argv) > 0 {
		return l.Argv
	}
	words, ok := plainWords(l.Shell)
	if !ok || isBuiltin(words[0]) {
		return []string{"sh", "-c", l.Shell}
	}
	return words
}

// plainWords splits a shell command into its words. It is false when a shell does more with one of
// them than to take the quotes away.
func plainWords(text string) (words []string, ok bool) {
	var word strings.Builder
	within := false // a word has begun
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 || len(words) == 0 || c == '"' && strings.ContainsAny(text[i+1:i+1+n], "$`\\!") {
				return nil, false
			}
			word.WriteString(text[i+1 : i+1+n])
			within = true
			i += n + 1
		case strings.IndexByte(special+"={}!", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
			within = true
		}
	}
	if within {
		words = append(words, word.String())
	}
	return words, len(words) > 0
}

// special are the characters that mean something to a shell.
const special = "\t\n'\"$&|;<>()*?[]\\`~#"

// isBuiltin reports whether a shell command begins with a word that only a shell knows.
func isBuiltin(word string) bool {
	_, err := exec.LookPath(word)
	return err != nil && !strings.Contains(word, "/")
}

// A File is something in the virtual directory at the start.
type File struct {
	// Name is relative to the directory, or absolute and in [Spec.Outside]. One that ends in a slash is a directory.
	Name string
	// Content of a file; Link, when not empty, is the target of a symbolic link.
	Content, Link string
	// Same, when not empty, is the name of an earlier file that is this one too: a hard link.
	Same string
	// Mode is the permission bits, with setuid, setgid and sticky as chmod(2) has them; zero means 0644, for a directory
	// 0755.
	Mode uint32
	// Owner is its user and group as "UID:GID"; empty means those of who runs the commands.
	Owner string
	// Age is how long before the start it was changed last; less than 0 for a time that has not come.
	Age time.Duration
}

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
		assume(&sc, "whether what is left behind is what a serial order leaves behind is not asked where calls fail or the power is lost")
	case len(serial.orders) == 0:
		assume(&sc, "whether what is left behind is what a serial order leaves behind is not asked: no command ends alone on the files at the start")
	default:
		sc.Claims = slices.Concat(claims(s.serializable(&sc, serial)), survives, others)
		strict.Claims = slices.Concat(claims(s.strictly().serializable(&sc, serial.whole(len(s.Commands)))), survives, others)
	}
	strict.Assumes = sc.Assumes
	s.movesClocks(&sc, &strict)
	return sc, strict, nil
}

// bare is the scenario of the commands in which nothing is asked yet.
func (s *Spec) bare() (scenarios.Scenario, error) {
	if s.Stalls > 0 || s.Skew != nil {
		s.lasting = true
	}
	if s.record = newRecord(len(s.Commands)); s.shared != nil && !s.lasting {
		s.record = s.shared
	}
	sc := scenarios.Scenario{
		ID: s.ID, Summary: s.summary(), External: true,
		Setting: s.Setting, Setup: s.setup,
		Program: s.program, Same: s.sameAs,
		Watch:    s.watch(),
		Unjudged: s.unjudged,
		Assumed:  func() []string { return s.record.assumed() },
	}
	st := &sc.Setting
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
	if s.FailingCalls > 0 {
		st.FailWith = []syscall.Errno{syscall.ENOSPC}
	}
	checked, err := sc.In(*st)
	if err != nil {
		return sc, err
	}
	*st = checked.Setting // with what is not said and follows
	sc.Assumes = []string{
		s.assumedOutside(),
		"the time of day stands still, and a sleep lasts for any time",
	}
	if s.lasting {
		sc.Assumes[1] = "a call takes no time, and a sleep as much as it says"
	}
	if foreign := s.foreign(); foreign != "" {
		assume(&sc, "files of other users are your own here, as an ordinary user cannot give files away: "+foreign)
	}
	if s.FailingCalls > 0 {
		assume(&sc, "no call of what a command starts fails")
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
			return bad("file %q: the name must be relative, clean, and inside the directory, or absolute and in a place outside that is shared", f.Name)
		}
	}
	for _, r := range s.Outside {
		if !path.IsAbs(r.Path) || path.Clean(r.Path) != r.Path || r.Path == "/" || r.Path == s.Dir || strings.HasPrefix(r.Path, s.Dir+"/") {
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
	return strings.Join(parts, " | ")
}

// setup makes the directory and its files, the oldest first and each at its time, and lets every
// process start in the directory. All is the user's who runs the commands: a program asks the
// kernel who that is.
func (s *Spec) setup(m *fsfake.Machine) {
	p := m.Proc(1)
	must(p.MkdirAll(s.Dir, 0o777))
	must(p.Chmod(s.Dir, 0o777))
	must(p.Chown(s.Dir, os.Getuid(), os.Getgid()))
	for _, r := range s.Outside {
		must(p.MkdirAll(path.Dir(r.Path), 0o777))
	}
	files := slices.Clone(s.Files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(b.Age, a.Age) })
	age := s.oldest()
	for _, f := range files {
		m.Advance(age - max(f.Age, 0))
		age = max(f.Age, 0)
		must(f.make(p, s.at))
	}
	m.Advance(age)
	for _, f := range files { // later files have changed the times of directories
		if f.Age < 0 || f.Age > 0 && strings.HasSuffix(f.Name, "/") {
			at := m.Now().Add(-f.Age)
			must(p.Chtimes(s.at(f.Name), at, at))
		}
	}
	// The directory itself was changed just now. The clock stands still, so its times do not show
	// what the commands do in it: most interpreters ask for them on their way to a script, and to
	// each that would be another run of the program.
	must(p.Chtimes(s.Dir, m.Now(), m.Now()))
	m.SetBorder(s.Dir, s.Outside...)
	for i := range s.Commands {
		m.KillProc(scenarios.Pid(i))
		m.AddProc(s.procSpec(i))
	}
	for _, pid := range s.Living {
		m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Start: 900, Cwd: "/"})
	}
}

// procSpec is the process of a command, which is the user's who runs the commands.
func (s *Spec) procSpec(process int) fsfake.ProcSpec {
	id := scenarios.ProcID(process)
	spec := fsfake.ProcSpec{Pid: id.Pid, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Start: id.Start, Cwd: s.Dir}
	if process < len(s.Skew) {
		spec.Skew = s.Skew[process]
	}
	return spec
}

// begin is the time of day when the commands start.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// oldest is the age of the oldest file. The commands start so long after the machine.
func (s *Spec) oldest() (age time.Duration) {
	for _, f := range s.Files {
		age = max(age, f.Age)
	}
	return age
}

// mode is the file's permission bits.
func (f *File) mode() uint32 {
	switch {
	case f.Mode != 0:
		return f.Mode
	case strings.HasSuffix(f.Name, "/"):
		return 0o755
	}
	return 0o644
}

func (f *File) make(p *fsfake.Proc, at func(name string) string) error {
	name := at(f.Name)
	if err := p.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	var err error
	switch {
	case f.Same != "":
		return p.Link(at(f.Same), name)
	case f.Link != "":
		return p.Symlink(f.Link, name)
	case strings.HasSuffix(f.Name, "/"):
		err = p.MkdirAll(name, 0o777)
	default:
		err = p.WriteFile(name, []byte(f.Content), 0o666)
	}
	uid, gid := f.owner() // first, for who gives a program away takes its privileges off
	return errors.Join(err, p.Chown(name, uid, gid), do(p, fsfake.Op{Call: fsfake.CallChmod, Path: name, Mode: f.mode()}))
}

// assumedOutside is what every verdict assumes of the files that are not the machine's.
func (s *Spec) assumedOutside() string {
	if s.RealOutside {
		return "what the commands do outside " + s.Dir + " is real, and is the same in every execution"
	}
	names := map[string]bool{}
	for _, r := range s.Outside {
		names[r.Path] = true
		if r.Hidden { // what is there is not shown
			delete(names, r.Path)
			names[r.Path+" (a private one)"] = true
		}
	}
	if len(names) == 0 {
		return "files outside " + s.Dir + " stay as they are"
	}
	return "files outside " + s.Dir + " stay as they are, but for what the commands share: " + listed(names)
}

func do(p *fsfake.Proc, op fsfake.Op) error {
	if r := p.Do(op); r.Errno != 0 {
		return fmt.Errorf("command: %s: %w", op, r.Errno)
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
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
