package watchdog

import (
	"fmt"
	"sync"
	"time"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A program may run so many ticks without a call: far longer than any does.
const (
	tick  = time.Second
	ticks = 5
)

// A dog is a scenarios.Watchdog.
type dog struct {
	mu   sync.Mutex
	runs []watched
}

// A watched run, for how many ticks it was in one turn of the program's.
type watched struct {
	*scenarios.WatchedRun
	turn  uint64
	ticks int
}

// Begin implements scenarios.Watchdog.
func (d *dog) Begin(r *scenarios.WatchedRun) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs = append(d.runs, watched{WatchedRun: r})
}

// End implements scenarios.Watchdog.
func (d *dog) End(r *scenarios.WatchedRun) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.runs) - 1; i >= 0; i-- {
		if d.runs[i].WatchedRun == r {
			last := len(d.runs) - 1
			d.runs[i] = d.runs[last]
			d.runs = d.runs[:last]
			return
		}
	}
}

// look makes every turn that goes on a tick older, and returns the error for one that is too
// old.
func (d *dog) look() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.runs {
		r := &d.runs[i]
		turn := r.Turns.Load()
		if turn%2 == 0 || turn != r.turn {
			r.turn, r.ticks = turn, 0
		}
		if r.ticks++; turn%2 == 0 || r.ticks <= ticks {
			continue
		}
		after := "before its first call"
		if r.Last != (fsfake.Op{}) {
			after = fmt.Sprintf("after its call %q", r.Last.String())
		}
		at := ""
		if s := learn.Running(); s.File != "" {
			at = fmt.Sprintf(" at %s:%d (%s)", s.File, s.Line, s.Func)
		}
		return fmt.Errorf("checker: %s runs on without a call%s, %s: it is in an endless loop, or waits for a Go lock or a channel that another task has. A program waits by calls only, such as t.Sleep in a loop marked with t.Retry, and tasks share memory in an fsfake.Cell only",
			r.Who, at, after)
	}
	return nil
}

// Start returns a watchdog, which tells once of a program that runs on without a call, and what
// ends it.
func Start(stuck func(error)) (w scenarios.Watchdog, stop func()) { return start(tick, stuck) }

func start(every time.Duration, stuck func(error)) (w scenarios.Watchdog, stop func()) {
	d, over := &dog{}, make(chan struct{})
	go func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-over:
				return
			case <-t.C:
				if err := d.look(); err != nil {
					stuck(err)
					return
				}
			}
		}
	}()
	return d, sync.OnceFunc(func() { close(over) })
}

// Over runs f, which is to have its scenarios watched, and returns what it returns; or the error
// of a program that runs on without a call: f is left where it is then.
func Over[T any](f func(scenarios.Watchdog) (T, error)) (T, error) { return over(tick, f) }

func over[T any](every time.Duration, f func(scenarios.Watchdog) (T, error)) (v T, err error) {
	stuck := make(chan error, 1)
	w, stop := start(every, func(err error) { stuck <- err })
	defer stop()
	done := make(chan struct{})
	var got T
	var gotErr error
	var panicked any
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		got, gotErr = f(w)
	}()
	select {
	case err = <-stuck:
		return v, err
	case <-done:
	}
	if panicked != nil {
		panic(panicked)
	}
	return got, gotErr
}
