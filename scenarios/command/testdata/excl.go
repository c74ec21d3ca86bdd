package main

import (
	"os"
	"time"
)

func main() {
	for {
		f, err := os.OpenFile("app.lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			f.Close()
			break
		}
		if !os.IsExist(err) {
			panic(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := os.Mkdir("cs", 0o755); err != nil {
		panic(err)
	}
	os.Remove("cs")
	os.Remove("app.lock")
}
