package learn

import (
	"cmp"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"lockpick/scenarios"
)

// A Located is a Code that can tell where in its program's source it waits.
type Located interface {
	// Locate makes it look where each call comes from, which costs a look at the stack. It
	// comes before the first Next. What is learned is not located.
	Locate()
	// Source is where the call stands that the code waits in; zero when that is not known.
	Source() scenarios.Source
}

// Locate implements [Located].
func (f *function) Locate() { f.locates = true }

// Source implements [Located].
func (f *function) Source() scenarios.Source { return f.source }

// locate looks where a call comes from: what the program has noted comes before its stack.
func (f *function) locate() {
	if f.locates {
		f.source = cmp.Or(f.noted, caller())
	}
	f.noted = scenarios.Source{}
}

// stackDepth is how many callers are looked at.
const stackDepth = 64

// caller is the first caller that belongs neither to what carries calls to the machine nor
// to the standard library.
func caller() scenarios.Source {
	pcs := make([]uintptr, stackDepth)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	library := libraryRoot()
	for {
		f, more := frames.Next()
		if f.Function != "" && !foreign(f, library) {
			return scenarios.Source{File: f.File, Line: f.Line, Func: path.Base(f.Function)}
		}
		if !more {
			return scenarios.Source{}
		}
	}
}

// Foreign reports whether a function belongs to what carries calls to the machine, or to the standard library.
func Foreign(f runtime.Frame) bool { return foreign(f, libraryRoot()) }

func foreign(f runtime.Frame, library string) bool {
	return carries(packageOf(f.Function)) || inLibrary(f.File, library)
}

// carries reports a package whose functions stand between a program's code and the machine:
// those of lockpick.
func carries(pkg string) bool {
	return slices.Contains([]string{
		"lockpick/checker/internal/learn", "lockpick/checker/internal/edit", "lockpick/sched", "iter", "runtime",
		"lockpick/fsfake", "lockpick/fsfake/osfs",
		"lockpick/scenarios", "lockpick/scenarios/kit", "lockpick/scenarios/command",
	}, pkg)
}

// packageOf is the package of a function's full name: "example.com/lock" of
// "example.com/lock.(*Lock).Acquire.func1".
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return function
	}
	return function[:slash+dot]
}

// libraryRoot is the directory with the standard library's source, as the compiler recorded
// it; empty when it recorded none (-trimpath).
func libraryRoot() string {
	at := reflect.ValueOf(strings.ToUpper).Pointer()
	file, _ := runtime.FuncForPC(at).FileLine(at)
	return strings.TrimSuffix(filepath.ToSlash(file), "strings/strings.go")
}

func inLibrary(file, root string) bool {
	return root != "" && strings.HasPrefix(filepath.ToSlash(file), root)
}

// Running is where in its source a program stands that runs now, as seen from another
// goroutine; zero when none does. It stops the world for a moment.
func Running() scenarios.Source {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	library := libraryRoot()
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		lines := strings.Split(g, "\n")
		if strings.Contains(lines[0], "[coroutine") || !strings.Contains(g, "\n"+coroutine) {
			continue
		}
		for i := 1; i+1 < len(lines); i += 2 {
			name := lines[i]
			if end := strings.LastIndexByte(name, '('); end > 0 {
				name = name[:end]
			}
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			file, line, _ := strings.Cut(place, ".go:")
			if carries(packageOf(name)) || inLibrary(file, library) {
				continue
			}
			n, _ := strconv.Atoi(line)
			return scenarios.Source{File: file + ".go", Line: n, Func: path.Base(name)}
		}
	}
	return scenarios.Source{}
}

// coroutine begins the names of the functions below a program, on its goroutine.
const coroutine = "lockpick/sched.Go["
