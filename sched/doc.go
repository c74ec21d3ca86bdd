// Package sched decides who runs next. It steps ordinary Go functions as coroutines
// ([Coroutine]), writes and reads schedules as text ([Schedule], [ParseSchedule]), and
// holds the strategies, one per file: [RunToCompletion] with a list of preemptions,
// [Random], [PCT], [DepthFirst], and strict [Replay].
//
// It knows tasks, choices and schedules. It must not know files, locks, machines or
// scenarios: it imports the standard library only.
//
// Limits: the goroutine behind a coroutine runs only while its driver waits for it, so
// nothing here is concurrent. Strategies draw from math/rand/v2's PCG under a seed; two
// runs with one seed make the same choices on every platform.
package sched
