//go:build !linux

package kernel

// MaybeWorker does nothing: there are no workers but on Linux.
func MaybeWorker() {}
