package flockfile

import (
	"errors"
	"io"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// freebsd has FreeBSD's flopen(3) and pidfile(3), lib/libutil; libbsd has them too. It is the shape to copy:
// lock, then compare the file with what stands at its name, and remove the name only while it is locked.
func freebsd() []scenarios.Scenario {
	sys := kit.System{Name: "freebsd-pidfile", Lock: freebsdLock,
		Report: "https://github.com/freebsd/freebsd-src/blob/main/lib/libutil/flopen.c",
		Source: kit.Part(files, "freebsd")}
	return sys.Scenarios(kit.Row{ID: "flopen/contend",
		Does: "Whoever has locked the file compares it with what stands at its name; only a holder removes the name.",
		Lock: freebsdProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Holds(scenarios.MutualExclusion)})
}

const freebsdLock = "/var/run/daemon.pid"

var freebsdProtocol = scenarios.Protocol{
	Path: freebsdLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := kit.OpenFlock(t, freebsdLock, os.O_WRONLY, fsfake.LOCK_EX|fsfake.LOCK_NB)
			if err != nil {
				return kit.Failed(err)
			}
			if !kit.AtItsName(t, f, freebsdLock) {
				_ = f.Close()
				continue
			}
			if err := f.Truncate(0); err != nil {
				return kit.Failed(err)
			}
			_, err = f.WriteAt([]byte(kit.Me(t)), 0)
			return scenarios.Hold{File: f}, err
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		_, err := h.File.Stat() // is it still the file that was opened?
		return errors.Join(err, t.Unlink(freebsdLock), h.File.Close())
	},
}

// portalocker has the locks of wolph/portalocker (Python): a file that is removed after, or while, it is
// locked, and a pid file beside it.
//
// The race was reported in https://github.com/wolph/portalocker/issues/115 and is fixed in 4.0.0, by a look at
// the name after the lock was taken together with a removal before the lock is given back. Either half alone is
// broken.
func portalocker() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "portalocker", Lock: portalockerLock, Report: portalockerReport,
		Source: kit.Part(files, "portalocker")}
	twice := portalockerFile(true, true)
	return sys.Scenarios(
		kit.Row{ID: "unlink-after-unlock/contend", Does: "The file is removed after it was unlocked (3.x).",
			Lock: portalockerFile(false, false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(me)},
		kit.Row{ID: "second-release/contend",
			Does: "An object that holds nothing still removes the file when it is released once more.", Lock: twice,
			In:     kit.In(kit.Roles(portalockerReleaseTwice(twice), scenarios.Once(twice), scenarios.Once(twice))),
			Claims: kit.Broken(me)},
		kit.Row{ID: "verify-only/contend",
			Does: "Half of the fix: who locks looks whether the file is still at its name; it is removed after it " +
				"was unlocked.", Lock: portalockerFile(true, false), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Broken(me)},
		kit.Row{ID: "verify-and-unlink-held/contend",
			Does: "Who locks looks whether the file is still at its name, and only a holder removes it (4.0.0).",
			Lock: portalockerFile(true, true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "pidfile-sidecar/ask", Does: "The pid file is written while its sidecar is locked (4.0.0).",
			Lock: portalockerSidecar,
			In: kit.In(kit.Roles(kit.Ask(portalockerSidecar, portalockerOwner),
				scenarios.Once(portalockerSidecar))),
			Claims: kit.Holds(scenarios.OwnerInfo), Watch: []string{portalockerPidFile}},
	)
}

const (
	portalockerPidFile = "/run/lock/app.pid"
	portalockerLock    = "/run/lock/app.pid.lock"
	portalockerReport  = "https://github.com/wolph/portalocker/issues/115"
)

// portalockerFile is TemporaryFileLock: verify is the look at the name after locking, held the
// removal before unlocking.
func portalockerFile(verify, held bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: portalockerLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := kit.OpenFlock(t, portalockerLock, os.O_WRONLY|os.O_APPEND, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				if verify && !kit.AtItsName(t, f, portalockerLock) {
					_ = f.Close()
					continue
				}
				return scenarios.Hold{File: f}, f.Truncate(0)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if held {
				return errors.Join(t.Unlink(portalockerLock), h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			}
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(portalockerLock))
		},
	}
}

