package watchdog

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Patience is how long a program may run without a call: far longer than any does.
const Patience = ticks * tick

const (
	tick  = time.Second
	ticks = 5
)

// A dog is a scenarios.Watchdog that remembers who runs.
type dog struct {
	mu      sync.Mutex
	running []run
	entered int
}

// A run is a program that was entered and has not been left.
type run struct {
	id    int
	who   string
	last  fsfake.Op
	ticks int // survived
}

// Enter implements scenarios.Watchdog.
func (d *dog) Enter(who string, last fsfake.Op) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entered++
	d.running = append(d.running, run{id: d.entered, who: who, last: last})
	return d.entered
}

// Leave implements scenarios.Watchdog.
func (d *dog) Leave(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = slices.DeleteFunc(d.running, func(r run) bool { return r.id == id })
}

// grow makes everybody who runs a tick older, and returns the error for who is too old.
func (d *dog) grow() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.running {
		r := &d.running[i]
		if r.ticks++; r.ticks <= ticks {
			continue
		}
		after := "before its first call"
		if r.last != (fsfake.Op{}) {
			after = fmt.Sprintf("after its call %q", r.last.String())
		}
		at := ""
		if s := learn.Running(); s.File != "" {
			at = fmt.Sprintf(" at %s:%d (%s)", s.File, s.Line, s.Func)
		}
		return fmt.Errorf("checker: %s runs on without a call%s, %s: it is in an endless loop, or waits for a Go lock or a channel that another task has. A program waits by calls only, such as t.Sleep in a loop marked with t.Retry, and tasks share memory in an fsfake.Cell only",
			r.who, at, after)
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
				if err := d.grow(); err != nil {
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
