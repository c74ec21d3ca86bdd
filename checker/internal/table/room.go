package table

import "unsafe"

// memoryPage is how many bytes the system hands out at a time, at least.
const memoryPage = 4096

// room returns n zeros, in memory that was written to. Of memory that was only read so far the system shows the same zeros
// everywhere. Where that is written to, it stops all processors that run the program, to tell them of the
// new page; and a hash table reads a place before it writes there. Two workers took a seventh longer without this.
func room[E any](n int) []E {
	to := make([]E, n)
	var zero E
	for i := 0; i < n; i += max(1, memoryPage/max(1, int(unsafe.Sizeof(zero)))) {
		to[i] = zero
	}
	return to
}
