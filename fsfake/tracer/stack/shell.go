package stack

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A shell keeps the line that it carries out in a variable, for its messages. Which that is shows a script whose lines
// are known: it is the number that is the line, wherever the script stands.

// aShell stands at the lines 7, 23, in a function 42, in a block 59, and 80, for as long as nobody writes to it.
var aShell = strings.Repeat("\n", 6) + "echo; read x\n" + strings.Repeat("\n", 15) + "echo; read x\n" + "f() {\n" +
	strings.Repeat("\n", 17) + "echo; read x\n\n}\nf\n" + strings.Repeat("\n", 11) +
	"if :; then\n\necho; read x\n\n\nfi\n" + strings.Repeat("\n", 17) + "echo; read x\n"

var standsAt = [...]uint32{7, 23, 42, 59, 80}

// Know runs a shell or PHP once, to know afterwards at which line of a script it is. Of other programs, and where it
// does not show, no line is told. The shell runs on the machine as it is. So it must be the system's: what somebody has
// called sh elsewhere may do anything. And its environment is empty: of BASH_ENV it would run a file of the user's.
func (f *Files) Know(exe string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	systems := slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin"}, filepath.Dir(exe))
	switch {
	case !systems || f.shells[exe] != 0 || f.php[exe] != phpLayout{}:
	case IsShell(exe):
		if f.shells == nil {
			f.shells = map[string]uint64{}
		}
		f.shells[exe] = lineVariable(exe)
	case IsPHP(exe):
		if f.php == nil {
			f.php = map[string]phpLayout{}
		}
		f.php[exe] = findPHP(exe)
	}
}

// IsShell reports whether an executable has the name of a shell.
func IsShell(exe string) bool {
	return slices.Contains([]string{"sh", "dash", "bash", "ash", "ksh", "mksh", "zsh"}, filepath.Base(exe))
}

// ShellLine is the line of its script that a shell carries out, which [Files.Know] has run.
func (f *Files) ShellLine(exe, maps string, mem Memory) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	base, ok := loadedAt(exe, maps)
	if !ok || f.shells[exe] == 0 {
		return 0, false
	}
	b, err := mem(base+f.shells[exe], 4)
	if err != nil || len(b) < 4 {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b)
	return int(n), n > 0 && n < 1<<24
}

// lineVariable is where in a shell the line stands, from where it is loaded; 0 where that does not show.
func lineVariable(exe string) uint64 {
	from, size := variables(exe)
	var left []uint64
	ok := size > 0 && stands([]string{exe, "-c", aShell}, func(n, pid int) bool {
		mem, base := memoryOf(pid, exe)
		b, _ := mem(base+from, int(size))
		for at := uint64(0); n == 0 && at+4 <= uint64(len(b)); at += 4 {
			left = append(left, at)
		}
		left = slices.DeleteFunc(left, func(at uint64) bool {
			return at+4 > uint64(len(b)) || binary.LittleEndian.Uint32(b[at:]) != standsAt[n]
		})
		return len(left) > 0
	})
	if !ok {
		return 0
	}
	return from + left[0]
}

// stands runs an interpreter with a text that stands at known lines, and looks at the process at each; false where a
// look is, or it stands at fewer.
func stands(argv []string, look func(n, pid int) bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	in, err := cmd.StdinPipe()
	if err != nil {
		return false
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	defer cmd.Wait() //nolint:errcheck // how it ends says nothing
	defer in.Close()
	for n := range standsAt {
		if _, err := out.Read(make([]byte, 1)); err != nil || !look(n, cmd.Process.Pid) {
			return false
		}
		if _, err := in.Write([]byte("\n")); err != nil {
			return false
		}
	}
	return true
}

// variables is the part of an executable that can be written to, from where it is loaded.
func variables(exe string) (from, size uint64) {
	e, err := elf.Open(exe)
	if err != nil {
		return 0, 0
	}
	defer e.Close()
	var loads []elf.ProgHeader
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD {
			loads = append(loads, p.ProgHeader)
		}
	}
	for _, p := range loads {
		switch {
		case p.Flags&elf.PF_W == 0:
		case e.Type == elf.ET_EXEC:
			return p.Vaddr - loads[0].Vaddr, p.Memsz
		default:
			return p.Vaddr, p.Memsz
		}
	}
	return 0, 0
}

// memoryOf reads the memory of a running program, and where an executable begins in it.
func memoryOf(pid int, exe string) (mem Memory, base uint64) {
	proc := "/proc/" + strconv.Itoa(pid)
	maps, _ := os.ReadFile(proc + "/maps")
	base, ok := loadedAt(exe, string(maps))
	return func(at uint64, n int) ([]byte, error) {
		f, err := os.Open(proc + "/mem")
		if err != nil || !ok {
			return nil, os.ErrNotExist
		}
		defer f.Close()
		b := make([]byte, n)
		_, err = f.ReadAt(b, int64(at))
		return b, err
	}, base
}

// loadedAt is where an executable begins in memory.
func loadedAt(exe, maps string) (uint64, bool) {
	for line := range strings.Lines(maps) {
		if at, _, _ := strings.Cut(line, "-"); strings.HasSuffix(line, " "+exe+"\n") {
			n, err := strconv.ParseUint(at, 16, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Script is the script that a shell carries out, as its command line names it; empty where that is a text (-c), or
// comes from the standard input.
func Script(commandLine string) string {
	args := strings.Split(strings.TrimSuffix(commandLine, "\x00"), "\x00")
	for _, a := range args[1:] {
		switch {
		case !strings.HasPrefix(a, "-"):
			return a
		case !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "cso"):
			return ""
		}
	}
	return ""
}

// readsOthers finds a line of a shell's script that reads another one in.
var readsOthers = regexp.MustCompile(`(?m)(^|[;&|{(]|\b(then|do|else)\b)[ \t]*(\.|source)[ \t]+\S`)

// ReadsOthers reports whether a script of a shell reads others in: which of them a line is of is not known then.
func ReadsOthers(text []byte) bool { return readsOthers.Match(text) }
