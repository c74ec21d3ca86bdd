package pidfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// emacs has the lock of GNU Emacs, src/filelock.c: a symbolic link whose target is "user@host.pid:boot", so
// that creation and content are one call.
func emacs() []scenarios.Scenario {
	sys := kit.System{Name: "emacs", Lock: emacsLock,
		Report: "https://github.com/emacs-mirror/emacs/blob/master/src/filelock.c", Source: kit.Part(files, "emacs")}
	dead := fmt.Sprint(emacsMe, scenarios.DeadPid, emacsBoot)
	return sys.Scenarios(
		kit.Row{ID: "unlink-dead/dead-owner",
			Does: "The link of a dead process is unlinked and made anew: another contender removes the new one.",
			Lock: emacsProtocol, In: kit.In(kit.Contend(2), kit.DeadSymlink(dead)),
			Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "unlink-dead/daemons", Does: "The same without a dead process's link, and nobody ever ends.",
			Lock: emacsProtocol, In: kit.In(kit.Contend(3), kit.Daemons),
			Claims: kit.Holds(scenarios.MutualExclusion)},
	)
}

const (
	emacsLock = "/home/user/.#notes.txt"
	emacsMe   = "user@host."
	emacsBoot = ":1767225600"
)

var emacsProtocol = scenarios.Protocol{
	Path: emacsLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			err := t.Symlink(fmt.Sprint(emacsMe, t.Getpid(), emacsBoot), emacsLock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			owner, err := t.Readlink(emacsLock)
			switch pid := emacsOwnerIn(owner); {
			case kit.Missing(err):
				continue
			case err != nil:
				return kit.Failed(err)
			case pid == t.Getpid():
				return scenarios.Hold{}, nil
			case pid == 0 || !kit.Gone(t, pid): // another host's, or alive
				return kit.Locked()
			}
			if err := t.Unlink(emacsLock); err != nil {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		if owner, err := t.Readlink(emacsLock); err != nil || emacsOwnerIn(owner) != t.Getpid() {
			return err
		}
		return t.Unlink(emacsLock)
	},
}

// emacsOwnerIn is the pid in a target of this host and this boot; 0 for any other.
func emacsOwnerIn(target string) int {
	text, ok1 := strings.CutPrefix(target, emacsMe)
	text, ok2 := strings.CutSuffix(text, emacsBoot)
	pid, _ := strconv.Atoi(text)
	if !ok1 || !ok2 {
		return 0
	}
	return pid
}

// itervox has the pid file of vnovick/itervox (Go), whose race is reported in
// https://github.com/vnovick/itervox/issues/64: nine winners of 24.
func itervox() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "itervox", Lock: itervoxLock, Report: "https://github.com/vnovick/itervox/issues/64",
		Source: kit.Part(files, "itervox")}
	return sys.Scenarios(
		kit.Row{ID: "empty-is-stale/contend",
			Does: "A file without a number counts as stale, and every file is empty at first.",
			Lock: itervoxProtocol(itervoxCreateAndFill), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "link-publish/exits",
			Does: "A complete file is linked to the name; the owner that was read may have ended, and the file be " +
				"another's.", Lock: itervoxProtocol(itervoxLink), In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
		kit.Row{ID: "link-publish/dead-owner",
			Does: "The same with a dead owner's file: the fix left the reclaim as it was.",
			Lock: itervoxProtocol(itervoxLink), In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)),
			Claims: kit.Broken(me)},
		kit.Row{ID: "link-publish/daemons", Does: "The same without a dead owner's file, and nobody ever ends.",
			Lock: itervoxProtocol(itervoxLink), In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me)},
	)
}

const itervoxLock = "/run/itervox.pid"

func itervoxCreateAndFill(t *scenarios.Task) error { return kit.Create(t, itervoxLock, kit.Me(t)) }

func itervoxLink(t *scenarios.Task) error {
	private, err := kit.Private(t, itervoxLock, kit.Me(t))
	if err != nil {
		return err
	}
	err = t.Link(private, itervoxLock)
	return errors.Join(err, t.Unlink(private))
}

func itervoxProtocol(create func(t *scenarios.Task) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path: itervoxLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := create(t)
				if !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				text, err := kit.ReadAll(t, itervoxLock)
				if kit.Missing(err) {
					continue
				}
				if pid := kit.PidIn(text); err != nil || pid > 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				_ = t.Unlink(itervoxLock)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			text, err := kit.ReadAll(t, itervoxLock)
			if err != nil || kit.PidIn(text) != t.Getpid() {
				return err
			}
			return t.Unlink(itervoxLock)
		},
	}
}

// libreport has the lock of abrt/libreport's problem directories, dump_dir.c: a symbolic link whose target is
// the owner's pid.
//
// The race is reported in https://github.com/abrt/libreport/issues/345, with a crashed owner and two
// contenders. With three no crash is needed.
func libreport() []scenarios.Scenario {
	sys := kit.System{Name: "libreport", Lock: libreportLock, Report: "https://github.com/abrt/libreport/issues/345",
		Source: kit.Part(files, "libreport")}
	return sys.Scenarios(kit.Row{ID: "unlink-dead/exits",
		Does: "The link of a process that has ended is unlinked: by then it may be another's.",
		Lock: libreportProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(scenarios.MutualExclusion)})
}

