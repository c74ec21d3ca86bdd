package datafile

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// borg has the lock of borgbackup/borg 2, storelocking.py: one object for each lock, here a file with a unique
// name in a directory, exclusive or shared.
//
// That an attempt that times out leaves its own object is reported in
// https://github.com/borgbackup/borg/issues/9869 and fixed in #9871.
func borg() []scenarios.Scenario {
	sys := kit.System{Name: "borg", Report: "https://github.com/borgbackup/borg/blob/master/src/borg/storelocking.py",
		Source: kit.Part(files, "borg")}
	ready := kit.Prepared(func(p *fsfake.Proc) error { return p.MkdirAll(borgDir, 0o777) })
	timeout := kit.In(ready, kit.Roles(scenarios.Once(borgTimesOut), scenarios.Once(borgReader(true)),
		scenarios.Once(borgReader(false))), kit.Daemons)
	return sys.Scenarios(
		kit.Row{ID: "candidate-recheck/contend",
			Does: "An exclusive lock is announced first, and withdrawn when another is seen.", Lock: borgExclusively,
			In: kit.In(ready, kit.Contend(3)), Claims: kit.Holds(scenarios.MutualExclusion),
			Watch: []string{borgDir + "/x101", borgDir + "/x102", borgDir + "/x103"}},
		kit.Row{ID: "candidate-kept/timeout",
			Does:   "An attempt that times out leaves its own object, which refuses others when nobody holds.",
			Report: "https://github.com/borgbackup/borg/issues/9869", In: timeout,
			Claims: kit.Broken(scenarios.SpuriousFailure), Watch: []string{borgDir + "/x101", borgDir + "/s102"}},
	)
}

const (
	borgDir       = "/store/locks"
	borgExclusive = "x"
	borgShared    = "s"
)

// borgNames lists the objects: those of exclusive locks begin with x, others with s.
func borgNames(t *scenarios.Task) []string {
	list, _ := t.ReadDir(borgDir)
	return list
}

// borgOther reports whether there is an object of a kind but one's own; "" is any kind.
func borgOther(list []string, kind, own string) bool {
	for _, name := range list {
		if strings.HasPrefix(name, kind) && path.Join(borgDir, name) != own {
			return true
		}
	}
	return false
}

func borgOwnName(t *scenarios.Task, kind string) string {
	return borgDir + "/" + kind + strings.TrimSpace(kit.Me(t))
}

var borgExclusively = scenarios.Protocol{
	Path: borgDir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		own := borgOwnName(t, borgExclusive)
		for retry := t.Retry(); retry.Next(); {
			if borgOther(borgNames(t), borgExclusive, own) {
				t.Sleep(time.Second)
				continue
			}
			if err := kit.Create(t, own, ""); err != nil {
				return kit.Failed(err)
			}
			t.Sleep(10 * time.Millisecond)
			if !borgOther(borgNames(t), borgExclusive, own) {
				break
			}
			_ = t.Unlink(own)
			t.Sleep(time.Second)
		}
		for retry := t.Retry(); retry.Next(); { // until the shared ones are gone
			if !borgOther(borgNames(t), "", own) {
				break
			}
			t.Sleep(time.Second)
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		_ = borgNames(t)
		return t.Unlink(borgOwnName(t, borgExclusive))
	},
}

// borgTimesOut is an exclusive attempt that does not wait for shared locks, and leaves its
// own object then.
var borgTimesOut = scenarios.Protocol{
	Path: borgDir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		own := borgOwnName(t, borgExclusive)
		if borgOther(borgNames(t), borgExclusive, own) {
			return kit.Locked()
		}
		if err := kit.Create(t, own, ""); err != nil {
			return kit.Failed(err)
		}
		if borgOther(borgNames(t), "", own) {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: borgExclusively.Release,
}

// borgReader takes a shared lock. One that is patient waits while there is an exclusive one.
func borgReader(patient bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: borgDir,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			own := borgOwnName(t, borgShared)
			for retry := t.Retry(); retry.Next(); {
				if !borgOther(borgNames(t), borgExclusive, own) {
					if err := kit.Create(t, own, ""); err != nil || !borgOther(borgNames(t), borgExclusive, own) {
						return scenarios.Hold{}, err
					}
					_ = t.Unlink(own)
				}
				if !patient {
					break
				}
				t.Sleep(time.Second)
			}
			return kit.Locked()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(borgOwnName(t, borgShared)) },
	}
}

