package stack

import (
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// PHP keeps the function that it carries out in a structure which it exports to its extensions. Where in the structure
// that stands, and where in a function the name of its file, differs from version to version; a text whose lines are
// known shows both. A PHP with threads exports no such structure: it tells no line.

// phpLayout is where the innermost frame stands, from where PHP is loaded, and the file's name in a function.
type phpLayout struct{ frame, file uint64 }

var phpNames = regexp.MustCompile(`^php[0-9.]*$`)

// IsPHP reports whether an executable has the name of PHP's command line.
func IsPHP(exe string) bool { return phpNames.MatchString(filepath.Base(exe)) }

// aPHP stands at the same lines as aShell, and has this name as its file.
const aPHPName = "Command line code"

var aPHP = strings.NewReplacer("echo; read x", `echo "\n"; fgets(STDIN);`, "f() {", "function f() {",
	"}\nf\n", "}\nf();\n", "if :; then", "if (true) {", "fi\n", "}\n").Replace(aShell)

// What has stood where it is since PHP 7.1: in a frame, in what it carries out, in a function, and in a text.
const (
	phpAt, phpFunction, phpCaller = 0, 24, 48
	phpLine                       = 24
	phpName, phpFunctionSize      = 8, 256
	phpLength, phpText            = 16, 24
)

// PHPLine is the line that a PHP carries out, which [Files.Know] has run.
func (f *Files) PHPLine(exe, maps string, mem Memory) (Place, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	base, ok := loadedAt(exe, maps)
	at := f.php[exe]
	if !ok || at == (phpLayout{}) {
		return Place{}, false
	}
	p := phpMemory(mem).place(base, at, func(file string) bool {
		return strings.HasPrefix(file, "/") && !strings.HasSuffix(file, "eval()'d code") &&
			!strings.HasPrefix(file, "/usr/share/") && !dependency(file)
	})
	return p, p.Line > 0
}

// findPHP runs a PHP to learn its layout; zero where it does not show, or several would fit.
func findPHP(exe string) phpLayout {
	globals, size := exported(exe, "executor_globals")
	var left []phpLayout
	for i := uint64(0); i < size; i += 8 {
		for file := uint64(0); file < phpFunctionSize; file += 8 {
			left = append(left, phpLayout{globals + i, file})
		}
	}
	ok := stands([]string{exe, "-n", "-r", aPHP}, func(n, pid int) bool {
		mem, base := memoryOf(pid, exe)
		left = slices.DeleteFunc(left, func(at phpLayout) bool {
			p := phpMemory(mem).place(base, at, func(file string) bool { return file == aPHPName })
			return p.Line != int(standsAt[n])
		})
		return len(left) > 0
	})
	if !ok || len(left) > 1 {
		return phpLayout{}
	}
	return left[0]
}

// exported is where a variable stands, from where its executable is loaded, and its size.
func exported(exe, name string) (at, size uint64) {
	e, err := elf.Open(exe)
	if err != nil {
		return 0, 0
	}
	defer e.Close()
	symbols, _ := e.DynamicSymbols()
	for _, s := range symbols {
		if s.Name == name && s.Section != elf.SHN_UNDEF && e.Type == elf.ET_DYN {
			return s.Value, s.Size
		}
	}
	return 0, 0
}

type phpMemory Memory

// place is that of the innermost frame whose function is in a file that own accepts.
func (m phpMemory) place(base uint64, at phpLayout, own func(file string) bool) Place {
	frame := m.word(base + at.frame)
	for n := 0; n < maxFrames && frame != 0; n++ {
		if function := m.word(frame + phpFunction); hasLines(m.word(function)) {
			if file := m.text(m.word(function + at.file)); own(file) {
				line := uint32(m.word(m.word(frame+phpAt) + phpLine))
				return Place{File: file, Line: int(line), Func: m.text(m.word(function + phpName))}
			}
		}
		frame = m.word(frame + phpCaller)
	}
	return Place{}
}

// hasLines tells functions of files and texts from those that PHP has built in; their kind is in the first byte.
func hasLines(function uint64) bool {
	const ofFile, ofText = 2, 4
	return function&0xff == ofFile || function&0xff == ofText
}

// word is 0 where there is no memory.
func (m phpMemory) word(at uint64) uint64 {
	b, err := m(at, 8)
	if err != nil || len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// text is empty where there is none.
func (m phpMemory) text(at uint64) string {
	n := m.word(at + phpLength)
	if at == 0 || n == 0 || n > 4096 {
		return ""
	}
	b, _ := m(at+phpText, int(n))
	return string(b)
}
