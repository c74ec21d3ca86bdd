// Package cli is the whole command line of lockpick behind one call: [Main] of a list
// of scenarios. A program with scenarios of its own calls it from its main, and has
// list, check, explain, replay and sample for them.
//
// It knows flags, files, terminals, exit codes and the clock on the wall. It must not
// know how a verdict is made (package checker) nor how one is drawn (package report).
//
// Exit codes: 0 all verdicts are as claimed; 1 some verdict differs; 2 the command line
// or some input is wrong, and then there is one line on standard error and no verdict;
// 3 some verdict is Unknown, and none differs. Machine output goes to standard output,
// progress and diagnostics to standard error, progress only to a terminal.
//
// Limits: one command is one process on one machine.
package cli