const libreportLock = "/var/spool/abrt/problem/.lock"

var libreportProtocol = scenarios.Protocol{
	Path: libreportLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			err := t.Symlink(strconv.Itoa(t.Getpid()), libreportLock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			owner, err := t.Readlink(libreportLock)
			if kit.Missing(err) {
				t.Sleep(kit.Poll)
				continue
			}
			pid := kit.PidIn(owner)
			if err != nil || pid == t.Getpid() || !kit.Gone(t, pid) { // asked of the entry in /proc
				return kit.Locked()
			}
			if err := t.Unlink(libreportLock); err != nil && !kit.Missing(err) {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(libreportLock) },
}

// nightlyone has the pid file of nightlyone/lockfile (Go, lockfile.go at bf01bef5): a complete private file
// that is linked to the lock's name, and looked at after. No report is known.
func nightlyone() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "nightlyone-lockfile", Lock: nightlyoneLock,
		Report: "https://github.com/nightlyone/lockfile", Source: kit.Part(files, "nightlyone")}
	return sys.Scenarios(
		kit.Row{ID: "link-samefile/daemons",
			Does: "A complete file is linked to the lock's name; processes never end.", Lock: nightlyoneProtocol,
			In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me)},
		kit.Row{ID: "link-samefile/exits",
			Does: "The same, and processes end: the owner that was read may have ended, and the lock be another's.",
			Lock: nightlyoneProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
		kit.Row{ID: "link-samefile/dead-owner",
			Does: "The same, and the lock of a dead process lies there at the start.", Lock: nightlyoneProtocol,
			In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me)},
		kit.Row{ID: "own-pid-is-stale/tasks",
			Does: "A file with the own pid counts as left behind: it may be another thread's, which holds the lock.",
			Lock: nightlyoneProtocol, In: kit.In(kit.Tasks(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "own-pid-is-stale/containers",
			Does: "The same with two containers that share a volume and are process 1 each.", Lock: nightlyoneProtocol,
			In: kit.In(kit.Contend(2), kit.Containers(1, 1)), Claims: kit.Broken(me)},
		kit.Row{ID: "eperm-is-dead/users",
			Does: "Any error of kill counts as dead: a user may not ask about another's process, which lives.",
			Lock: nightlyoneProtocol, In: kit.In(kit.Contend(2), kit.Users(1000, 1001), kit.Open),
			Claims: kit.Broken(me)},
		kit.Row{ID: "esrch-is-dead/users",
			Does: "Only ESRCH counts as dead, and one's own pid as alive; processes never end.",
			Lock: nightlyoneFixed, In: kit.In(kit.Contend(2), kit.Users(1000, 1001), kit.Open, kit.Daemons),
			Claims: kit.Holds(me)},
	)
}

const nightlyoneLock = "/run/lock/app.pid"

var (
	nightlyoneProtocol = nightlyonePidFile(func(t *scenarios.Task, pid int) bool {
		return pid != t.Getpid() && t.Kill(pid) == nil // any error of kill counts as dead
	})
	nightlyoneFixed = nightlyonePidFile(func(t *scenarios.Task, pid int) bool { return !kit.Gone(t, pid) })
)

func nightlyonePidFile(alive func(t *scenarios.Task, pid int) bool) scenarios.Protocol {
	return scenarios.Protocol{Path: nightlyoneLock, Release: nightlyoneRelease,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				private, err := kit.Private(t, nightlyoneLock, kit.Me(t))
				if err != nil {
					return kit.Failed(err)
				}
				_ = t.Link(private, nightlyoneLock) // whether it worked is seen by looking
				mine, err1 := t.Lstat(private)
				there, err2 := t.Lstat(nightlyoneLock)
				if err := errors.Join(err1, err2); err != nil {
					return kit.Failed(errors.Join(err, t.Unlink(private)))
				}
				if fsfake.SameFile(mine, there) {
					return scenarios.Hold{}, t.Unlink(private)
				}
				text, err := kit.ReadAll(t, nightlyoneLock)
				pid := kit.PidIn(text)
				if err != nil || pid > 0 && alive(t, pid) {
					return kit.Failed(errors.Join(scenarios.ErrLocked, err, t.Unlink(private)))
				}
				if err := t.Unlink(nightlyoneLock); err != nil && !kit.Missing(err) {
					return kit.Failed(errors.Join(err, t.Unlink(private)))
				}
				_ = t.Unlink(private)
			}
			panic("unreachable")
		}}
}

func nightlyoneRelease(t *scenarios.Task, _ scenarios.Hold) error {
	text, err := kit.ReadAll(t, nightlyoneLock)
	if err != nil || kit.PidIn(text) != t.Getpid() {
		return errors.Join(err, scenarios.ErrLocked)
	}
	return t.Unlink(nightlyoneLock)
}
