// Package checkertest puts lockpick into `go test`: [Run] checks every claim of a
// scenario over all schedules.
//
// A failure shows the schedule as text, what happened in it step by step, and the
// command that replays it: the same test with the schedule in the environment variable
// LOCKPICK_SCHEDULE.
//
// [Survey] tries a lock in the situations in which locks break, from its protocol alone.
//
// [Replay] keeps counterexamples that were saved as bundles from coming back.
//
// It knows package testing, which package checker does not.
package checkertest
