// Package filelock holds the locks of tox-dev/filelock (Python: virtualenv,
// huggingface_hub, conda-build, PyTorch): SoftFileLock, a file with its owner's pid, for
// file systems without flock(2), and UnixFileLock, which is flock(2).
//
// Four versions of the soft lock's takeover verify more and more after the rename. The
// fault is the rename itself: it moves whatever stands at the name.
package filelock

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/home/user/.cache/model.lock"
	pulls = "https://github.com/tox-dev/filelock/pull/"
)

// Scenarios lists the versions, each in its situations.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "filelock", Lock: lock, Report: "https://github.com/tox-dev/filelock", Source: source}
	takeover := func(id, pull, does string, s soft) kit.Row {
		return kit.Row{
			ID: id + "/dead-owner", Report: pulls + pull, Does: does, Lock: s.protocol(),
			In:     kit.In(kit.Contend(2), kit.DeadOwner(text(scenarios.DeadPid))),
			Claims: kit.Broken(scenarios.MutualExclusion),
		}
	}
	ask := func(id, report, does string, truncate bool, claims []scenarios.Claim) kit.Row {
		l := unix(truncate)
		return kit.Row{
			ID: id + "/ask", Report: report, Does: does, Lock: l, Claims: claims,
			In: kit.In(kit.Roles(kit.Ask(l, owner), scenarios.Once(l))),
		}
	}
	file := func(id, report, does string, remove bool, claims []scenarios.Claim) kit.Row {
		l := unix(false)
		keep := l.Release
		l.Release = func(t *scenarios.Task, h scenarios.Hold) error {
			if remove {
				_ = t.Unlink(lock)
			}
			return keep(t, h)
		}
		return kit.Row{ID: id + "/contend", Report: report, Does: does, Lock: l, In: kit.In(kit.Contend(3)), Claims: claims}
	}
	fork := func(id, does string, unlocks bool, claims []scenarios.Claim) kit.Row {
		l := unix(false)
		return kit.Row{
			ID: id + "/fork", Report: "https://github.com/tox-dev/filelock/issues/634", Does: does, Claims: claims,
			In: kit.In(kit.Family(forks(l), childOf(unlocks)), kit.Beside(scenarios.Once(l))),
		}
	}
	attack := func(id, does string, flags int, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/attack", Report: pulls + "461", Does: does, Claims: claims, Watch: []string{victim},
			In: kit.In(kit.Roles(saves(flags), plants)),
		}
	}
	return sys.Scenarios(
		file("unix-unlink-on-release", "https://github.com/tox-dev/filelock/issues/574", "The file is unlinked, unlocked and closed (3.20.4): a waiter locks what has no name.", true, kit.Broken(scenarios.MutualExclusion)),
		file("unix-keep-file", pulls+"577", "The file stays, as before.", false, kit.Holds(scenarios.MutualExclusion)),
		takeover("soft-rename-aside", "476", "A dead owner's lock is renamed aside, and then removed: the rename may move a live one.", soft{grace: true}),
		takeover("soft-verify-mtime", "551", "After the rename the time is compared; a live lock stays aside, and the name is free.", soft{mtime: true}),
		takeover("soft-verify-inode", "561", "After the rename the inode number is compared as well.", soft{mtime: true, inode: true}),
		takeover("soft-private-name", "576", "The name aside is unique for each attempt.", soft{mtime: true, inode: true, random: true}),
		ask("unix-truncating-open", "https://github.com/tox-dev/filelock/issues/591", "Whoever tries the lock empties the file that names the holder.", true, kit.Broken(scenarios.OwnerInfo)),
		fork("unix-unlock-in-child", "A child inherits the lock, and its copy of the object is finalised: it unlocks what both share.", true, kit.Broken(scenarios.MutualExclusion)),
		fork("unix-close-in-child", "A child that inherits the lock only closes its descriptor.", false, kit.Holds(scenarios.MutualExclusion)),
		attack("follow-symlink", "A look for a symbolic link, and then an open that follows one: somebody puts it there in between, and a file of the user's is emptied.", 0, kit.Broken(scenarios.LostUpdate)),
		attack("nofollow", "The open itself refuses symbolic links.", fsfake.O_NOFOLLOW, kit.Holds(scenarios.LostUpdate)),
		ask("unix-truncate-after-lock", pulls+"594", "The file is emptied only when it is locked.", false, kit.Holds(scenarios.OwnerInfo)),
	)
}

const host = "host"

func text(pid int) string { return fmt.Sprintf("%d\n%s\n", pid, host) }

// A soft is SoftFileLock, with what its versions verify.
type soft struct {
	grace  bool // a lock younger than 2 s is alive
	mtime  bool // compare the time after the rename
	inode  bool // and the inode number
	random bool // a new name aside for each attempt
}

func (s soft) protocol() scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_TRUNC|fsfake.O_NOFOLLOW, 0o644)
				if err == nil {
					_, err = f.WriteString(text(t.Getpid()))
					return scenarios.Hold{File: f}, err
				}
				if !kit.Exists(err) {
					return kit.Failed(err)
				}
				s.breakStale(t)
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return errors.Join(h.File.Close(), t.Unlink(lock)) },
	}
}

// breakStale removes the lock of a dead process.
func (s soft) breakStale(t *scenarios.Task) {
	if s.grace {
		info, err := t.Stat(lock)
		if err != nil || !kit.Older(t, info, 2*time.Second) {
			return
		}
	}
	judged, dead := judge(t)
	if !dead {
		return
	}
	aside := kit.PrivateName(t, lock+".break")
	if s.random {
		aside += ".8f3a"
	}
	if t.Rename2(lock, aside, 0) != nil {
		return
	}
	if s.mtime {
		now, err := t.Lstat(aside)
		if err != nil || now.ModTime().After(judged.ModTime()) || s.inode && !fsfake.SameFile(now, judged) {
			return // a live lock was moved; it stays aside
		}
	}
	_ = t.Unlink(aside)
}

// judge reads the lock and reports whether its owner is dead.
func judge(t *scenarios.Task) (fs.FileInfo, bool) {
	f, err := t.Open(lock)
	if err != nil {
		return nil, false
	}
	info, err1 := f.Stat()
	content, err2 := kit.ReadFrom(f)
	if errors.Join(err1, err2, f.Close()) != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if len(lines) != 2 || lines[1] != host {
		return info, false
	}
	return info, kit.Gone(t, kit.PidIn(lines[0]))
}

// unix is UnixFileLock, whose user writes the pid into the file.
func unix(truncatingOpen bool) scenarios.Protocol {
	flags := os.O_RDWR
	if truncatingOpen {
		flags |= os.O_TRUNC
	}
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := kit.OpenFlock(t, lock, flags, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					t.Sleep(kit.Poll)
					continue
				}
				if !truncatingOpen {
					err = f.Truncate(0)
				}
				_, werr := f.WriteString(kit.Me(t))
				return scenarios.Hold{File: f}, errors.Join(err, werr)
			}
			panic("unreachable")
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
		},
	}
}

func owner(t *scenarios.Task) int {
	content, _ := kit.ReadAll(t, lock)
	return kit.PidIn(content)
}
