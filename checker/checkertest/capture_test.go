package checkertest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

// capture is a tb that keeps what a test would print.
type capture struct {
	name   string
	log    strings.Builder
	failed bool
}

func (c *capture) Helper()        {}
func (c *capture) Name() string   { return c.name }
func (c *capture) Fail()          { c.failed = true }
func (c *capture) Failed() bool   { return c.failed }
func (c *capture) FailNow()       { c.failed = true; runtime.Goexit() }
func (c *capture) SkipNow()       { runtime.Goexit() }
func (c *capture) Log(a ...any)   { fmt.Fprintln(&c.log, a...) }
func (c *capture) Error(a ...any) { c.Log(a...); c.Fail() }
func (c *capture) Fatal(a ...any) { c.Log(a...); c.FailNow() }
func (c *capture) Skip(a ...any)  { c.Log(a...); c.SkipNow() }
func (c *capture) Logf(f string, a ...any) {
	fmt.Fprintf(&c.log, f+"\n", a...)
}
func (c *capture) Errorf(f string, a ...any) { c.Logf(f, a...); c.Fail() }
func (c *capture) Fatalf(f string, a ...any) { c.Logf(f, a...); c.FailNow() }
func (c *capture) Skipf(f string, a ...any)  { c.Logf(f, a...); c.SkipNow() }

// captured runs f as a test of its own and returns what it printed.
func captured(name string, f func(t *capture)) *capture {
	c := &capture{name: name}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		f(c)
	}()
	<-done
	return c
}

// schedule returns the last schedule that a captured test printed.
func (c *capture) schedule(t *testing.T) sched.Schedule {
	t.Helper()
	i := strings.LastIndex(c.log.String(), "schedule  ")
	require.GreaterOrEqual(t, i, 0, c.log.String())
	text, _, _ := strings.Cut(c.log.String()[i+len("schedule  "):], "\n")
	s, err := sched.ParseSchedule(text)
	require.NoError(t, err)
	return s
}
