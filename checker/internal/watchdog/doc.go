// Package watchdog tells a program that runs on without a call: it is in an endless loop of its
// own, or waits for a Go lock or a channel that nobody will give it. Nothing can be decided then,
// and nothing can end it: whoever asked gets an error that says where it stands.
//
// It knows time, and is for the command and for package checkertest only: no verdict depends on
// it. A program is given [Patience] between two calls, counted in ticks, so that a computer that
// sleeps or is busy elsewhere counts for less.
package watchdog
