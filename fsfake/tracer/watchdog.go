//go:build linux && amd64

package tracer

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A watchdog looks after an owner that waits for a stop. When nothing comes for a while, it
// pokes the thread that is in user mode, by a signal that the owner recognises: others may have
// to run before that thread can go on. When the time is over, it kills.
type watchdog struct {
	stop     atomic.Bool   // the run is to end
	deadline atomic.Int64  // real, in nanoseconds since 1970; 0 when none
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
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-r.over:
			return
		case <-ticker.C:
		}
		seq := d.seq.Load()
		if seq%2 == 1 && seq == last {
			if d.over() {
				d.killAll()
			} else if tid := d.tid.Load(); tid != 0 {
				_ = unix.Tgkill(int(d.tgid.Load()), int(tid), unix.SIGSTOP)
			}
		}
		last = seq
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
