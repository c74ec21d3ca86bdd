//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Clocks.

// wall gives the time of day to f. Asking for it is a step only when the answer may be another
// than the last one. A look takes time: the next one of the process shows more.
func (t *thread) wall(f func(ns int64)) {
	t.askNow(func(now int64) {
		t.p.ahead += lookTakes
		f(now + t.p.ahead)
	})
}

// lookTakes is how many nanoseconds a look at the time of day takes.
const lookTakes = 1000

// askNow gives the time of day to f, as the driver has it.
func (t *thread) askNow(f func(now int64)) {
	r := t.r
	if !r.c.AskTime || r.nowKnown && r.nowIs == r.answers {
		t.p.looked = t.p.looked || r.answers > 0
		f(r.now)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallNow}, func(res fsfake.Result) {
		for _, p := range r.procs { // time passes for all
			p.mono = max(p.mono, firstMono+res.N-r.c.Now.UnixNano())
		}
		r.now, r.nowIs, r.nowKnown = res.N, r.answers, true
		f(res.N)
	})
}

// monotonic is what the monotonic clock shows a process.
func (p *process) monotonic() int64 { return p.mono + p.ahead }

// elapsed gives what the monotonic clock shows to f. It is a step where the time of day is.
func (t *thread) elapsed(f func(ns int64)) {
	if !t.r.c.AskTime {
		f(t.p.monotonic())
		return
	}
	t.askNow(func(int64) {
		t.p.ahead += lookTakes
		f(t.p.monotonic())
	})
}

func (t *thread) clockGettime(c *call) {
	show := func(ns int64) {
		sec, nsec := seconds(ns)
		t.put(c.args[1], putUint64s(uint64(sec), uint64(nsec)), 0)
	}
	switch id := c.int(0); {
	case id == unix.CLOCK_REALTIME || id == unix.CLOCK_REALTIME_COARSE || id == unix.CLOCK_TAI:
		t.wall(show)
	case id == unix.CLOCK_PROCESS_CPUTIME_ID || id == unix.CLOCK_THREAD_CPUTIME_ID || id < 0:
		show(1e6)
	case id <= unix.CLOCK_BOOTTIME_ALARM:
		t.elapsed(show)
	default:
		t.fail(unix.EINVAL)
	}
}

// openClock opens a file of /proc that tells since when the machine runs.
func (t *thread) openClock(i int, name string) {
	t.wall(func(now int64) {
		up := t.p.monotonic()
		if name == "/proc/uptime" {
			t.openText(i, fmt.Sprintf("%d.%02d 0.00\n", up/1e9, up%1e9/1e7))
			return
		}
		text, _ := os.ReadFile(name)
		btime := regexp.MustCompile(`(?m)^btime .*$`)
		t.openText(i, btime.ReplaceAllString(string(text), fmt.Sprintf("btime %d", (now-up)/1e9)))
	})
}

// sysinfo is sysinfo(2), without what differs from run to run: load, free memory, processes. Python asks it when it
// starts: its uptime is a monotonic clock, and to read it is no look at the time of day.
func (t *thread) sysinfo(c *call) {
	up := uint64(t.p.monotonic() / 1e9)
	t.passThen(func(ret int64) {
		b, err := readFull(t.tid, c.args[0], 80)
		if ret != 0 || err != nil {
			return
		}
		total := binary.LittleEndian.Uint64(b[32:])
		_ = writeMem(t.tid, c.args[0], putUint64s(up, 0, 0, 0, total, total/2, 0, 0))
		_ = writeMem(t.tid, c.args[0]+72, append(b[64:72:72], 1, 0)) // freeswap, procs
	})
}

// timespec reads a struct timespec; when it is false the call has been answered.
func (t *thread) timespec(addr uint64) (ns int64, ok bool) {
	b, err := readFull(t.tid, addr, 16)
	if err != nil {
		t.failErr(err)
		return 0, false
	}
	sec, nsec := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	if sec < 0 || nsec < 0 || nsec >= 1e9 {
		t.fail(unix.EINVAL)
		return 0, false
	}
	return min(sec, int64(1<<33))*1e9 + nsec, true
}

// aheadOf is by how many nanoseconds, less than 66 microseconds, the clocks of a program that begins are ahead: no two
// programs look at a clock at the same moment, and ln -f names its temporary file after the nanoseconds. They are no
// multiple of the pid, for mkstemp(3) of glibc takes them xor an address on the stack, which grows with the pid: two
// processes would have one name in every third environment. The pid is mixed by the finalizer of splitmix64 (Steele,
// Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
func aheadOf(pid int) int64 {
	z := uint64(pid+1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return 1 + int64((z^z>>31)>>48)
}

// The time stamp counter of the CPU is read without a call: by the loader, which keeps how long it has taken in its
// memory. It would tell two runs apart that do the same. So it traps, and counts how often it was read.

// mostTicks is how often an image may read it until it is left to the CPU: what the process remembers is not summed
// up then.
const mostTicks = 64

// ticks answers the instruction at which a thread has trapped, and reports whether it was one that reads the counter.
func (t *thread) ticks(sig unix.Signal) bool {
	var regs unix.PtraceRegs
	if sig != unix.SIGSEGV || t.p.ticks > mostTicks || unix.PtraceGetRegs(t.tid, &regs) != nil {
		return false
	}
	was := regs.Rip
	code, err := readFull(t.tid, was, 3)
	switch {
	case err != nil:
		return false
	case bytes.HasPrefix(code, []byte{0x0f, 0x31}): // rdtsc
		regs.Rip += 2
	case bytes.Equal(code, []byte{0x0f, 0x01, 0xf9}): // rdtscp
		regs.Rip, regs.Rcx = regs.Rip+3, 0
	default:
		return false
	}
	if t.p.ticks++; t.p.ticks > mostTicks {
		regs.Rip = was
		err = inject(t.tid, regs, func(c *injector) { c.call(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_ENABLE) })
	} else {
		regs.Rax, regs.Rdx = uint64(t.p.ticks)<<10, 0
		err = unix.PtraceSetRegs(t.tid, &regs)
	}
	if err == nil {
		t.goOn(unix.PTRACE_CONT)
	}
	return err == nil
}
