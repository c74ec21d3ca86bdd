package flockfile

import (
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

// filelock has the locks of tox-dev/filelock (Python: virtualenv, huggingface_hub, conda-build, PyTorch):
// SoftFileLock, a file with its owner's pid, for file systems without flock(2), and UnixFileLock, which is
// flock(2).
//
// Four versions of the soft lock's takeover verify more and more after the rename. The fault is the rename
// itself: it moves whatever stands at the name.
func filelock() []scenarios.Scenario {
	sys := kit.System{Name: "filelock", Lock: filelockLock, Report: "https://github.com/tox-dev/filelock",
		Source: kit.Part(files, "filelock")}
	takeover := func(id, pull, does string, s filelockSoft) kit.Row {
		return kit.Row{ID: id + "/dead-owner", Report: filelockPulls + pull, Does: does, Lock: s.protocol(),
			In:     kit.In(kit.Contend(2), kit.DeadOwner(filelockText(scenarios.DeadPid))),
			Claims: kit.Broken(scenarios.MutualExclusion)}
	}
	ask := func(id, report, does string, truncate bool, claims []scenarios.Claim) kit.Row {
		l := filelockUnix(truncate)
		return kit.Row{ID: id + "/ask", Report: report, Does: does, Lock: l, Claims: claims,
			In: kit.In(kit.Roles(kit.Ask(l, filelockOwner), scenarios.Once(l)))}
	}
	file := func(id, report, does string, remove bool, claims []scenarios.Claim) kit.Row {
		l := filelockUnix(false)
		keep := l.Release
		l.Release = func(t *scenarios.Task, h scenarios.Hold) error {
			if remove {
				_ = t.Unlink(filelockLock)
			}
			return keep(t, h)
		}
		return kit.Row{ID: id + "/contend", Report: report, Does: does, Lock: l, In: kit.In(kit.Contend(3)),
			Claims: claims}
	}
	fork := func(id, does string, unlocks bool, claims []scenarios.Claim) kit.Row {
		l := filelockUnix(false)
		return kit.Row{ID: id + "/fork", Report: "https://github.com/tox-dev/filelock/issues/634", Does: does,
			Claims: claims,
			In:     kit.In(kit.Family(filelockForks(l), filelockChildOf(unlocks)), kit.Beside(scenarios.Once(l)))}
	}
	attack := func(id, does string, flags int, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/attack", Report: filelockPulls + "461", Does: does, Claims: claims,
			Watch: []string{filelockVictim}, In: kit.In(kit.Roles(filelockSaves(flags), filelockPlants))}
	}
	return sys.Scenarios(
		file("unix-unlink-on-release", "https://github.com/tox-dev/filelock/issues/574",
			"The file is unlinked, unlocked and closed (3.20.4): a waiter locks what has no name.", true,
			kit.Broken(scenarios.MutualExclusion)),
		file("unix-keep-file", filelockPulls+"577", "The file stays, as before.", false,
			kit.Holds(scenarios.MutualExclusion)),
		takeover("soft-rename-aside", "476", "A dead owner's lock is renamed aside, and then removed: the rename may "+
			"move a live one.", filelockSoft{grace: true}),
		takeover("soft-verify-mtime", "551", "After the rename the time is compared; a live lock stays aside, and "+
			"the name is free.", filelockSoft{mtime: true}),
		takeover("soft-verify-inode", "561", "After the rename the inode number is compared as well.",
			filelockSoft{mtime: true, inode: true}),
		takeover("soft-private-name", "576", "The name aside is unique for each attempt.",
			filelockSoft{mtime: true, inode: true, random: true}),
		ask("unix-truncating-open", "https://github.com/tox-dev/filelock/issues/591",
			"Whoever tries the lock empties the file that names the holder.", true, kit.Broken(scenarios.OwnerInfo)),
		fork("unix-unlock-in-child", "A child inherits the lock, and its copy of the object is finalised: it unlocks "+
			"what both share.", true, kit.Broken(scenarios.MutualExclusion)),
		fork("unix-close-in-child", "A child that inherits the lock only closes its descriptor.", false,
			kit.Holds(scenarios.MutualExclusion)),
		attack("follow-symlink", "A look for a symbolic link, and then an open that follows one: somebody puts it "+
			"there in between, and a file of the user's is emptied.", 0, kit.Broken(scenarios.LostUpdate)),
		attack("nofollow", "The open itself refuses symbolic links.", fsfake.O_NOFOLLOW,
			kit.Holds(scenarios.LostUpdate)),
		ask("unix-truncate-after-lock", filelockPulls+"594", "The file is emptied only when it is locked.", false,
			kit.Holds(scenarios.OwnerInfo)),
	)
}

