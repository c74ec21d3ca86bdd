// Package checker explores a scenario's schedules, judges what they did, and explains
// how they break: [Check] covers every interleaving, [Sample] draws schedules, [Replay]
// follows one.
//
// It knows schedulers (package sched), the machine (package fsfake), specifications
// (package model) and the vocabulary of scenarios. It must not know any one scenario:
// a user's own is equal to ours. It must not know flags, files or terminals.
//
// # What a step is
//
// A step is one system call of one task, applied at once. Under an event loop a turn
// (the accesses to cells between two calls) is a step too, and a separate one from the
// call before it: after a call has taken effect, other tasks may run before its
// continuation does. A call that has to wait begins in one step and is granted in
// another. A process that has nothing left to do exits in a step of its own.
//
// Where nobody can see how long it takes, a sleep lasts for any time: the task may go on at any moment,
// and the clock moves only by a stall, of which the setting allows so many. Where tasks sleep
// and look at the clock or at file times, a sleep has two steps, its beginning and its end, and
// the clock has moved by as long as it says when it ends; a round of a Retry loop that changes
// nothing takes no time ([scenarios.SleepsLast]). Processes that
// are punctual are not delayed: while one could take a step and does not sleep no time passes,
// so that nobody else wakes either,
// and a stall passes in pieces, so that it wakes when it has slept as long as it said; but it may
// begin late. A
// polling loop written with Retry leads back to its own beginning, so polling adds
// cycles to the graph and no states.
//
// # What a verdict claims
//
// Holds: every state within the bounds was visited (so many processes, at most so many
// crashes at any moment of their lives, at most so many moves of the clock), none violates
// the property, and what could have violated it was seen: for mutual exclusion, successful
// acquisitions of one lock by two tasks; each property says what (scenarios.Evidence).
// Otherwise the error is [ErrNothingToJudge], which names the call that went wrong, and
// there is no verdict. Broken: there is a schedule that violates
// it, which can be replayed. Unknown: a budget ended first. Unknown is never folded into
// Holds, and what was seen broken is never Unknown: when a budget ends before the smallest
// counterexample is found, some other is shown, which may not be the smallest.
//
// What tasks look at of the file system's own doing (inode numbers, file times) is decided
// in each case that the setting's assumptions leave open, and only where tasks look: numbers
// never come back, or with the next file; changes may share a time, or show to whoever
// looked before. The verdict is Broken when one case is, and Holds when all do;
// [Result.Cases] and [Result.Conditions] say which. What lies between (a file system that gives
// some numbers again and others not) is not explored. What a program reads of a file counts as
// looked at when it asks a FileInfo for it; of programs that are no Go functions nobody knows,
// so the verdict says what it assumes.
//
// Four kinds of judgement decide, and are never mixed; a property ([scenarios.Property])
// says which:
//
// Histories. An operation's call is stamped at its first step and its return at its
// last. A history is judged against the property's specification: it is legal when some
// order of the operations that respects real time explains every answer. An incremental
// monitor judges while the search goes on; porcupine confirms what it calls a violation,
// and judges every longest history in the end (with [RememberMonitors] only the
// counterexample). Histories with the same operations and the same precedence are one. A process
// that was killed or has exited holds nothing any more, and its pending operation has taken
// effect before its death, or never.
//
// Invariants. In every state, also while somebody is in the middle of something, a function
// of the machine and of those who hold finds nothing wrong. A task holds from the last
// step of its acquisition to the first of its release. foreign-release is one: the object
// at the name of a lock that is held is the one that its holder acquired. When the space is
// covered an invariant is evaluated once more in each, and must say the same.
//
// Assertions. What a task asserts fails with the step whose call it comes after, or with
// the task's first. The run ends there; for other properties it goes on. An assertion that
// fails in a scenario that claims nothing of assertions is an error.
//
// The graph of reachable states:
//
//   - deadlock: a state where somebody is unfinished and nobody can ever move again. A
//     task that polls can move. Or a task that goes round over a cell without an await, 10 000
//     accesses long: it holds up the event loop of its process for ever.
//     Real programs, which all are to end, must not poll for ever either: a part of the
//     graph that no step leads out of, with somebody in it who has not ended, is a violation.
//   - left-behind: a state where every process has ended, none of them killed, and a file is there
//     that was not there at the start and is not to stay ([scenarios.Scenario.Keeps]);
//   - wedge: a state where every process has finished or died, and a fresh process,
//     running alone with time passing, never gets through. "Never" means within 30 days
//     of virtual time and an attempt after that. Or a state from which steps lead to no end,
//     and to none in which a fresh process, alone, gets through (a trap): two that poll for
//     ever for a dead owner's file. Whoever comes into a trap has broken it there, although
//     a kill may still lead out: [Replay], [Sample] and rapid ask it of the state in which
//     a run ends and of those before faults, up to 200 000 states that follow; where there
//     are more, a sample says that it does not know.
//   - starvation: a cycle in which an operation has begun that the property is about (an
//     acquisition, for ours) and never returns
//     while it takes steps or waits, and in which nobody who can always move never does
//     (weak fairness). Crashes and stalls owe nobody anything. It is a claim about
//     scheduling: a lock that polls can starve unless something hands it over in turn.
//
// # Several locks
//
// Each lock is judged for itself. An operation carries the name of its lock, which
// [scenarios.LockName] makes of the path that it is given; a history is divided by these names
// (linearizability is local), and what names no lock, the death of a process, belongs to every
// part. Holders clash over one lock, and each lock that a task holds is watched. One lock must
// have one name, or what is done under one would not count under the other: two names that
// lead to one file, or to one place in a directory, in any state that was explored give no
// verdict. So do a release that does not say of which lock it is, where the task does not hold
// just one, and a property of one's own that cannot tell locks apart. That two names are one
// lock by agreement alone, and not on the machine, goes unnoticed; where no lock was ever
// acquired by two tasks, mutual exclusion has no verdict. A wedge is what the probe says: one
// that takes several locks asks for all of them.
//
// # Smallest counterexamples
//
// The counterexample of the graph engine is the smallest: fewest crashes and stalls,
// then fewest preemptions, then fewest steps, then the first in the order of names. A
// preemption is a switch away from a task that could have gone on; a task that has just
// slept has given way by itself. The search visits states in the order of that cost,
// together with who ran last, so the first violation it meets is the smallest. Of a
// starvation, the way into the cycle is the smallest.
//
// That search begins as soon as a violation was seen and the space has shown to have more than
// 50 000 states, and then it is the end: Result.Complete is false, the states and transitions
// are those of the search, and there are no odds. Options.Full covers everything all the same.
//
// # Odds
//
// The odds are the probability that a uniformly random scheduler hits the violation: in
// every state it takes each choice that is possible (a step of a task, each error
// with which its call can fail, a kill, a stall)
// with equal probability, until the property breaks or nothing can happen any more.
// They are the solution of a system of linear equations over the graph, bounded from both sides until
// nine digits are known; where that takes too long, Result.OddsWhy has the bounds. [Sample]
// with the strategy random draws from the same distribution.
//
// # Engines
//
// The graph engine learns each task's code as an automaton, call by call, and explores
// a graph of merged states without running the code again. The reference engine runs
// every schedule from its start and merges nothing: slow, and hard to get wrong. Tests
// compare the two, and both with live runs, step by step.
//
// # Limitations
//
// A program must be a function of what its calls answer: no time.Now, no ranging over a
// map to decide, no goroutine outside its Proc. Where the exploration notices otherwise
// it ends with an error and no verdict. That a retry round carries nothing over to the
// next is tried out, with 10 000 rounds of each kind in a row and with drawn mixtures
// of kinds: what shows only after rarer sequences of rounds goes unnoticed. An
// operation must make at least one call, and operations do not nest. Power, disks and
// networks do not fail unless the setting says so.
//
// # Debugging
//
// An unexpected Holds: look at Stats.Contended, which counts the steps that met somebody
// else's lock, and at the trace of a run of your choice ([Replay]). An unexpected
// Broken: read the counterexample's trace. An Unknown that never ends: does a loop carry
// something over from round to round, open a new file in each, or read the clock?
package checker
