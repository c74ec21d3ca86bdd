// Package aferofs runs code that is written against afero.Fs on a simulated process:
// [New] dresses a Proc as an afero.Fs, and each call of it makes the system calls that
// afero.NewOsFs would make, so each is a scheduling point.
//
//	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
//		return scenarios.Hold{}, mylock.Acquire(aferofs.New(t.Proc), "/lock")
//	}
//
// # What it knows, and what it must not
//
// It knows package fsfake and the interfaces of afero. It must not know any protocol,
// schedule or scenario.
//
// # What afero cannot express
//
// Afero has no flock(2), no record locks and no way to link(2) one name to another, so
// no code behind it can use them. Code that takes a descriptor out of a file to lock
// it asserts that the file is an *os.File, or has Fd() uintptr; these files have not,
// so that no lock is taken on a descriptor of the real process by mistake. Such code
// wants package osfs, or a Proc. Afero also has no clock, no pid and no kill(2): what
// a lock needs of those it must take from the Task.
//
// # Limits
//
// Afero's own helpers work (afero.ReadFile, afero.WriteFile, afero.Walk), but for
// afero.TempFile and afero.TempDir, which draw names from a random source of their
// own: a run with them cannot be repeated; use [fsfake.Proc.CreateTemp]. OpenFile knows the
// flags that package fsfake models. Otherwise the limits are those of [fsfake.Proc].
package aferofs
