// Package banned does everything that the determinism test forbids.
package banned

import (
	"math/rand/v2"
	"sync"
	"time"
)

var (
	counter int
	table   = map[string]int{"a": 1}
	names   = []string{"never", "written", "to"}
	mutex   sync.Mutex
	clock   = time.Now
)

func everything() int {
	counter++
	table["b"] = 2
	p := &counter
	mutex.Lock()
	go time.Sleep(1)
	for range table {
		*p = 3
	}
	for range table { // order does not matter: nothing is done
	}
	for range table { // order does not matter:
	}
	for range names {
		counter := 1
		counter++
	}
	a, b := make(chan int), make(chan int)
	select {
	case <-a:
	case <-b:
	}
	return rand.IntN(3) + rand.New(rand.NewPCG(1, 2)).IntN(3)
}
