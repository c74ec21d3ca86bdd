// Two goroutines count under a lock, each with a descriptor of its own.
package main

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

func count() {
	f, err := os.OpenFile("lk", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil || syscall.Flock(int(f.Fd()), syscall.LOCK_EX) != nil {
		os.Exit(1)
	}
	text, _ := os.ReadFile("n")
	n, _ := strconv.Atoi(string(text))
	if os.WriteFile("n", []byte(strconv.Itoa(n+1)), 0o644) != nil || f.Close() != nil {
		os.Exit(1)
	}
}

func main() {
	var both sync.WaitGroup
	both.Go(count)
	both.Go(count)
	both.Wait()
}
