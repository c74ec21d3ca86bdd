package table

import "unsafe"

// memoryPage is how many bytes the system hands out at a time, at least.
const memoryPage = 4096

// room returns n zeros, in memory that was written to. The system gives a page of its own to memory only when that is
// written; until then all pages that were read are one page of zeros. When it exchanges that page, it interrupts all
// processors that run the program. A hash table reads each place before it writes there, so this would happen for
// every page; two workers took a seventh longer.
func room[E any](n int) []E {
	to := make([]E, n)
	var zero E
	for i := 0; i < n; i += max(1, memoryPage/max(1, int(unsafe.Sizeof(zero)))) {
		to[i] = zero
	}
	return to
}
