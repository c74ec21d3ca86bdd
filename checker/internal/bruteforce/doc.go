// Package bruteforce answers the questions that lockpick answers about a scenario, by
// means of its own: slowly, plainly, and without any code of the engines. It is a test, in
// files of tests only: protocols are drawn, and every answer is compared.
//
// A [Protocol] is a small program as data, with branches on results, polls, operations
// and memory shared by tasks. [Protocol.Scenario] renders it as a scenario for lockpick,
// whose tasks are Go functions that call the methods of a Proc. [Solve] explores the same
// data with an interpreter that makes the calls itself: a search over clones of the machine
// and the positions of the programs, breadth first, nothing learned, nothing reduced.
// States are told apart by a description of the machine that is made here, from what may be
// looked at, and not by the machine's own key, so a key that merges too much shows as well.
//
// From the graph come the verdict, the smallest counterexample (costs relaxed backwards
// from the violations, then the first way forwards), the odds (a linear system for each
// component, eliminated with pivots), and for starvation the weakly fair components.
// Histories are judged by a search over all orders, with specifications written here once
// more. Wedges are probed with the protocol's own probe.
//
// It knows the fake machine, the vocabulary of scenarios, and schedules as values. Only
// the comparison knows the engines (files of package bruteforce_test): what is said here must follow from the
// documentation of packages checker, scenarios and model alone.
//
// # Limits
//
// Spaces of some thousand states. Not asked here: losses of power, programs that exit by
// themselves, forks, times other than "older than", counters, leases and locks for readers
// and writers.
package bruteforce
