// Package trace is what one run of a scenario looked like: its steps, the system calls
// and their results, the machine after each, who held; and a [Counterexample], which is
// such a run together with its schedule, its history and its cost.
//
// A [Walk] is a trace with all that it implies, as data: what stood at each name before
// and after a step, which file a call worked on, what it changed, who had what open, who
// waited for whom. Causes, timelines, diagrams and the site read walks; none of them keeps
// a table of descriptors or inodes of its own.
//
// Traces are plain data, written by package checker. This package knows schedules (package
// sched), the machine's calls and views (package fsfake) and the vocabulary of scenarios.
// It must not know how a run was found or judged.
//
// # Limits
//
// A walk says what there is after each step, not what a task has read into its memory.
// Which name a descriptor belongs to is known of those that a call of the trace opened.
package trace
