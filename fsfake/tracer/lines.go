//go:build linux && amd64

package tracer

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer/stack"
)

// Lines of scripts. An interpreter stands in C whatever line of a script it carries out, and how it remembers that line
// differs from version to version. So with [Config.Lines] the environment has the interpreter tell it, by the means
// that it has for debuggers and profilers. It tells by a write of a text that begins with toldBy, which is not made.
// Where that does not work, nothing is told. Shells and PHP have it in their memory, see [stack.Files.Know]. A program
// that is no script stands at the line by which a script has executed it.

//go:embed lines
var hooks embed.FS

const toldBy = "\x01lockpick line:"

// withHooks adds to an environment what has interpreters tell lines. The files for that are in the run's own directory,
// which is never virtual.
func (r *Run) withHooks(env []string) ([]string, error) {
	temp, err := r.tempDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(temp, "lines")
	if err := os.CopyFS(temp, hooks); err != nil {
		return nil, fmt.Errorf("tracer: hooks for the lines of scripts: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "__pycache__"), nil, 0o600); err != nil { // or Python makes a directory
		return nil, err
	}
	perl, _ := hooks.ReadFile("lines/lines.pl")
	for _, add := range [][2]string{
		{"PYTHONPATH=", dir + ":"}, {"NODE_OPTIONS=", "--require " + dir + "/lines.js "},
		{"RUBYOPT=", "-r" + dir + "/lines.rb "}, {"PERL5OPT=", "-d "}, {"PERL5DB=", strings.TrimSpace(string(perl))},
	} {
		at := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, add[0]) })
		if at < 0 {
			env = append(env, add[0]+strings.TrimRight(add[1], ": "))
			continue
		}
		env[at] = add[0] + add[1] + strings.TrimPrefix(env[at], add[0])
	}
	return env, nil
}

// tellsLine takes a write by which an interpreter tells the line that it carries out: "LINE:FUNC:FILE".
func (t *thread) tellsLine() bool {
	if !t.r.c.Lines || t.c.args[2] < uint64(len(toldBy)) || t.c.args[2] > maxPath {
		return false
	}
	b, err := readFull(t.tid, t.c.args[1], int(t.c.args[2]))
	text, told := strings.CutPrefix(string(b), toldBy)
	if err != nil || !told {
		return false
	}
	t.told, t.line = true, Place{}
	number, rest, _ := strings.Cut(text, ":")
	function, file, _ := strings.Cut(rest, ":")
	if n, err := strconv.Atoi(number); err == nil && n > 0 && file != "" {
		if !path.IsAbs(file) {
			file = path.Join(cmp.Or(t.p.cwd, t.r.c.Dir), file)
		}
		t.line = Place{File: file, Line: n, Func: strings.Trim(function, "<>")}
	}
	t.result(int64(len(b)))
	return true
}

// scriptLine is the line of a script that a thread carries out; false where it is not known to carry out one.
func (t *thread) scriptLine() (Place, bool) {
	if !t.r.c.Lines {
		return Place{}, false
	}
	if t.told {
		return t.line, true
	}
	for _, o := range t.p.threads {
		if o.told {
			return o.line, true
		}
	}
	return t.p.rememberedLine()
}

// rememberedLine is that of a shell or PHP, which has it in its memory.
func (p *process) rememberedLine() (Place, bool) {
	exe, err := os.Readlink("/proc/" + strconv.Itoa(p.real) + "/exe")
	if err != nil || !stack.IsShell(exe) && !stack.IsPHP(exe) {
		return Place{}, false
	}
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/maps")
	if err != nil {
		return Place{}, false
	}
	mem := func(at uint64, n int) ([]byte, error) { return readFull(p.real, at, n) }
	if stack.IsPHP(exe) {
		return p.r.c.Sources.PHPLine(exe, string(maps), mem)
	}
	if p.shellScript == nil {
		script := p.findScript()
		p.shellScript = &script
	}
	if *p.shellScript == "" {
		return Place{}, false
	}
	line, ok := p.r.c.Sources.ShellLine(exe, string(maps), mem)
	return Place{File: *p.shellScript, Line: line}, ok
}

// findScript is the script of a shell; empty where there is none, or lines may be of another one.
func (p *process) findScript() string {
	commandLine, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/cmdline")
	script := stack.Script(string(commandLine))
	if script == "" {
		return ""
	}
	if !path.IsAbs(script) {
		script = path.Join(cmp.Or(p.cwd, p.r.c.Dir), script)
	}
	at := script
	switch {
	case !p.r.virtual(script):
	case p.r.c.Through == "": // only the fake has it
		return script
	default:
		at = p.r.standsFor(script)
	}
	if text, err := os.ReadFile(at); err != nil || stack.ReadsOthers(text) {
		return ""
	}
	return script
}

// preloads reports whether a thread of Node is still about to load its hook. It looks for a package.json around the
// working directory then, which it does not where there is none.
func (t *thread) preloads() bool {
	if !t.r.c.Lines || t.told {
		return false
	}
	exe, err := os.Readlink("/proc/" + strconv.Itoa(t.p.real) + "/exe")
	return err == nil && strings.HasPrefix(filepath.Base(exe), "node")
}

// Where is the line of the program's source that makes the call which a task asks for; zero when
// it is not known. It costs a look at the stack, and at first a look at the executable.
func (r *Run) Where(task fsfake.Task) (p Place) {
	_ = r.on(func() {
		t := r.asks(task)
		if t == nil || r.err != nil {
			return
		}
		p = t.place()
	})
	return p
}

// place is where a thread makes its call.
func (t *thread) place() Place {
	if p, told := t.scriptLine(); told {
		return p
	}
	var regs unix.PtraceRegs
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(t.p.real) + "/maps")
	if err != nil || unix.PtraceGetRegs(t.tid, &regs) != nil {
		return Place{}
	}
	all := stack.Registers{regs.Rax, regs.Rdx, regs.Rcx, regs.Rbx, regs.Rsi, regs.Rdi, regs.Rbp, regs.Rsp,
		regs.R8, regs.R9, regs.R10, regs.R11, regs.R12, regs.R13, regs.R14, regs.R15, regs.Rip}
	mem := func(addr uint64, n int) ([]byte, error) { return readFull(t.tid, addr, n) }
	if p, ok := t.r.c.Sources.Where(string(maps), all, mem); ok {
		return p
	}
	return t.p.by
}
