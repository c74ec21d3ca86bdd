package parallel

import "sync"

// MaxWorkers is more than pays: each worker has a box for every other.
const MaxWorkers = 128

// CacheLine is enough to keep apart what two workers write all the time: memory that
// shares a line with another processor's is many times slower.
const CacheLine = 128

// Together does something n times, side by side.
func Together(n int, do func(k int)) {
	if n <= 1 {
		do(0)
		return
	}
	var wg sync.WaitGroup
	for k := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			do(k)
		}()
	}
	wg.Wait()
}
