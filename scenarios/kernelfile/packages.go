package kernelfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The locks of two package managers, written down from their sources.

var wholeFile = fsfake.RecordLock{Type: fsfake.F_WRLCK}

// opkg is the lock of OpenWrt's package manager (C): lockf(3) on a file that is removed after it was closed.
func opkg() []scenarios.Scenario {
	const lock = "/var/lock/opkg.lock"
	sys := kit.System{Name: "opkg", Lock: lock, Source: kit.Part(files, "opkg"),
		Report: kit.At("openwrt/opkg-lede", "1a4c5369c4f62b0fc573f22fa53724603672910a", "libopkg/opkg_conf.c")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-after-close/contend",
		Does: "The file is removed after it was closed: by then another one has locked it, and a third makes its own.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
				if err != nil {
					return kit.Failed(err)
				}
				if f.FcntlLock(wholeFile, false) != nil {
					return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
				}
				return kit.Held(f)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				unlocked := h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false)
				return errors.Join(unlocked, h.File.Close(), t.Unlink(lock))
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// portage is the lock of Gentoo's package manager (Python). Whoever gives it up removes the file only after it has
// locked it again. Whoever has it looks by a hard link whether the name is that file's, for stat may be old on NFS.
func portage() []scenarios.Scenario {
	const lock = "/var/db/pkg/.sys-apps.portage_lockfile"
	sys := kit.System{Name: "portage", Lock: lock, Source: kit.Part(files, "portage"),
		Report: kit.At("gentoo/portage", "02922cb3a7eb72e9bf4cec9e30b35aa4adaa51c8", "lib/portage/locks.py")}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o660)
				if err != nil {
					return kit.Failed(err)
				}
				if f.FcntlLock(wholeFile, false) != nil { // only for a message that it waits
					if err := f.FcntlLock(wholeFile, true); err != nil {
						return kit.Failed(err)
					}
				}
				if portageNamed(t, f, lock) {
					return kit.Held(f)
				}
				_ = f.Close()
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if _, err := t.Stat(lock); err == nil {
				_ = h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false)
				if h.File.FcntlLock(wholeFile, false) == nil {
					if mine, err := h.File.Stat(); err == nil && mine.Sys().(*fsfake.Stat).Nlink == 1 {
						_ = t.Unlink(lock)
					}
				}
			}
			return h.File.Close()
		},
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "compare-by-link/contend", Does: "Locked again before it is removed, and compared: one holds it.",
			Lock: l, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "compare-by-link/crash", Lock: l,
			Does: "Whoever is killed leaves the file, and at most a hard link to it: nobody removes the file then, " +
				"and the next one still gets it.",
			In: kit.In(kit.Contend(2), kit.Kill(1), kit.Probe), Alike: true,
			Claims: kit.Holds(me, scenarios.Wedge)},
	)
}

// portageNamed reports whether the locked file is what stands at the name.
func portageNamed(t *scenarios.Task, f *fsfake.File, lock string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	private := kit.PrivateName(t, lock+".hardlock")
	_ = t.Unlink(private)
	if t.Link(lock, private) != nil {
		return false
	}
	there, err := t.Stat(private)
	_ = t.Unlink(private)
	return err == nil && fsfake.SameFile(mine, there)
}
