// Package search chooses which steps to take. A [Tester] makes one run under a strategy and
// judges it; on it stand the reference engine, which makes every run there is
// ([Tester.SearchAll]), and [Tester.Shrink], which makes a failing schedule smaller. An
// [Explorer] covers the space of a scenario: level by level with any number of workers
// ([Explorer.Explore]), in the order of cost to the smallest counterexample
// ([Explorer.FindSmallest]), in the order of preemptions and depth first ([Explorer.CoverPreemptions]), and by its
// graph for odds and starvation.
//
// It knows what a step does from package engine. It must not know it better: no file of it
// says what a call, a kill or a loss of power changes. It concludes no verdict: package
// checker does.
//
// # Limits
//
// A run of a Tester is cut after 10 000 steps. The search for the smallest counterexample,
// and the graph, use one worker. What it finds is to be replayed ([Tester.Counterexample])
// before anybody sees it.
package search
