// A lock by O_EXCL, goroutines that write, a child.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"
)

func main() {
	f, err := os.OpenFile("lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	fmt.Println(err)
	fmt.Fprint(f, "me")
	f.Close()
	_, err = os.OpenFile("lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	fmt.Println(errors.Is(err, fs.ErrExist))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { fmt.Println(os.WriteFile(fmt.Sprint("g", i), []byte("x"), 0o600)) })
	}
	wg.Wait()
	time.Sleep(20 * time.Millisecond)
	out, err := exec.Command("sh", "-c", "echo from the child > c; cat c").Output()
	fmt.Printf("%q %v\n", out, err)
	tmp, err := os.CreateTemp(".", "tmp")
	fmt.Println(err)
	tmp.Close()
	fmt.Println(os.Rename(tmp.Name(), "renamed"))
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		fmt.Println(e.Name(), e.IsDir())
	}
	fmt.Println(os.MkdirAll("deep/er/est", 0o755), os.RemoveAll("deep"))
	fmt.Println(os.Remove("lock"))
}
