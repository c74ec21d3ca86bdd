// Command daemon asks about the pid file of a daemon, from its two functions alone.
package main

import (
	"os"
	"strconv"

	"lockpick/checker/cli"
	"lockpick/scenarios"
)

const name = "/run/daemon.pid"

func acquire(t *scenarios.Task) (scenarios.Hold, error) {
	if text, err := t.ReadFile(name); err == nil {
		pid, _ := strconv.Atoi(string(text))
		if pid == 0 || t.Kill(pid) == nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		_ = t.Remove(name) // its owner is dead
	}
	f, err := t.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	_, _ = f.WriteString(strconv.Itoa(t.Getpid()))
	return scenarios.Hold{}, f.Close()
}

func release(t *scenarios.Task, _ scenarios.Hold) error { return t.Remove(name) }

func main() {
	lock := scenarios.Subject{
		ID:   "daemon/pid-file",
		Lock: scenarios.Protocol{Path: name, Acquire: acquire, Release: release},
	}
	cli.Main([]scenarios.Scenario{lock.Contend()})
}