const (
	filelockLock  = "/home/user/.cache/model.lock"
	filelockPulls = "https://github.com/tox-dev/filelock/pull/"
)

const filelockHost = "host"

func filelockText(pid int) string { return fmt.Sprintf("%d\n%s\n", pid, filelockHost) }

// A filelockSoft is SoftFileLock, with what its versions verify.
type filelockSoft struct {
	grace  bool // a lock younger than 2 s is alive
	mtime  bool // compare the time after the rename
	inode  bool // and the inode number
	random bool // a new name aside for each attempt
}

func (s filelockSoft) protocol() scenarios.Protocol {
	return scenarios.Protocol{
		Path: filelockLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(filelockLock, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_TRUNC|fsfake.O_NOFOLLOW,
					0o644)
				if err == nil {
					_, err = f.WriteString(filelockText(t.Getpid()))
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
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(h.File.Close(), t.Unlink(filelockLock))
		},
	}
}

// breakStale removes the lock of a dead process.
func (s filelockSoft) breakStale(t *scenarios.Task) {
	if s.grace {
		info, err := t.Stat(filelockLock)
		if err != nil || !kit.Older(t, info, 2*time.Second) {
			return
		}
	}
	judged, dead := filelockJudge(t)
	if !dead {
		return
	}
	aside := kit.PrivateName(t, filelockLock+".break")
	if s.random {
		aside += ".8f3a"
	}
	if t.Rename2(filelockLock, aside, 0) != nil {
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

// filelockJudge reads the lock and reports whether its owner is dead.
func filelockJudge(t *scenarios.Task) (fs.FileInfo, bool) {
	f, err := t.Open(filelockLock)
	if err != nil {
		return nil, false
	}
	info, err1 := f.Stat()
	content, err2 := kit.ReadFrom(f)
	if errors.Join(err1, err2, f.Close()) != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if len(lines) != 2 || lines[1] != filelockHost {
		return info, false
	}
	return info, kit.Gone(t, kit.PidIn(lines[0]))
}

// filelockUnix is UnixFileLock, whose user writes the pid into the file.
func filelockUnix(truncatingOpen bool) scenarios.Protocol {
	flags := os.O_RDWR
	if truncatingOpen {
		flags |= os.O_TRUNC
	}
	return scenarios.Protocol{
		Path: filelockLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := kit.OpenFlock(t, filelockLock, flags, fsfake.LOCK_EX|fsfake.LOCK_NB)
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

func filelockOwner(t *scenarios.Task) int {
	content, _ := kit.ReadAll(t, filelockLock)
	return kit.PidIn(content)
}

// filelockForks holds the lock while a child comes and goes.
func filelockForks(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			kit.Fork(t)
			t.Work()
		})
	}
}

// filelockChildOf is the child, which has the lock's descriptor from its parent. It unlocks what both
// share, or only closes its copy.
func filelockChildOf(unlocks bool) scenarios.Program {
	return func(t *scenarios.Task) {
		if unlocks {
			t.Do(fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_UN})
		}
		t.Do(fsfake.Op{Call: fsfake.CallClose, FD: 3})
	}
}

// filelockVictim is a file of the user's that has nothing to do with locks.
const filelockVictim = "/home/user/keys"

// filelockSaves adds a key to the user's file, and takes a lock some time later.
func filelockSaves(flags int) scenarios.Program {
	return kit.Adds(func(t *scenarios.Task, key string) bool {
		return kit.AddLine(t, filelockVictim, key, func(t *scenarios.Task, name, text string) error {
			return t.WriteFile(name, []byte(text), 0o600)
		})
	}, func(t *scenarios.Task, key string) bool {
		if info, err := t.Lstat(filelockLock); err != nil || info.Mode().IsRegular() {
			if f, err := t.OpenFile(filelockLock, os.O_RDWR|os.O_CREATE|os.O_TRUNC|flags, 0o644); err == nil {
				_ = f.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB)
				_ = f.Close()
			}
		}
		return kit.HasLine(t, filelockVictim, key)
	})
}

// filelockPlants is somebody hostile: it makes a link where the lock will be. Nothing of it is recorded.
var filelockPlants scenarios.Program = func(t *scenarios.Task) { _ = t.Symlink(filelockVictim, filelockLock) }
