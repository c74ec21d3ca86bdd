// Package saved follows the schedule of a saved counterexample in a protocol that may have
// changed since.
//
// A schedule only says who steps. When a protocol makes one call more, or one less, the
// same letters lead elsewhere, and the bug seems to be gone although it is there. So a
// bundle keeps the call of each step, and what cannot be followed to the letter is aligned
// by them.
//
// It knows bundles and how a run is made. It must not know what anybody concludes: whether
// a bug is gone is a question about all schedules, which only a check of the scenario
// answers.
//
// Limits: the alignment is greedy. A task that makes the recorded call later than a few
// steps on is taken to make it no more, and calls of one name at one path count as the same.
package saved
