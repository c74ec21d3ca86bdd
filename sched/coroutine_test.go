package sched_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

func TestCoroutineAnswers(t *testing.T) {
	var got []int
	co := sched.Go(func(ask func(string) int) {
		got = append(got, ask("first"))
		got = append(got, ask("second"))
	})
	q, more := co.Next()
	require.True(t, more)
	require.Equal(t, "first", q)
	co.Answer(1)
	q, more = co.Next()
	require.True(t, more)
	require.Equal(t, "second", q)
	co.Answer(2)
	_, more = co.Next()
	require.False(t, more)
	_, more = co.Next() // past the end
	require.False(t, more)
	require.Equal(t, []int{1, 2}, got)
	co.Stop()
	co.Stop()
}

// Nothing runs before the first Next, and a coroutine that never ran can be stopped.
func TestCoroutineStartsLate(t *testing.T) {
	ran := false
	co := sched.Go(func(func(int) int) { ran = true })
	co.Stop()
	require.False(t, ran)
	_, more := co.Next()
	require.False(t, more)
}

func TestCoroutinePanicReachesTheDriver(t *testing.T) {
	co := sched.Go(func(ask func(int) int) {
		ask(1)
		panic("of the body")
	})
	_, more := co.Next()
	require.True(t, more)
	require.PanicsWithValue(t, "of the body", func() { co.Next() })
	require.PanicsWithValue(t, "of the body", func() { co.Next() }, "it has not gone away")
	co.Stop()
}

// Stop runs deferred functions, and a deferred question is refused: it neither reaches
// the driver nor lets the rest of the function run.
func TestCoroutineStopUnwinds(t *testing.T) {
	var log []string
	co := sched.Go(func(ask func(string) int) {
		defer func() { log = append(log, "outer") }()
		defer func() {
			log = append(log, "before")
			ask("deferred")
			log = append(log, "after")
		}()
		ask("body")
		log = append(log, "went on")
	})
	q, _ := co.Next()
	require.Equal(t, "body", q)
	co.Stop()
	require.Equal(t, []string{"before", "outer"}, log)
	_, more := co.Next()
	require.False(t, more)
}

// A body that recovers from everything cannot go on after Stop either.
func TestCoroutineStopIsFinal(t *testing.T) {
	asked := 0
	co := sched.Go(func(ask func(int) int) {
		for range 3 {
			func() {
				defer func() { _ = recover() }()
				ask(0)
				asked++
			}()
		}
	})
	co.Next()
	co.Stop()
	require.Zero(t, asked)
}

// A body that goes on asking whatever happens cannot be unwound: its driver goes on without it.
// Before, Stop did not return.
func TestCoroutineStopGivesUp(t *testing.T) {
	asked := 0
	co := sched.Go(func(ask func(int) int) {
		for {
			func() {
				defer func() { _ = recover() }()
				asked++
				ask(0)
			}()
		}
	})
	co.Next()
	require.False(t, co.Stop())
	require.False(t, co.Stop())
	_, more := co.Next()
	require.False(t, more)
	require.Less(t, asked, 2000)
}

// A panic while a body is unwound is the body's own affair.
func TestCoroutinePanicWhileUnwinding(t *testing.T) {
	co := sched.Go(func(ask func(int) int) {
		defer func() { panic("late") }()
		ask(0)
	})
	co.Next()
	require.NotPanics(t, func() { co.Stop() })
}

// runtime.Goexit in a body (a t.FailNow, say) does not hang its driver.
func TestCoroutineGoexit(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		co := sched.Go(func(func(int) int) { runtime.Goexit() })
		co.Next()
		t.Error("Goexit was swallowed")
	}()
	<-done
}

func BenchmarkCoroutineSwitch(b *testing.B) {
	co := sched.Go(func(ask func(int) int) {
		for {
			ask(0)
		}
	})
	defer co.Stop()
	b.ReportAllocs()
	for b.Loop() {
		co.Next()
	}
}

func BenchmarkCoroutineStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		co := sched.Go(func(ask func(int) int) { ask(0) })
		co.Next()
		co.Stop()
	}
}