// baton has PyTorch's FileBaton, torch/utils/file_baton.py: one process compiles an extension, the others wait
// until its file is gone (https://github.com/pytorch/pytorch/issues/189245).
func baton() []scenarios.Scenario {
	sys := kit.System{Name: "pytorch-baton", Lock: batonLock,
		Report: "https://github.com/pytorch/pytorch/issues/189245", Source: kit.Part(files, "baton")}
	return sys.Scenarios(
		kit.Row{ID: "wait-until-gone/crash", Does: "Whoever compiles is killed, and everybody else waits for ever.",
			In: kit.In(kit.Roles(batonBuild(false), batonBuild(false)), kit.Kill(1),
				kit.ProbeWith(batonBaton(false))),
			Alike: true, Claims: kit.Broken(scenarios.Wedge)},
		kit.Row{ID: "timeout/crash",
			Does:  "The wait ends with an error after a time: nobody hangs, and nobody ever gets through.",
			In:    kit.In(kit.Roles(batonBuild(true), batonBuild(true)), kit.Kill(1), kit.ProbeWith(batonBaton(true))),
			Alike: true, Claims: kit.Broken(scenarios.Wedge)},
	)
}

const batonLock = "/root/.cache/torch_extensions/lock"

var errBatonTimeout = errors.New("pytorchbaton: the extension is not ready")

// batonBaton compiles, or waits until somebody else has.
func batonBaton(timeout bool) scenarios.Probe {
	return func(t *scenarios.Task) error {
		f, err := t.OpenFile(batonLock, kit.Excl, 0o666)
		if err == nil {
			t.Work()
			return errors.Join(f.Close(), t.Unlink(batonLock))
		}
		for retry := t.Retry(); retry.Next(); {
			if _, err := t.Stat(batonLock); err != nil {
				return nil
			}
			t.Sleep(kit.Poll)
			if timeout {
				break // after any time: a sleep may last that long
			}
		}
		return errBatonTimeout
	}
}

func batonBuild(timeout bool) scenarios.Program {
	return func(t *scenarios.Task) { _ = batonBaton(timeout)(t) }
}

// restic has the exclusive lock of restic's repositories (internal/restic/lock.go at 0ce9f6b5): a file of one's
// own in a directory, and a look for others before and after. An acquisition never removes anything; `unlock`
// is a command of its own, and removes stale locks by their unique names.
//
// The repository is a local directory, where a listing is one step and a file appears complete, by a rename of
// a private one.
func restic() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "restic", Report: "https://github.com/restic/restic/blob/master/internal/restic/lock.go",
		Source: kit.Part(files, "restic")}
	ready := kit.Prepared(resticPrepare)
	watch := []string{resticOwn(scenarios.Pid(0)), resticOwn(scenarios.Pid(1)), resticOwn(scenarios.Pid(2))}
	dead := kit.Prepared(func(p *fsfake.Proc) error {
		return p.Rename(resticPrivate(scenarios.DeadPid), resticOwn(scenarios.DeadPid))
	})
	once := scenarios.Once(resticProtocol)
	return sys.Scenarios(
		kit.Row{ID: "own-file/contend",
			Does: "Everybody has a file of his own, and looks for others before and after he has made it.",
			Lock: resticProtocol, In: kit.In(ready, kit.Contend(3)), Claims: kit.Holds(me), Watch: watch},
		kit.Row{ID: "own-file/pair", Does: "Each sees the other's file, and both give up: refused for nothing.",
			Lock: resticProtocol, In: kit.In(ready, kit.Contend(2)), Claims: kit.Broken(scenarios.SpuriousFailure),
			Watch: watch[:2]},
		kit.Row{ID: "own-file/unlockers",
			Does: "Two lock while two others remove stale locks: a late remover hits nobody else's, as names are " +
				"unique.", Lock: resticProtocol,
			In: kit.In(ready, dead, kit.Roles(once, once, resticUnlock, resticUnlock)), Claims: kit.Holds(me),
			Watch: append(watch[:2:2], resticOwn(scenarios.DeadPid))},
		kit.Row{ID: "own-file/crash",
			Does: "Whoever is killed leaves its file, and every attempt is refused until somebody runs unlock.",
			Lock: resticProtocol, In: kit.In(ready, kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge),
			Watch: watch[:2]},
	)
}

