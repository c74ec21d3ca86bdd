// Package learn turns a program into data.
//
// A task that talks to the world only through calls and cells is a deterministic function of
// the results it has seen. So its code is learned, call by call, as an [Automaton], whose
// edges are results; whoever follows the automaton need not run the program. [Memo] is the
// automata of all tasks of a scenario, for single runs.
//
// [Code] is the seam: all that this package, and live runs, know of a running program. A Go
// function as a coroutine ([Functions]) is one, and the only one today. [Follow] runs a Code over
// answers that are at hand.
//
// That a program is such a function is checked, not assumed: while it is learned, since
// every path begins with one learned before; when everything is learned, since
// [Automaton.Verify] runs every path again, until those of a scenario were [Repeats] runs; and
// for retry loops by rounds of one kind in a row ([Automaton.Unroll]) and by drawn walks through
// all kinds ([Automaton.FuzzLoops]).
//
// Rounds of polling of a real program may be taken to carry nothing over ([Automaton.JoinRounds]), which is
// tried out before anything is concluded ([Automaton.TryRounds]).
//
// What is learned is not located: where in its source a call stands is asked of live runs
// only ([Located]), so that it enters neither states nor verdicts.
//
// It knows calls (package fsfake), what tasks note (package scenarios), and coroutines
// (package sched). It must not know the machine that answers, nor judge anything.
//
// # Limits
//
// A program has one pending call at a time. For a Go function every new edge runs it from its
// start: an instance kept at the frontier would spare that, but would also make the number of
// runs, which is reported, depend on which worker came first. External programs, which take
// long to start, are kept so (instances.go).
package learn
