package fsfake

import "testing"

// below calls f below n small frames.
//
//go:noinline
func below(n int, f func()) int {
	if n == 0 {
		f()
		return 0
	}
	return below(n-1, f) + 1
}

// TestWhatIsHiddenMovesWithTheStack: a goroutine's stack is small at first, and is moved when
// it has to grow; what it left is somebody else's at once. Wherever that happens, what hide
// returns points to what it was given: each goroutine here has used up a little more of its
// stack. Under the race detector the conversions of pointers were calls of their own, in which
// a stack can grow; a call then read an Op that was another goroutine's memory.
func TestWhatIsHiddenMovesWithTheStack(t *testing.T) {
	for n := range 2000 {
		same := make(chan bool)
		go func() {
			var ok bool
			below(n, func() {
				var op Op
				p := hide(&op)
				ok = p == &op
			})
			same <- ok
		}()
		if !<-same {
			t.Fatalf("below %d frames hide returned where the Op had been", n)
		}
	}
}
