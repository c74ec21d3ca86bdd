// Package checkertest puts lockpick into `go test`: [Run] checks every claim of a
// scenario over all schedules, [Rapid] draws schedules and shrinks the first that
// fails, [Property] is the same as a property for rapid.Check.
//
// A failure shows the schedule as text, what happened in it step by step, and the
// command that replays it: the same test with the schedule in the environment variable
// LOCKPICK_SCHEDULE.
//
// [Survey] tries a lock in the situations in which locks break, from its protocol alone.
//
// [Replay] keeps counterexamples that were saved as bundles from coming back.
//
// It knows package testing and rapid, which package checker does not: a program that
// imports rapid gets rapid's command-line flags.
//
// # Limits
//
// Drawing shows that a property is broken, never that it holds; and it judges single
// runs, so it cannot show starvation.
package checkertest
