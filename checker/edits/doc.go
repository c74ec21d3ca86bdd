// Package edits asks what becomes of a protocol in Go when it is changed: [Weigh] leaves out each of its calls and
// swaps each two neighbours, [RepairProtocol] looks for a change that mends it.
//
// It knows how a scenario is decided (package checker). It must not know how an answer is printed, nor how a change
// is made: that is package lockpick/checker/internal/edit.
package edits
