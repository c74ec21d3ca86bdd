package pidfile

import (
	"path"
	"strconv"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// aidevops has the instance lock of a shell script, which a trap removes when a signal comes:
// marcusquinn/aidevops (pulse-wrapper.sh), whose review found the trap armed before the lock is taken and
// proposed a flag, and what others do instead: a trap that is armed when the lock is taken (the operator loop
// of symphony-ts), and a lock that names its owner (sandy).
//
// A trap runs between any two steps of the script and then exits. Where none is armed the signal ends the
// script, which leaves everything as it is.
func aidevops() []scenarios.Scenario {
	me, foreign, wedge := scenarios.MutualExclusion, scenarios.ForeignRelease, scenarios.Wedge
	sys := kit.System{Name: "aidevops", Lock: aidevopsLock,
		Report: "https://github.com/marcusquinn/aidevops/pull/18309", Source: kit.Part(files, "aidevops")}
	return sys.Scenarios(
		kit.Row{ID: "trap-first/contend", Does: "A directory is made or the script gives up. No signal comes.",
			Lock: aidevopsDirectory(aidevopsNothing, aidevopsNothing, aidevopsNothing),
			In:   kit.In(kit.Contend(3), kit.Probe), Claims: kit.Holds(me, foreign, wedge)},
		kit.Row{ID: "trap-first/signal", Does: "The trap is armed first, and removes the directory of whoever has it.",
			Lock: aidevopsDirectory(aidevopsNothing, aidevopsNothing, aidevopsNothing),
			In:   kit.In(kit.Contend(3), kit.Signal(1, aidevopsRemove)), Claims: kit.Broken(me, foreign)},
		kit.Row{ID: "flag-cleared-last/signal",
			Does: "A flag is set when the directory is made, and cleared when it is removed; the trap heeds it. In " +
				"between the flag lies.", Lock: aidevopsDirectory(aidevopsSet, aidevopsNothing, aidevopsClear),
			In: kit.In(kit.Contend(3), kit.Signal(1, aidevopsRemoveIfSet)), Claims: kit.Broken(me, foreign, wedge)},
		kit.Row{ID: "flag-cleared-first/signal",
			Does: "The flag is cleared before the directory is removed: nobody is robbed, and a signal in between " +
				"leaves the directory for ever.", Lock: aidevopsDirectory(aidevopsSet, aidevopsClear, aidevopsNothing),
			In:     kit.In(kit.Contend(3), kit.Signal(1, aidevopsRemoveIfSet)),
			Claims: append(kit.Holds(me, foreign), kit.Broken(wedge)...)},
		kit.Row{ID: "trap-last/signal",
			Does: "The trap is armed when the directory was made, and stays: a signal before it leaves the " +
				"directory, one after the release removes another's.",
			Report: "https://github.com/sociotechnica-org/symphony-ts/pull/152",
			Lock:   aidevopsDirectory(aidevopsSet, aidevopsNothing, aidevopsNothing),
			In:     kit.In(kit.Contend(3), kit.Signal(1, aidevopsRemoveIfSet)), Claims: kit.Broken(me, foreign, wedge)},
		kit.Row{ID: "link-owned/signal",
			Does: "A file with the owner's pid is linked to the lock's name, and the trap removes it only if it " +
				"names its own process.", Report: "https://github.com/rappdw/sandy/issues/14", Lock: aidevopsOwned,
			In: kit.In(kit.Contend(3), kit.Signal(2, aidevopsRemoveOwn)), Claims: kit.Holds(me, foreign, wedge)},
		kit.Row{ID: "link-owned/crash", Does: "The same, and a script is killed, for which there is no trap.",
			Report: "https://github.com/rappdw/sandy/issues/14", Lock: aidevopsOwned,
			In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: append(kit.Holds(me), kit.Broken(wedge)...)},
	)
}

const aidevopsLock = "/home/user/.aidevops/pulse.lock"

// aidevopsHeld is a variable of the script.
var aidevopsHeld = fsfake.Cell[bool]{Name: "held"}

func aidevopsNothing(*scenarios.Task) {}

func aidevopsSet(t *scenarios.Task) { aidevopsHeld.Store(t.Proc, true) }

func aidevopsClear(t *scenarios.Task) { aidevopsHeld.Store(t.Proc, false) }

// aidevopsDirectory is mkdir and rm -rf, with what comes after the one, and before and after the other.
func aidevopsDirectory(made, before, after scenarios.Program) scenarios.Protocol {
	return scenarios.Protocol{
		Path: aidevopsLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if t.Mkdir(aidevopsLock, 0o777) != nil {
				return kit.Locked()
			}
			made(t)
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			before(t)
			err := t.Rmdir(aidevopsLock)
			after(t)
			return err
		},
	}
}

