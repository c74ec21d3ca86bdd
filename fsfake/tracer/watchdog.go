//go:build linux && amd64

package tracer

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A watchdog looks after an owner that waits for a stop. When nothing comes although the thread
// in user mode has computed for a while, it pokes that thread, by a signal that the owner
// recognises: others may have to run before it can go on. A thread that has not had the CPU,
// on a busy machine, is left alone: to let another go on first would be another order of calls.
// When the time is over, it kills. Time in which somebody of the run was ready and had not the CPU does not
// count: the deadline moves on by it.
type watchdog struct {
	stop     atomic.Bool   // the run is to end
	deadline atomic.Int64  // real, in nanoseconds since 1970; 0 when none
	owner    atomic.Int64  // the thread that traces
	seq      atomic.Uint64 // odd while the owner waits
	tgid     atomic.Int64  // whom to poke
	tid      atomic.Int64

	mu   sync.Mutex
	real []int // the processes that live
}

func (d *watchdog) remember(real int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.real = append(d.real, real)
}

func (d *watchdog) forget(real int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.real = slices.DeleteFunc(d.real, func(p int) bool { return p == real })
}

func (d *watchdog) killAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.real {
		_ = unix.Kill(p, unix.SIGKILL)
	}
}

func (d *watchdog) begin(t *thread) {
	d.seq.Add(1)
	if t != nil {
		d.tgid.Store(int64(t.p.real))
		d.tid.Store(int64(t.tid))
	}
}

func (d *watchdog) end() { d.seq.Add(1) }

func (d *watchdog) over() bool {
	at := d.deadline.Load()
	return d.stop.Load() || at != 0 && time.Now().UnixNano() > at
}

// watch is the watchdog's goroutine.
func (r *Run) watch() {
	d := &r.dog
	var last uint64
	var from time.Duration // what the thread had computed when it was seen first
	starved := starvation{at: time.Now()}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-r.over:
			return
		case <-ticker.C:
		}
		seq := d.seq.Load()
		if seq%2 == 0 { // many runs stand still
			starved = starvation{at: time.Now()}
			continue
		}
		starved.look(d)
		tgid, tid := int(d.tgid.Load()), int(d.tid.Load())
		switch {
		case seq != last:
			last, from = seq, computed(tgid, tid)
		case d.over():
			d.killAll()
		case tid == 0:
		default:
			if now := computed(tgid, tid); now >= from+computes {
				_ = unix.Tgkill(tgid, tid, unix.SIGSTOP)
				from = now
			}
		}
	}
}

// computes is how long a thread computes before others may go on: half of the time between
// two looks, so that one that has the CPU for itself is poked at the second.
const computes = 50 * time.Millisecond

// computed is how long a thread has had the CPU; 0 when it is gone.
func computed(tgid, tid int) time.Duration {
	had, _ := onCPU(tgid, tid)
	return had
}

// onCPU is how long a thread has had the CPU, and how long it was ready and had it not; 0 when it is gone.
func onCPU(tgid, tid int) (had, waited time.Duration) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", tgid, tid))
	_, _ = fmt.Sscan(string(b), &had, &waited)
	return had, waited
}

// A starvation is how long each thread of a run had waited for the CPU at the last look, and when that was.
type starvation struct {
	at     time.Time
	waited map[int]time.Duration // by thread
}

// look moves the deadline on by what was waited since the last look: a run has one CPU, so at most by all the
// time since.
func (s *starvation) look(d *watchdog) {
	now, was := time.Now(), s.waited
	s.waited = map[int]time.Duration{}
	note := func(tgid, tid int) {
		if tid != 0 {
			_, s.waited[tid] = onCPU(tgid, tid)
		}
	}
	d.mu.Lock()
	for _, p := range d.real {
		note(p, p)
	}
	d.mu.Unlock()
	note(int(d.tgid.Load()), int(d.tid.Load()))
	note(os.Getpid(), int(d.owner.Load()))
	var more time.Duration
	for tid, waited := range s.waited { // order does not matter: a sum
		if before, known := was[tid]; known {
			more += max(waited-before, 0)
		}
	}
	more = min(more, now.Sub(s.at))
	s.at = now
	if at := d.deadline.Load(); at != 0 {
		d.deadline.CompareAndSwap(at, at+int64(more))
	}
}

// late makes an error when the run is to end, or the program does not come to rest in time.
func (r *Run) late() {
	switch {
	case r.err != nil || !r.dog.over():
	case r.dog.stop.Load():
		r.err = errOver
	case r.cur == nil:
		r.err = &Error{What: fmt.Sprintf("the program does not come to rest in %v", r.c.Timeout)}
	default:
		r.err = &Error{
			Program: r.cur.p.name, Pid: r.cur.p.pid,
			What: fmt.Sprintf("it computes for longer than %v without a call; if it is slow, give it more time (Timeout)", r.c.Timeout),
		}
	}
}
