package real

import "lockpick/fsfake/kernel"

// Worker must be called first thing in main or TestMain of a binary that uses [Replay]. In an execution that
// Replay has started it makes calls and does not return; in any other it does nothing.
func Worker() { kernel.MaybeWorker() }
