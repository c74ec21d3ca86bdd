package pidfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// gunicorn has the pid file of gunicorn (Python), gunicorn/pidfile.py
// (https://github.com/benoitc/gunicorn/issues/3383): a look, and then a rename over whatever is there. In
// practice the port decides.
func gunicorn() []scenarios.Scenario {
	sys := kit.System{Name: "gunicorn", Lock: gunicornLock, Report: "https://github.com/benoitc/gunicorn/issues/3383",
		Source: kit.Part(files, "gunicorn")}
	recycled := func(l scenarios.Protocol) []kit.Situation {
		return kit.In(kit.Contend(1), kit.DeadOwner(fmt.Sprintf("%d\n%d\n", scenarios.DeadPid, gunicornOldStart)),
			kit.Running(scenarios.DeadPid, gunicornNewStart), kit.Probe)
	}
	plain, token := gunicornProtocol(false), gunicornProtocol(true)
	return sys.Scenarios(
		kit.Row{ID: "check-then-rename/contend",
			Does: "A look at the file, and a rename over whatever is there by then.", Lock: plain,
			In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "check-then-rename/recycled-pid",
			Does: "The pid of a stale file is an unrelated process's today: every start fails.", Lock: plain,
			In: recycled(plain), Claims: kit.Broken(scenarios.Wedge)},
		kit.Row{ID: "start-token/recycled-pid",
			Does: "The file tells the owner's start time too, and a living process with another one is not the owner.",
			Lock: token, In: recycled(token), Claims: kit.Holds(scenarios.Wedge)},
	)
}

const gunicornLock = "/run/gunicorn.pid"

// The stale file's owner, and an unrelated process that has its pid today.
const (
	gunicornOldStart = 500
	gunicornNewStart = 900
)

func gunicornProtocol(token bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: gunicornLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			text, err := kit.ReadAll(t, gunicornLock)
			if err == nil && gunicornAlive(t, text, token) {
				return kit.Locked()
			}
			mine := kit.Me(t)
			if token {
				start, err := t.StartTime(t.Getpid())
				if err != nil {
					return kit.Failed(err)
				}
				mine += fmt.Sprintf("%d\n", start)
			}
			private, err := kit.Private(t, gunicornLock, mine)
			if err != nil {
				return kit.Failed(err)
			}
			if err := t.Rename2(private, gunicornLock, 0); err != nil {
				return kit.Failed(err)
			}
			return scenarios.Hold{}, t.Chmod(gunicornLock, 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			text, err := kit.ReadAll(t, gunicornLock)
			if err != nil || kit.PidIn(text) != t.Getpid() {
				return err
			}
			return t.Unlink(gunicornLock)
		},
	}
}

// gunicornAlive reports whether the owner in a text runs.
func gunicornAlive(t *scenarios.Task, text string, token bool) bool {
	var pid int
	var start int64
	_, _ = fmt.Sscan(text, &pid, &start)
	if pid == 0 || kit.Gone(t, pid) {
		return false
	}
	if !token {
		return true
	}
	now, err := t.StartTime(pid)
	return err == nil && now == start
}

// instar has the lock of JKHeadley/instar (TypeScript), one server for a state directory
// (https://github.com/JKHeadley/instar/pull/1407 and https://github.com/JKHeadley/instar/issues/1553, eleven
// hours of outage). Its text is "host:pid". Neither rule for another host's lock is right; the first keeps
// mutual exclusion.
func instar() []scenarios.Scenario {
	sys := kit.System{Name: "instar", Lock: instarLock, Report: "https://github.com/JKHeadley/instar/issues/1553",
		Source: kit.Part(files, "instar")}
	return sys.Scenarios(
		kit.Row{ID: "foreign-host-held/renamed-host",
			Does:   "Another host's lock is always held, and the host has another name today.",
			Lock:   instarOn("new", false),
			In:     kit.In(kit.Contend(1), kit.DeadOwner(fmt.Sprintf("old:%d", scenarios.DeadPid)), kit.Probe),
			Claims: kit.Broken(scenarios.Wedge)},
		kit.Row{ID: "foreign-host-stale/two-hosts", Does: "Another host's lock is always stale.",
			In:     kit.In(kit.Roles(scenarios.Once(instarOn("one", true)), scenarios.Once(instarOn("two", true)))),
			Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

const instarLock = "/srv/instar/server.lock"

// instarOn is the lock on a host, with a rule for locks of other hosts.
func instarOn(host string, foreignIsStale bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: instarLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := instarPublish(t, fmt.Sprintf("%s:%d", host, t.Getpid()))
				if !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				text, err := kit.ReadAll(t, instarLock)
				if kit.Missing(err) {
					continue
				}
				there, id, _ := strings.Cut(text, ":")
				pid, _ := strconv.Atoi(id)
				stale := foreignIsStale
				if there == host {
					stale = kit.Gone(t, pid)
				}
				if err != nil || !stale {
					return kit.Locked()
				}
				_ = t.Unlink(instarLock)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(instarLock) },
	}
}

func instarPublish(t *scenarios.Task, text string) error {
	private, err := kit.Private(t, instarLock, text)
	if err != nil {
		return err
	}
	err = t.Link(private, instarLock)
	return errors.Join(err, t.Unlink(private))
}

// postgres has PostgreSQL's postmaster.pid, CreateLockFile in src/backend/utils/init/miscinit.c. The real
// server has further barriers, a shared memory segment and a port; judged here is the file alone.
func postgres() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "postgres", Lock: postgresLock, Source: kit.Part(files, "postgres"),
		Report: "https://github.com/postgres/postgres/blob/master/src/backend/utils/init/miscinit.c"}
	return sys.Scenarios(
		kit.Row{ID: "postmaster-pid/daemons",
			Does: "The file is created, and then filled; an empty one is fatal. Nobody ever ends.",
			Lock: postgresProtocol, In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me)},
		kit.Row{ID: "postmaster-pid/dead-owner",
			Does: "The file of a dead server is unlinked and made anew: another contender removes the new one.",
			Lock: postgresProtocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me)},
		kit.Row{ID: "postmaster-pid/exits",
			Does: "Servers end in an orderly way: the owner that was read may have ended, and the file be another's.",
			Lock: postgresProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
		kit.Row{ID: "postmaster-pid/crash",
			Does: "A server is killed before it has filled its file, which is fatal for every later start.",
			Lock: postgresProtocol, In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge)},
	)
}

