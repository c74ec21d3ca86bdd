//go:build linux && amd64

package tracer

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// A JVM has threads of its own, which sleep for some milliseconds to some seconds again and again, each to look whether
// there is work for it: a safepoint that is due, monitors that can be deflated, methods to compile. Common-Cleaner
// looks whether garbage has been found (it waits for a minute each time, in Java). That a time has come gives none of
// them work which a call on a file shows. So their waits are not offered while a thread of the process asks; where none
// asks they are, for somebody may wait for one of them.
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
	return slices.Contains(idlers, name) && t.p.threads[slices.IndexFunc(t.p.threads, first)] == t
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

// comm is the name of a thread, or empty.
func (t *thread) comm() string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(t.p.real) + "/task/" + strconv.Itoa(t.tid) + "/comm")
	return strings.TrimSuffix(string(b), "\n")
}

// makesPerfData reports whether argument i is the directory in which a JVM keeps counters for jps(1) and jstat(1), in a
// file that it maps as shared memory. A JVM that cannot make it keeps them in memory of its own, and says nothing.
func (t *thread) makesPerfData(i int) bool {
	name, err := readString(t.tid, t.c.args[i], maxPath)
	return err == nil && strings.HasPrefix(name, "/tmp/hsperfdata_")
}
