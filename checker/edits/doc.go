// Package edits asks what becomes of a protocol in Go when it is changed: [Weigh] leaves out each of its calls and
// swaps each two neighbours, [RepairProtocol] looks for a change that mends it.
//
// What is found holds of the changed calls, with the answers that the program then goes on with: see the limits of
// package lockpick/checker/internal/edit. Only what the scenario claims is asked, so a call that carries nothing of
// that may carry something else.
//
// It knows how a scenario is decided (package checker). It must not know how an answer is printed, nor how a change
// is made: that is package lockpick/checker/internal/edit.
package edits
