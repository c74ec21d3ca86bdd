package datafile

import (
	"errors"
	"os"
	"strings"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// carina has the renewal of carina-rs/carina's state lock (Rust,
// https://github.com/carina-rs/carina/issues/2668; the same in mmnto-ai/totem, issue 2576): by a rename over
// the lock, and through the descriptor kept since the acquisition.
func carina() []scenarios.Scenario {
	foreign := scenarios.ForeignRelease
	sys := kit.System{Name: "carina", Lock: carinaLock, Report: "https://github.com/carina-rs/carina/issues/2668",
		Source: kit.Part(files, "carina")}
	row := func(id, does string, renew scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/late-renewal", Does: does, Lock: carinaProtocol, Claims: claims,
			In: kit.In(kit.Roles(kit.Late(renew), scenarios.Once(carinaProtocol)),
				kit.File(carinaLock, "A "+carinaExpired))}
	}
	return sys.Scenarios(
		row("renew-by-rename", "A holder whose lease is over renews by a rename: over its successor's lock.",
			carinaRenewByRename, kit.Broken(foreign)),
		row("renew-by-fd", "It renews through the descriptor that it has: only the file that it made.",
			carinaRenewByFD, kit.Holds(foreign)),
	)
}

const (
	carinaLock    = "/srv/state/carina.lock"
	carinaExpired = "expired"
	carinaValid   = "valid"
)

var carinaProtocol = scenarios.Protocol{
	Path: carinaLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, carinaLock, t.Process+" "+carinaValid)
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, carinaLock)
		if kit.Exists(err) {
			text, rerr := kit.ReadAll(t, carinaLock)
			if rerr != nil || !strings.HasSuffix(text, carinaExpired) {
				return kit.Locked()
			}
			_ = t.Unlink(carinaLock)
			err = t.Link(private, carinaLock)
		}
		return scenarios.Hold{}, errors.Join(err, t.Unlink(private))
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(carinaLock) },
}

func carinaRenewByRename(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, carinaLock); err != nil || !strings.HasPrefix(text, t.Process) {
		return
	}
	private, err := kit.Private(t, carinaLock, t.Process+" "+carinaValid)
	if err == nil && t.Rename2(private, carinaLock, 0) == nil {
		_, _ = kit.ReadAll(t, carinaLock)
	}
}

// carinaRenewByFD opens the lock as its first step: it has had it open since it acquired.
func carinaRenewByFD(t *scenarios.Task) {
	f, err := t.OpenFile(carinaLock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if text, err := kit.ReadFrom(f); err == nil && strings.HasPrefix(text, t.Process) {
		_, _ = f.WriteAt([]byte(t.Process+" "+carinaValid), 0)
	}
	_ = f.Close()
}

// vellum has the release of vellum-ai/vellum-assistant's lock (TypeScript,
// https://github.com/vellum-ai/vellum-assistant/pull/39915) by a holder that has been overtaken. The first two
// forms are also in https://github.com/phantomyard/phantombot/issues/429 and
// https://github.com/tox-dev/filelock/pull/566.
func vellum() []scenarios.Scenario {
	foreign := scenarios.ForeignRelease
	sys := kit.System{Name: "vellum", Lock: vellumLock,
		Report: "https://github.com/vellum-ai/vellum-assistant/pull/39915", Source: kit.Part(files, "vellum")}
	row := func(id, does string, release scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/late-release", Does: does, Lock: vellumProtocol, Claims: claims,
			In: kit.In(kit.Roles(kit.Late(release), scenarios.Once(vellumProtocol)), kit.DeadOwner("A"))}
	}
	return sys.Scenarios(
		row("release-by-path", "A holder whose lease is over unlinks what stands at the name.", vellumByPath,
			kit.Broken(foreign)),
		row("release-checked", "It looks first whether the lock is its own, and then unlinks what stands at the name.",
			vellumChecked, kit.Broken(foreign)),
		row("release-by-fd", "It empties its own file through a descriptor; an empty lock is free.", vellumByFD,
			kit.Holds(foreign)),
	)
}

const (
	vellumLock  = "/home/user/.vellum/workspace.lock"
	vellumLease = time.Minute
)

var vellumProtocol = scenarios.Protocol{
	Path: vellumLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, vellumLock, t.Process)
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, vellumLock)
		if kit.Exists(err) {
			info, serr := t.Stat(vellumLock)
			if serr != nil || info.Size() > 0 && !kit.Older(t, info, vellumLease) {
				return kit.Locked()
			}
			_ = t.Unlink(vellumLock)
			err = t.Link(private, vellumLock)
		}
		return scenarios.Hold{}, errors.Join(err, t.Unlink(private))
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(vellumLock) },
}

func vellumByPath(t *scenarios.Task) { _ = t.Unlink(vellumLock) }

func vellumChecked(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, vellumLock); err == nil && text == t.Process {
		_ = t.Unlink(vellumLock)
	}
}

func vellumByFD(t *scenarios.Task) {
	f, err := t.OpenFile(vellumLock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if text, err := kit.ReadFrom(f); err == nil && text == t.Process {
		_ = f.Truncate(0)
	}
	_ = f.Close()
}
