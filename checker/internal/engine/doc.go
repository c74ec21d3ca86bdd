// Package engine says what one step does, twice. A [World] is one run: the program's own
// code, or what was learned of it, meets the machine. A [Space] is all states of a scenario
// as rows of numbers, and an [Expander] computes what follows from one. The two must agree
// step by step, so what a step, a kill, an exit or a loss of power does stands side by side,
// one file for each: step.go, kill.go, exit.go, powerloss.go, choices.go (what can happen),
// ends.go (deadlocks and wedges), hold.go (the invariant), evidence.go. A test walks through
// both in lockstep; [Space.Verify] compares them again in every exploration.
//
// It knows machines (package fsfake), programs (packages scenarios and learn), histories
// (package history). It must not know which steps are taken, and in what order: that is
// package search; and it concludes no verdict.
//
// # Limits
//
// At most 64 tasks, 1<<26 nodes in the automaton of a task, 65 535 crashes, 32 767 stalls
// and one loss of power. Processes are interchangeable only where that is verified; see
// [Symmetry].
package engine
