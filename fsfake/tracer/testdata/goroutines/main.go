// Two goroutines make a directory each; the main one polls for both.
package main

import (
	"os"
	"time"
)

func main() {
	for _, name := range []string{"left", "right"} {
		go os.Mkdir(name, 0o755)
	}
	for {
		_, left := os.Lstat("left")
		_, right := os.Lstat("right")
		if left == nil && right == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
