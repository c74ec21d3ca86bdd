// Package trace is what one run of a scenario looked like: its steps, the system calls
// and their results, what stood at the watched names, who had what open, who held; and a
// [Counterexample], which is such a run together with its schedule, its history and its
// cost.
//
// It is plain data, written by package checker and read by whatever explains or shows a
// run: causes, timelines, diagrams, the site. It knows schedules (package sched), the
// machine's calls and views (package fsfake) and the vocabulary of scenarios. It must not
// know how a run was found or judged.
//
// # Limits
//
// A trace holds what there is after each step, not what a task has read into its memory.
// Watched files are those that the scenario names ([scenarios.Scenario.Watch]); what
// happens at other names shows in the calls alone.
package trace