const postgresLock = "/var/lib/postgresql/postmaster.pid"

var errPostgresFatal = errors.New("postgres: a server may be running")

var postgresProtocol = scenarios.Protocol{
	Path: postgresLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); { // 100 rounds in the original
			f, err := t.OpenFile(postgresLock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				return scenarios.Hold{}, postgresFill(t, f)
			}
			if !kit.Exists(err) {
				return kit.Failed(err)
			}
			text, err := kit.ReadAll(t, postgresLock)
			if kit.Missing(err) {
				continue
			}
			pid := kit.PidIn(text)
			if err != nil || pid == 0 || pid != t.Getpid() && !kit.Gone(t, pid) {
				return kit.Failed(errors.Join(errPostgresFatal, err))
			}
			if err := t.Unlink(postgresLock); err != nil {
				return kit.Failed(err)
			}
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(postgresLock) },
}

func postgresFill(t *scenarios.Task, f *fsfake.File) error {
	_, err := f.WriteString(kit.Me(t))
	return errors.Join(err, f.Sync(), f.Close())
}

// bhyve has run.lock of churchers/vm-bhyve, virtual machines on FreeBSD
// (https://github.com/churchers/vm-bhyve/pull/555): the name of the host that runs the machine. Leftovers of
// one's own host are ignored; the kernel knows what runs here. Check and write are two steps in any case, so
// two hosts at once are not kept apart.
func bhyve() []scenarios.Scenario {
	sys := kit.System{Name: "vm-bhyve", Lock: bhyveLock, Report: "https://github.com/churchers/vm-bhyve/pull/555",
		Source: kit.Part(files, "bhyve")}
	row := func(id, does string, l scenarios.Protocol, claims []scenarios.Claim) kit.Row {
		in := kit.In(kit.Contend(1), kit.LosePower())
		return kit.Row{ID: id + "/power-loss", Does: does, Lock: l, In: in, Claims: claims}
	}
	return sys.Scenarios(
		row("hostname-lock",
			"The power is lost: the name is on the disk, the text is not, and an empty text is another host's.",
			bhyveProtocol(false, bhyveReplace), kit.Broken(scenarios.Wedge)),
		row("empty-is-free",
			"An empty text is taken for no lock. A disk may also keep its size alone, and zeros are a host.",
			bhyveProtocol(true, bhyveReplace), kit.Broken(scenarios.Wedge)),
		row("synced-rename", "The text is written and synced under another name, which is then renamed.",
			bhyveProtocol(false, bhyveRename), kit.Holds(scenarios.Wedge)),
	)
}

const (
	bhyveLock = "/vm/guest/run.lock"
	bhyveHost = "node1"
)

func bhyveReplace(t *scenarios.Task) error { return kit.Replace(t, bhyveLock, bhyveHost) }

// bhyveRename makes the lock a file that was whole on the disk before it had the name.
func bhyveRename(t *scenarios.Task) error {
	f, err := t.OpenFile(bhyveLock+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(bhyveHost)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return t.Rename2(bhyveLock+".new", bhyveLock, 0)
}

func bhyveProtocol(emptyIsFree bool, write func(*scenarios.Task) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path: bhyveLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			text, err := kit.ReadAll(t, bhyveLock)
			free := kit.Missing(err) || err == nil && (text == bhyveHost || text == "" && emptyIsFree)
			if !free {
				return kit.Locked()
			}
			return scenarios.Hold{}, write(t)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(bhyveLock) },
	}
}
