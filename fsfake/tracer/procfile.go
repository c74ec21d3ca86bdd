//go:build linux && amd64

package tracer

import (
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Files of /proc about processes, under their virtual pids.

// procFile makes a call on /proc/PID, or on what is below it and is not real. Whether the process
// runs, and since when, is the fake's to say: it may be one of another run.
func (t *thread) procFile(pl place, i int, f func(ret int64)) {
	opens := t.c.nr == unix.SYS_OPEN || t.c.nr == unix.SYS_OPENAT
	own := t.r.process(pl.proc)
	t.r.looks += int(bit(own != t.p, 1))
	text := pl.rest == "stat" || pl.rest == "status" || own == nil && pl.proc != 1 &&
		t.r.c.Program != nil && (pl.rest == "comm" || pl.rest == "cmdline" || pl.rest == "environ")
	switch {
	case pl.proc == 1 && pl.rest != "" && !text: // init is not of the fake
		t.otherPath(i, path.Join("/proc/1", pl.rest), f)
	case strings.HasPrefix(pl.rest, "fdinfo/") && opens && own != nil:
		t.openInfo(i, own, pl.rest)
	case pl.rest == "status" && opens && own != nil: // it runs
		t.openAbout(i, pl, own, 0)
	case own != nil && !(text && opens):
		t.otherPath(i, path.Join("/proc", strconv.Itoa(own.real), pl.rest), f)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallStartTime, Pid: pl.proc}, func(r fsfake.Result) {
			switch {
			case text && opens:
				t.openAbout(i, pl, own, r.N)
			case pl.rest == "" && !opens || text: // any of /proc looks like that of another process
				t.otherPath(i, path.Join("/proc/1", pl.rest), f)
			case pl.rest != "" && missing("/proc/self/"+pl.rest):
				t.fail(unix.ENOENT)
			default:
				t.unmodelled("/proc/%d/%s of a process that is not one of its own is not modelled", pl.proc, pl.rest)
			}
		})
	}
}

// openAbout opens a file of /proc/PID whose text is made here, from the process's start time.
func (t *thread) openAbout(i int, pl place, own *process, start int64) {
	is, threads := identity{Program{Name: "program"}, 1, pl.proc, pl.proc}, 1
	switch {
	case own != nil:
		is = identity{Program{Name: own.name[:min(len(own.name), 15)]}, own.ppid, own.pgid, own.sid}
		threads = len(own.threads)
	case t.r.c.Program != nil:
		is.Program = t.r.c.Program(pl.proc)
	}
	switch pl.rest {
	case "stat":
		t.openText(i, procStat(pl.proc, is, start))
	case "status":
		t.openText(i, procStatus(pl.proc, is, threads))
	case "comm":
		t.openText(i, is.Name+"\n")
	case "cmdline":
		t.openText(i, is.CommandLine)
	default:
		t.openText(i, is.Environment)
	}
}

// An identity is what /proc tells of a process.
type identity struct {
	Program
	parent, group, session int
}

// procStat is the text of /proc/PID/stat, as far as programs identify a process by it: pid,
// name, state, parent, group, session and, as the 22nd field, the start time.
func procStat(pid int, is identity, start int64) string {
	return fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 18446744073709551615"+
		" 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, is.Name, is.parent, is.group, is.session, start)
}

// procStatus is the text of /proc/PID/status, as far as programs identify a process by it. What it
// tells of memory, signals and capabilities is left out.
func procStatus(pid int, is identity, threads int) string {
	uid, gid := os.Getuid(), os.Getgid()
	return fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n"+
		"Uid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\nThreads:\t%d\n",
		is.Name, pid, pid, is.parent, uid, uid, uid, uid, gid, gid, gid, gid, pid, pid, is.group, is.session, threads)
}

// openInfo opens what /proc tells of a descriptor of the fake. Where it would tell of locks, which are the fake's, or
// of a place in the middle of a directory, it is refused.
func (t *thread) openInfo(i int, own *process, rest string) {
	n, _ := strconv.Atoi(strings.TrimPrefix(rest, "fdinfo/"))
	d := own.fds[n]
	if own != t.p {
		d = t.p.fds[t.p.sharing(n, d)]
	}
	if d == nil || d.file.locks || d.file.dir.read {
		t.refuseUnlike(unix.EACCES)
		return
	}
	flags := d.file.flags | bit(own.closesAtExec(n), unix.O_CLOEXEC)
	told := func(pos int64) {
		t.askThen(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, func(r fsfake.Result) {
			t.openText(i, fmt.Sprintf("pos:\t%d\nflags:\t0%o\nmnt_id:\t1\nino:\t%d\n", pos, flags, r.Stat.Ino))
		})
	}
	if flags&(unix.O_PATH|unix.O_DIRECTORY) != 0 || d.atDir {
		told(0)
		return
	}
	at := fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Flags: io.SeekCurrent}
	t.askThen(at, func(r fsfake.Result) { told(r.N) })
}

// listProcs lists /proc: the pids that the fake has, and what is there beside pids.
func (t *thread) listProcs(l *listing) {
	switch {
	case l.read && l.given < len(l.names):
		t.giveNames(l)
		return
	case l.read:
		t.result(0)
		return
	}
	t.ask(fsfake.Op{Call: fsfake.CallProcs}, func(r fsfake.Result) {
		names := []string{".", ".."}
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			if _, err := strconv.Atoi(e.Name()); err != nil {
				names = append(names, e.Name())
			}
		}
		names = append(names, strings.Split(r.Data, "\x00")...)
		*l = listing{names: names, inos: make([]uint64, len(names)), read: true}
		t.giveNames(l)
	})
}

// openText makes an open(2) of a file with a text return a descriptor of a memory file. Its
// name is the path that the program gave in argument i.
func (t *thread) openText(i int, text string) {
	flags := uint64(0)
	if t.c.args[i+1]&unix.O_CLOEXEC != 0 {
		flags = unix.MFD_CLOEXEC
	}
	t.instead(unix.SYS_MEMFD_CREATE, t.c.args[i], flags)
	t.passThen(func(ret int64) {
		if ret < 0 {
			t.fault("a file for its text: error %d", -ret)
			return
		}
		name := t.p.inProc(int(ret))
		if err := os.WriteFile(name, []byte(text), 0); err != nil {
			t.fault("a file for its text: %v", err)
		}
	})
}
