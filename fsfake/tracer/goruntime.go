//go:build linux && amd64

package tracer

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strconv"
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
			if f.Section(".go.buildinfo") != nil || f.Section(".note.go.buildid") != nil {
				p.language = inGo
			}
			f.Close()
		}
	}
	return p.language
}

// A language is what a program was written in, as far as it matters.
type language uint8

const (
	unknownLanguage language = iota
	inGo
	inJava
	otherLanguage
)
