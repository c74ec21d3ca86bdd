package fsfake

import (
	"os"
	"runtime"
	"syscall"
)

// The constants of the fake are Linux's wherever it runs, so that a schedule and a trace
// mean the same everywhere. The functions of package os, which a Proc stands in for, speak
// the constants of the system that the program was compiled for: a Proc translates between
// the two. Under Linux there is nothing to translate.

// A hostPort is a Port that takes and gives the constants of this system.
type hostPort struct{ Port }

// hosted returns the Port that the methods of a Proc use.
func hosted(p Port) Port {
	if runtime.GOOS == "linux" {
		return p
	}
	return hostPort{p}
}

// unhosted returns the Port behind that, which speaks the fake's constants.
func unhosted(p Port) Port {
	if h, ok := p.(hostPort); ok {
		return h.Port
	}
	return p
}

// Do makes one call.
func (h hostPort) Do(op Op) Result {
	if op.Call == CallOpen {
		op.Flags = flagsFrom(op.Flags, hostFlags[:])
	}
	r := h.Port.Do(op)
	r.Errno = errnoFor(r.Errno)
	return r
}

// A flagPair is a flag of open(2) in the fake and elsewhere.
type flagPair struct{ fake, host int }

// hostFlags are the flags that package os has.
var hostFlags = [...]flagPair{
	{O_WRONLY, os.O_WRONLY}, {O_RDWR, os.O_RDWR}, {O_CREAT, os.O_CREATE}, {O_EXCL, os.O_EXCL},
	{O_TRUNC, os.O_TRUNC}, {O_APPEND, os.O_APPEND}, {O_SYNC, os.O_SYNC},
}

// flagsFrom translates the flags of package os to the fake's. What is left, such as
// O_NOFOLLOW, which package os does not have, is the fake's already.
func flagsFrom(f int, pairs []flagPair) int {
	fake := 0
	for _, p := range pairs {
		if f&p.host == p.host {
			f, fake = f&^p.host, fake|p.fake
		}
	}
	return f | fake
}

// errnoFor translates an error number of the fake to this system's.
func errnoFor(e syscall.Errno) syscall.Errno {
	if e == 0 {
		return 0
	}
	for _, n := range errnos {
		if n.errno == e {
			return n.host
		}
	}
	return e
}
