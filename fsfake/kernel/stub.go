//go:build !linux

package kernel

import "lockpick/fsfake"

// A Program is ordinary Go code that a worker runs. There are no workers but on Linux.
type Program func(name string, port fsfake.Port) error

// MaybeWorker does nothing: there are no workers but on Linux.
func MaybeWorker(Program) {}