// portalockerReleaseTwice holds once, and releases once more later: a second call, or the garbage
// collection of the object.
func portalockerReleaseTwice(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() { t.Work() })
		_ = t.Unlink(portalockerLock)
	}
}

// portalockerSidecar is PidFileLock: the pid file is written under the lock beside it.
var portalockerSidecar = scenarios.Protocol{
	Path: portalockerLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		h, err := portalockerFile(true, true).Acquire(t)
		if err != nil {
			return h, err
		}
		p, err := t.OpenFile(portalockerPidFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return h, err
		}
		if err := p.Truncate(0); err != nil {
			return h, err
		}
		_, err = p.WriteString(kit.Me(t))
		return h, errors.Join(err, p.Close())
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(t.Unlink(portalockerPidFile), portalockerFile(true, true).Release(t, h))
	},
}

// portalockerOwner reads the pid file.
func portalockerOwner(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, portalockerPidFile)
	return kit.PidIn(text)
}

// systemd has make_lock_file and release_lock_file of systemd, src/basic/lock-util.c: an OFD lock, a look at
// the link count, and a removal by the holder only. On NFS the link count is no witness; there is no NFS here.
func systemd() []scenarios.Scenario {
	sys := kit.System{Name: "systemd", Lock: systemdLock,
		Report: "https://github.com/systemd/systemd/blob/main/src/basic/lock-util.c",
		Source: kit.Part(files, "systemd")}
	return sys.Scenarios(kit.Row{ID: "make-lock-file/contend",
		Does: "Only a holder removes the name, and whoever has locked a removed file sees that it has no link.",
		Lock: systemdProtocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion)})
}

const systemdLock = "/run/systemd/nspawn/locks/.#machine.lck"

var systemdProtocol = scenarios.Protocol{
	Path: systemdLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(systemdLock, os.O_RDWR|os.O_CREATE|fsfake.O_NOFOLLOW, 0o600)
			if err != nil {
				return kit.Failed(err)
			}
			if err := f.OFDLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true); err != nil {
				return kit.Failed(err)
			}
			if kit.Linked(f) {
				return kit.Held(f)
			}
			_ = f.Close()
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(t.Unlink(systemdLock), h.File.Close())
	},
}

// zc has zc.lockfile (Python: Zope, ZEO, CherryPy), src/zc/lockfile/__init__.py: flock(2) on a file that stays
// and names its holder. The code's comment sees that two may create it, and calls that harmless. No report of
// what the row shows is known; mutual exclusion holds.
func zc() []scenarios.Scenario {
	sys := kit.System{Name: "zc-lockfile", Lock: zcLock, Report: "https://github.com/zopefoundation/zc.lockfile",
		Source: kit.Part(files, "zc")}
	ask := kit.Ask(zcProtocol, func(t *scenarios.Task) int {
		text, _ := kit.ReadAll(t, zcLock)
		return kit.PidIn(text)
	})
	return sys.Scenarios(kit.Row{ID: "append-on-create/ask",
		Does: "Two find no file, and open one for appending: the second's pid goes behind the first's.",
		Lock: zcProtocol, In: kit.In(kit.Roles(ask, scenarios.Once(zcProtocol))),
		Claims: append(kit.Broken(scenarios.OwnerInfo), kit.Holds(scenarios.MutualExclusion)...)})
}

const zcLock = "/var/zope/Data.fs.lock"

var zcProtocol = scenarios.Protocol{
	Path: zcLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(zcLock, os.O_RDWR, 0)
		if kit.Missing(err) {
			f, err = t.OpenFile(zcLock, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
		}
		if err != nil {
			return kit.Failed(err)
		}
		if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
			_, _ = f.ReadAt(make([]byte, 20), 1) // the owner, for the log
			return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
		}
		_, err1 := f.WriteString(" " + kit.Me(t))
		at, err2 := f.Seek(0, io.SeekCurrent)
		return scenarios.Hold{File: f}, errors.Join(err1, err2, f.Truncate(at))
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}
