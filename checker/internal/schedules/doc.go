// Package schedules lists schedules, one after another. It knows what a strategy sees of a run, and
// nothing of machines or properties. It merges nothing and remembers nothing but the way to the
// schedule that it is at.
package schedules