// aidevopsRemove is the trap that asks nothing.
func aidevopsRemove(t *scenarios.Task) {
	t.Leave(aidevopsLock, func() { _ = t.Rmdir(aidevopsLock) })
}

// aidevopsRemoveIfSet is the trap that heeds a flag: that the lock is held, or that the trap is armed.
func aidevopsRemoveIfSet(t *scenarios.Task) {
	if !aidevopsHeld.Load(t.Proc) {
		t.Exit()
		return
	}
	t.Leave(aidevopsLock, func() { _ = t.Rmdir(aidevopsLock) })
}

// aidevopsOwned is a lock that names its owner from the first moment on.
var aidevopsOwned = scenarios.Protocol{
	Path: aidevopsLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, aidevopsLock, strconv.Itoa(t.Getpid()))
		if err != nil {
			return kit.Failed(err)
		}
		refused := t.Link(private, aidevopsLock)
		_ = t.Unlink(private)
		if refused != nil {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(aidevopsLock) },
}

// aidevopsRemoveOwn is the trap that reads whose lock it is.
func aidevopsRemoveOwn(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, aidevopsLock); err != nil || text != strconv.Itoa(t.Getpid()) {
		t.Exit()
		return
	}
	t.Leave(aidevopsLock, func() { _ = t.Unlink(aidevopsLock) })
}

// dev3 has the lock directory of h0x91b/dev-3.0 (TypeScript), made with mkdir -p where its parent is missing
// (https://github.com/h0x91b/dev-3.0/pull/660). Its rule for old locks is left out.
func dev3() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "dev3", Lock: dev3Lock, Report: "https://github.com/h0x91b/dev-3.0/pull/660",
		Source: kit.Part(files, "dev3")}
	return sys.Scenarios(
		kit.Row{ID: "mkdir-recursive/contend",
			Does: "Where the parent is missing the lock is made with mkdir -p, which swallows that it is there.",
			Lock: dev3Protocol(true), In: kit.In(kit.Contend(2), kit.NoDirectory), Alike: true,
			Claims: kit.Broken(me)},
		kit.Row{ID: "mkdir-plain/contend", Does: "Only the parent is made so, and then the lock is tried again.",
			Lock: dev3Protocol(false), In: kit.In(kit.Contend(2), kit.NoDirectory), Alike: true,
			Claims: kit.Holds(me)},
	)
}

const dev3Lock = "/home/user/.dev3/locks/project"

func dev3Protocol(recursive bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: dev3Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := t.Mkdir(dev3Lock, 0o777)
				if err == nil {
					return scenarios.Hold{}, nil
				}
				if !kit.Missing(err) {
					t.Sleep(kit.Poll)
					continue
				}
				if err := t.Mkdir(path.Dir(dev3Lock), 0o777); err != nil && !kit.Exists(err) {
					return kit.Failed(err)
				}
				if !recursive {
					continue
				}
				if err := t.Mkdir(dev3Lock, 0o777); err == nil || kit.Exists(err) {
					return scenarios.Hold{}, nil
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(dev3Lock) },
	}
}
