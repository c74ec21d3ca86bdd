package kit

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Channel hands values from task to task of one process, first in, first out, by its name. With
// room for one it is a semaphore, or a condition that remembers that it was signalled. To wait for
// anything else that a task stores, let it Wait for a cell.
type Channel[T comparable] struct {
	Name string
	// Room is how many values it holds that nobody has received, 1 to 8; 0 is 1. There is no
	// channel without room: let the receiver send an answer back.
	Room int
}

// MaxRoom is how many values a channel holds at most.
const MaxRoom = 8

// A queue is what the channel's cell holds; what is beyond N is T's zero value.
type queue[T comparable] struct {
	N      int
	Values [MaxRoom]T
}

func (c Channel[T]) cell() fsfake.Cell[queue[T]] { return fsfake.Cell[queue[T]]{Name: c.Name} }

// Send waits until there is room, and puts a value at the end.
func (c Channel[T]) Send(t *scenarios.Task, v T) {
	room := max(c.Room, 1)
	if room > MaxRoom {
		panic(fmt.Sprintf("kit: channel %s has room for %d: at most %d", c.Name, room, MaxRoom))
	}
	c.change(t, func(q queue[T]) bool { return q.N < room }, func(q *queue[T]) {
		q.Values[q.N] = v
		q.N++
	})
}

// Receive waits until there is a value, and takes the first.
func (c Channel[T]) Receive(t *scenarios.Task) T {
	return c.change(t, func(q queue[T]) bool { return q.N > 0 }, func(q *queue[T]) {
		var zero T
		copy(q.Values[:], q.Values[1:q.N])
		q.N--
		q.Values[q.N] = zero
	}).Values[0]
}

// change waits until the queue is ready, changes it in one step, and returns what it was.
func (c Channel[T]) change(t *scenarios.Task, ready func(queue[T]) bool, change func(*queue[T])) queue[T] {
	for retry := t.Retry(); retry.Next(); {
		before := c.cell().Wait(t.Proc, ready)
		after := before
		change(&after)
		if c.cell().CompareAndSwap(t.Proc, before, after) {
			return before
		}
	}
	panic("unreachable") // a retry loop goes on until it is left
}
