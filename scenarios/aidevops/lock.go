// Package aidevops holds the instance lock of a shell script, which a trap removes when a signal
// comes: marcusquinn/aidevops (pulse-wrapper.sh), whose review found the trap armed before the lock is taken and
// proposed a flag, and what others do instead: a trap that is armed when the lock is taken (the operator loop of
// symphony-ts), and a lock that names its owner (sandy).
//
// A trap runs between any two steps of the script and then exits. Where none is armed the signal ends
// the script, which leaves everything as it is.
package aidevops

import (
	_ "embed"
	"strconv"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.aidevops/pulse.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me, foreign, wedge := scenarios.MutualExclusion, scenarios.ForeignRelease, scenarios.Wedge
	sys := kit.System{Name: "aidevops", Lock: lock, Report: "https://github.com/marcusquinn/aidevops/pull/18309", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "trap-first/contend", Does: "A directory is made or the script gives up. No signal comes.",
			Lock: directory(nothing, nothing, nothing), In: kit.In(kit.Contend(3), kit.Probe), Claims: kit.Holds(me, foreign, wedge),
		},
		kit.Row{
			ID: "trap-first/signal", Does: "The trap is armed first, and removes the directory of whoever has it.",
			Lock: directory(nothing, nothing, nothing), In: kit.In(kit.Contend(3), kit.Signal(1, remove)), Claims: kit.Broken(me, foreign),
		},
		kit.Row{
			ID: "flag-cleared-last/signal", Does: "A flag is set when the directory is made, and cleared when it is removed; the trap heeds it. In between the flag lies.",
			Lock: directory(set, nothing, clear), In: kit.In(kit.Contend(3), kit.Signal(1, removeIfSet)), Claims: kit.Broken(me, foreign, wedge),
		},
		kit.Row{
			ID: "flag-cleared-first/signal", Does: "The flag is cleared before the directory is removed: nobody is robbed, and a signal in between leaves the directory for ever.",
			Lock: directory(set, clear, nothing), In: kit.In(kit.Contend(3), kit.Signal(1, removeIfSet)),
			Claims: append(kit.Holds(me, foreign), kit.Broken(wedge)...),
		},
		kit.Row{
			ID: "trap-last/signal", Does: "The trap is armed when the directory was made, and stays: a signal before it leaves the directory, one after the release removes another's.",
			Report: "https://github.com/sociotechnica-org/symphony-ts/pull/152",
			Lock:   directory(set, nothing, nothing), In: kit.In(kit.Contend(3), kit.Signal(1, removeIfSet)), Claims: kit.Broken(me, foreign, wedge),
		},
		kit.Row{
			ID: "link-owned/signal", Does: "A file with the owner's pid is linked to the lock's name, and the trap removes it only if it names its own process.",
			Report: "https://github.com/rappdw/sandy/issues/14",
			Lock:   owned, In: kit.In(kit.Contend(3), kit.Signal(2, removeOwn)), Claims: kit.Holds(me, foreign, wedge),
		},
		kit.Row{
			ID: "link-owned/crash", Does: "The same, and a script is killed, for which there is no trap.",
			Report: "https://github.com/rappdw/sandy/issues/14",
			Lock:   owned, In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: append(kit.Holds(me), kit.Broken(wedge)...),
		},
	)
}

// held is a variable of the script.
var held = fsfake.Cell[bool]{Name: "held"}

func nothing(*scenarios.Task) {}

func set(t *scenarios.Task) { held.Store(t.Proc, true) }

func clear(t *scenarios.Task) { held.Store(t.Proc, false) }

// directory is mkdir and rm -rf, with what comes after the one, and before and after the other.
func directory(made, before, after scenarios.Program) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if t.Mkdir(lock, 0o777) != nil {
				return kit.Locked()
			}
			made(t)
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			before(t)
			err := t.Rmdir(lock)
			after(t)
			return err
		},
	}
}

// remove is the trap that asks nothing.
func remove(t *scenarios.Task) {
	t.Leave(lock, func() { _ = t.Rmdir(lock) })
}

// removeIfSet is the trap that heeds a flag: that the lock is held, or that the trap is armed.
func removeIfSet(t *scenarios.Task) {
	if !held.Load(t.Proc) {
		t.Exit()
		return
	}
	t.Leave(lock, func() { _ = t.Rmdir(lock) })
}

// owned is a lock that names its owner from the first moment on.
var owned = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, lock, strconv.Itoa(t.Getpid()))
		if err != nil {
			return kit.Failed(err)
		}
		refused := t.Link(private, lock)
		_ = t.Unlink(private)
		if refused != nil {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

// removeOwn is the trap that reads whose lock it is.
func removeOwn(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, lock); err != nil || text != strconv.Itoa(t.Getpid()) {
		t.Exit()
		return
	}
	t.Leave(lock, func() { _ = t.Unlink(lock) })
}
