// Each line that makes calls names them.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func taken() bool {
	_, err := os.Stat("lock") // makes: stat
	return err == nil
}

func acquire() {
	if taken() {
		return
	}
	f, err := os.Create("lock") // makes: open
	if err != nil {
		panic(err)
	}
	w := bufio.NewWriter(f)
	defer func() {
		w.Flush() // makes: write
		f.Close() // makes: close
	}()
	fmt.Fprintln(w, os.Getpid())
}

func main() {
	acquire()
	done := make(chan bool)
	go func() {
		os.Rename("lock", "kept") // makes: lstat rename
		done <- true
	}()
	<-done
	os.ReadFile("kept") // makes: open fstat read close
	os.Remove("kept")   // makes: unlink
}
