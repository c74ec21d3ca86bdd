// Package jib holds the locks of GoogleContainerTools/jib (Java), LockFile.java: a mutex
// for each path in the JVM, and an fcntl lock between JVMs
// (https://github.com/GoogleContainerTools/jib/issues/1695).
package jib

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.cache/jib/lock"

// Scenarios lists the lock as reported, and as repaired.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "jib", Lock: lock, Report: "https://github.com/GoogleContainerTools/jib/issues/1695", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "delete-after-unlock/tasks", Does: "The file is removed after the mutex was given back: another thread of the process may have locked it by then.",
			Lock: protocol(true), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "keep-file/tasks", Does: "The file is never removed.",
			Lock: protocol(false), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me),
		},
	)
}

// mutex is the path's mutex in this JVM.
var mutex = kit.Mutex{Name: "mutex"}

func protocol(remove bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			mutex.Lock(t)
			f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			return scenarios.Hold{File: f}, f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
			mutex.Unlock(t)
			if remove {
				err = errors.Join(err, t.Unlink(lock))
			}
			return err
		},
	}
}
