// Package serial makes of the property serializable what it is in one scenario of Go functions: an
// invariant that compares the files at the end of a run with those at the end of every serial run.
//
// In a serial run one process after the other goes from its start to its end. Within a process,
// tasks interleave as they like; what the setting allows beside steps, a kill, a jump of the
// clock or a loss of power, may happen anywhere in it, to the process that runs or to one that has
// not begun. A run is compared with serial runs in which the same processes were killed and, as long as sleeps do not
// last, the clock has moved as far. Nothing at the end tells whether a call has failed or a signal came: where that may
// be, the property is not asked. So a serial run is a run as any other, and all of them are runs that the exploration meets.
//
// Of the properties atomic and durable it makes invariants, too (left.go): serial runs in which nothing befalls anybody
// say what may be left of each file. They are judged when all have ended; who waits for ever for somebody who was
// killed is for the property wedge.
//
// The package knows how a run is made and what it leaves behind, and nothing of explorations. Its
// limits: a process that goes on for ever, or waits for ever when it runs alone, has no end to compare with; where
// none of the serial runs ends there is an error, and so it is where there are more of them than [mostRuns].
package serial
