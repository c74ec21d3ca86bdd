//go:build linux && amd64

package tracer

import (
	"fmt"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Files of /proc about processes, under their virtual pids.

// procFile makes a call on /proc/PID, or on /proc/PID/stat. Whether the process runs, and since
// when, is the fake's to say: it may be one of another run.
func (t *thread) procFile(pl place, i int, f func(ret int64)) {
	opens := t.c.nr == unix.SYS_OPEN || t.c.nr == unix.SYS_OPENAT
	own := t.r.process(pl.proc)
	switch {
	case pl.rest == "stat" && opens:
		t.askThen(fsfake.Op{Call: fsfake.CallStartTime, Pid: pl.proc}, func(r fsfake.Result) {
			t.openText(i, procStat(pl.proc, own, r.N))
		})
	case own != nil:
		t.otherPath(i, path.Join("/proc", strconv.Itoa(own.real), pl.rest), f)
	case pl.rest == "" && !opens:
		// Any directory of /proc looks like that of another process.
		t.askThen(fsfake.Op{Call: fsfake.CallStartTime, Pid: pl.proc}, func(fsfake.Result) {
			t.otherPath(i, "/proc/1", f)
		})
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallStartTime, Pid: pl.proc}, func(fsfake.Result) {
			t.fault("/proc/%d/%s of a process that is not one of its own is not modelled", pl.proc, pl.rest)
		})
	}
}

// procStat is the text of /proc/PID/stat, as far as programs identify a process by it: pid,
// name, state, parent, group, session and, as the 22nd field, the start time.
func procStat(pid int, p *process, start int64) string {
	name, parent, group, session := "program", 1, pid, pid
	if p != nil {
		name, parent, group, session = p.name[:min(len(p.name), 15)], p.ppid, p.pgid, p.sid
	}
	return fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 18446744073709551615"+
		" 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, name, parent, group, session, start)
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
		name := "/proc/" + strconv.Itoa(t.p.real) + "/fd/" + strconv.FormatInt(ret, 10)
		if err := os.WriteFile(name, []byte(text), 0); err != nil {
			t.fault("a file for its text: %v", err)
		}
	})
}