const (
	resticDir   = "/repo/locks"
	resticTemp  = "/repo/tmp"
	resticStale = 30 * time.Minute
)

func resticOwn(pid int) string { return fmt.Sprintf("%s/%d", resticDir, pid) }

func resticPrivate(pid int) string { return fmt.Sprintf("%s/%d", resticTemp, pid) }

// resticPrepare makes the directories, and everybody's complete private file.
func resticPrepare(p *fsfake.Proc) error {
	for _, d := range []string{resticDir, resticTemp} {
		if err := p.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	for _, pid := range []int{scenarios.DeadPid, scenarios.Pid(0), scenarios.Pid(1), scenarios.Pid(2),
		scenarios.ProbePid, scenarios.ProbePid + 1} {
		if err := p.WriteFile(resticPrivate(pid), fmt.Appendln(nil, pid), 0o666); err != nil {
			return err
		}
	}
	return nil
}

var resticProtocol = scenarios.Protocol{
	Path: resticDir,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if resticOthers(t) {
			return kit.Locked()
		}
		if err := t.Rename2(resticPrivate(t.Getpid()), resticOwn(t.Getpid()), 0); err != nil {
			return kit.Failed(err)
		}
		t.Sleep(200 * time.Millisecond)
		if resticOthers(t) {
			_ = t.Unlink(resticOwn(t.Getpid()))
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(resticOwn(t.Getpid())) },
}

// resticOthers reports whether anybody else has a lock.
func resticOthers(t *scenarios.Task) bool {
	names, err := t.ReadDir(resticDir)
	for _, name := range names {
		if name != path.Base(resticOwn(t.Getpid())) {
			return true
		}
	}
	return err != nil
}

// resticUnlock removes the locks of dead processes, and old ones.
func resticUnlock(t *scenarios.Task) {
	names, _ := t.ReadDir(resticDir)
	for _, name := range names {
		file := path.Join(resticDir, name)
		text, err := kit.ReadAll(t, file)
		if err != nil {
			continue
		}
		if kit.Gone(t, kit.PidIn(text)) {
			_ = t.Unlink(file)
			continue
		}
		if info, err := t.Stat(file); err == nil && kit.Older(t, info, resticStale) {
			_ = t.Unlink(file)
		}
	}
}

// sqlite has SQLite's unix-dotfile locking, os_unix.c, for file systems without locks that work: a directory.
// There is no rule for one that was left behind.
func sqlite() []scenarios.Scenario {
	sys := kit.System{Name: "sqlite-dotfile", Lock: sqliteLock,
		Report: "https://github.com/sqlite/sqlite/blob/master/src/os_unix.c", Source: kit.Part(files, "sqlite")}
	return sys.Scenarios(kit.Row{ID: "mkdir/crash",
		Does: "A directory is the lock; whoever is killed leaves it for ever.", Lock: sqliteProtocol,
		In: kit.In(kit.Contend(2), kit.Kill(1)), Alike: true,
		Claims: append(kit.Broken(scenarios.Wedge), kit.Holds(scenarios.MutualExclusion)...)})
}

const sqliteLock = "/srv/app.db.lock"

var sqliteProtocol = scenarios.Protocol{
	Path: sqliteLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if err := t.Mkdir(sqliteLock, 0o777); err != nil {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(sqliteLock) },
}
