// Package locks does what a protocol may not do.
package locks

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"helper"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

var attempts int

type Config struct{ Wait int }

var Default Config

// Acquire is a protocol, as it gets a task.
func Acquire(t *scenarios.Task) error { // want Acquire:`time.Now reads the real clock`
	deadline := time.Now().Add(time.Second) // want `time.Now reads the real clock: use t.Now and t.Sleep`
	_ = deadline
	attempts++               // want `the package variable attempts is written to, which all processes and all runs share`
	Default.Wait = 3         // want `the package variable Default is written to`
	if rand.IntN(100) == 0 { // want `math/rand/v2.IntN draws lots: use t.Choose`
		return errors.New("no luck")
	}
	fixed := rand.New(rand.NewPCG(1, 2)) // the same in each run
	_ = fixed.IntN(3)
	if _, err := os.Stat("/lock"); os.IsNotExist(err) { // want `os.Stat acts on the real system`
		return err
	}
	_ = os.O_CREATE
	return jitter()
}

// jitter is called by a protocol.
func jitter() error { // want jitter:`time.Sleep reads the real clock`
	time.Sleep(time.Millisecond) // want `time.Sleep reads the real clock`
	return nil
}

// Unreached may do what it likes.
func Unreached() time.Time { // want Unreached:`the package variable attempts is written to`
	attempts++
	return time.Now()
}

// A Client has a task.
type Client struct {
	t    *scenarios.Task
	held map[string]int
	mu   sync.Mutex
}

func (c *Client) Release() {
	c.mu.Lock()                // want `sync is not seen by the fake`
	for name := range c.held { // want `a range over a map has another order each time`
		c.t.Record(name)
	}
	n := 0
	for range c.held { // order does not matter: they are counted
		n++
	}
	for name := range maps.Keys(c.held) { // want `maps.Keys has another order each time`
		c.t.Record(name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.held)) {
		c.t.Record(name)
	}
}

// Scenario has its programs as function literals.
func Scenario() []scenarios.Program { // want Scenario:`helper.Stamp differs from run to run`
	shared := 0
	return []scenarios.Program{func(t *scenarios.Task) {
		mine := 0
		mine++
		shared++ // want `shared is declared outside of the program`
		ready := make(chan int, 1)
		go t.Record(mine)         // want `a goroutine is scheduled by Go`
		ready <- 1                // want `a channel is not seen by the fake`
		<-ready                   // want `a channel is not seen by the fake`
		once := func() { mine++ } // its own
		once()
		t.Record(helper.Stamp())                   // want `helper.Stamp differs from run to run, as in it time.Now reads the real clock`
		t.Record(helper.Store{Dir: "/x"}.Exists()) // want `helper.Exists differs from run to run, as in it os.Stat acts on the real system`
		helper.Count()                             // want `helper.Count differs from run to run`
		t.Record(helper.Locked())
	}}
}

var setup = func(m *fsfake.Machine) {
	_ = rand.IntN(2) // want `math/rand/v2.IntN draws lots`
}

func write(p *fsfake.Proc) { _ = p.Now() }
