// Package history is what tasks did to a lock, as operations with their intervals, and its
// judgement.
//
// A [Recorder] writes down the history of one run, and a [Judge] asks porcupine about it. A
// [Table] holds all histories of an exploration, as far as a judgement
// can depend on them, and has an incremental monitor (package model) judge each
// while it grows; porcupine, the judge of record, makes the final check of what the monitor
// said. Where the two differ, the table has a [Table.Fault], and there must be no verdict.
//
// It knows specifications (package model), timestamps (package trace) and the names of
// processes. It must not know machines, schedules or how a space is explored.
//
// # Limits
//
// Clients have at most one pending operation each. A table that keeps monitors only cannot
// tell a history again, nor be checked by porcupine as a whole.
package history
