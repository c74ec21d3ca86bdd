//go:build linux && amd64

package tracer

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Programs in Go have a thread of the runtime, sysmon, the first that they start. It sleeps for
// some microseconds again and again; when a thread has been in a call for two of its rounds it
// takes the processor away from that thread and gives it to goroutines that can run. When no
// processor is taken it sleeps for a minute, to see whether garbage should be collected.
// (runtime/proc.go has it all.)
//
// So, while some thread asks, the rounds of sysmon come at once, a few of them: then every
// goroutine that can run has run, and what it asks is in the set. After that they change nothing
// that a call shows, and they are not offered. Otherwise the end of a sleep of 20 µs would be
// another step that could come before or after every call.

// sysmonRounds is how many rounds there are before the set is taken: two, and one in which whoever
// has got the processor may be looked at again.
const sysmonRounds = 3

// ticks lets a round of each Go runtime come whose program asks, and reports whether there was
// one.
func (r *Run) ticks() bool {
	for _, p := range r.procs {
		if t := p.sysmon(); t != nil && t.state == napping && p.rounds < sysmonRounds && p.asks() {
			p.rounds++
			p.mono = max(p.mono, t.deadline)
			t.timed = false
			t.expired()
			r.moved = true
			return true
		}
	}
	return false
}

// asks reports whether a thread of the process waits for an answer.
func (p *process) asks() bool {
	for _, t := range p.threads {
		if t.state == asking || t.blocked {
			return true
		}
	}
	return false
}

// sysmon is the thread of the Go runtime that has a wait with a timeout, or nil.
func (p *process) sysmon() *thread {
	for _, t := range p.threads {
		if t.isSysmon() {
			return t
		}
	}
	return nil
}

func (t *thread) isSysmon() bool {
	return t.n == 2 && t.timed && !t.firing && !t.p.gone && !t.p.dying && !t.p.held && t.p.isGo()
}

// isGo reports whether the process runs a program in Go.
func (p *process) isGo() bool { return p.writtenIn() == inGo }

// isJava reports whether the process runs a JVM, whose own threads do nothing that a call shows.
func (p *process) isJava() bool { return p.writtenIn() == inJava }

func (p *process) writtenIn() language {
	if p.language == unknownLanguage {
		p.language = otherLanguage
		exe := "/proc/" + strconv.Itoa(p.real) + "/exe"
		if at, _ := os.Readlink(exe); filepath.Base(at) == "java" {
			if !p.collects() {
				p.language = inJava
			}
		} else if f, err := elf.Open(exe); err == nil {
			if fromGo(f) {
				p.language = inGo
			}
			f.Close()
		}
	}
	return p.language
}

func fromGo(f *elf.File) bool {
	return f.Section(".go.buildinfo") != nil || f.Section(".note.go.buildid") != nil
}

// MayDraw reports whether random numbers may matter to a program that draws none: it is Python or Perl, which have some
// in their environment, or it may use those of AT_RANDOM itself, as a program in Go does, or one that has no C library
// to load. Of a script its interpreter is meant.
func MayDraw(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	first := make([]byte, 256)
	n, _ := f.Read(first)
	if line, script := strings.CutPrefix(string(first[:n]), "#!"); script {
		words := strings.Fields(strings.SplitN(line, "\n", 2)[0])
		return len(words) == 0 || words[0] == file || MayDraw(words[0])
	}
	if at, err := filepath.EvalSymlinks(file); err != nil || slices.ContainsFunc([]string{"python", "pypy", "perl"},
		func(name string) bool { return strings.HasPrefix(filepath.Base(at), name) }) {
		return true
	}
	is, err := elf.NewFile(f)
	return err != nil || is.Section(".interp") == nil || fromGo(is)
}

// A language is what a program was written in, as far as it matters.
type language uint8

const (
	unknownLanguage language = iota
	inGo
	inJava
	otherLanguage
)

// A JVM has threads of its own, which sleep for some milliseconds to some seconds again and again, each to look whether
// there is work for it: a safepoint that is due, monitors that can be deflated, methods to compile. One that compiles
// starts others of its name when there are many. Common-Cleaner looks whether garbage has been found (it waits for a
// minute each time, in Java). That a time has come gives none of these threads work which a call on a file shows. So
// their waits are not offered while a thread of the process asks; where none asks they are, for somebody may wait for
// one of them.
//
// A JVM that collects garbage from time to time is another matter: a collection closes files that the program has
// forgotten, and closing one gives its locks back. There all waits are offered.

// idlers are these threads, as the kernel has their names: the first 15 bytes.
var idlers = []string{
	"VM Thread", "VM Periodic Tas", "Monitor Deflati", "Service Thread", "Signal Dispatch", "Sweeper thread",
	"C1 CompilerThre", "C2 CompilerThre", "G1 Service", "G1 Main Marker", "Common-Cleaner",
}

// idles reports whether a thread is one of those, in a wait whose end changes nothing that a call shows.
func (t *thread) idles() bool {
	if !t.p.isJava() {
		return false
	}
	name := t.comm()
	first := func(o *thread) bool { return o.comm() == name } // a program may call a thread of its own so
	return slices.Contains(idlers, name) &&
		(t.starter == name || t.p.threads[slices.IndexFunc(t.p.threads, first)] == t)
}

// collects reports whether a JVM was told to collect garbage from time to time, by its arguments or its environment.
func (p *process) collects() bool {
	for _, of := range []string{"cmdline", "environ"} {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(p.real) + "/" + of)
		if strings.Contains(string(text), "G1PeriodicGCInterval") {
			return true
		}
	}
	return false
}

// comm is the name of a thread, or empty. It is read once, until the thread gives itself another one.
func (t *thread) comm() string {
	if t.title == "" {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(t.p.real) + "/task/" + strconv.Itoa(t.tid) + "/comm")
		t.title = strings.TrimSuffix(string(b), "\n")
	}
	return t.title
}

// makesPerfData reports whether argument i is the directory in which a JVM keeps counters for jps(1) and jstat(1), in a
// file that it maps as shared memory. A JVM that cannot make it keeps them in memory of its own, and says nothing.
func (t *thread) makesPerfData(i int) bool {
	name, err := readString(t.tid, t.c.args[i], maxPath)
	return err == nil && strings.HasPrefix(name, "/tmp/hsperfdata_")
}
