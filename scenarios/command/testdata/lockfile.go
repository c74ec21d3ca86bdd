// A lock by flock(2), as many packages take it. With an argument the file is removed before it is
// unlocked.
package main

import (
	"os"
	"syscall"
)

func main() {
	f, err := os.OpenFile("app.lock", os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		panic(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		panic(err)
	}
	if err := os.Mkdir("cs", 0o755); err != nil {
		panic(err)
	}
	os.Remove("cs")
	if len(os.Args) > 1 {
		os.Remove("app.lock")
	}
	syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	f.Close()
}
