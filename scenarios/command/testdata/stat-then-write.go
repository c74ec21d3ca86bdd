package main

import "os"

func main() {
	if _, err := os.Stat("app.lock"); err == nil {
		os.Exit(1)
	}
	if err := os.WriteFile("app.lock", []byte("locked\n"), 0o644); err != nil {
		panic(err)
	}
	if err := os.Mkdir("cs", 0o755); err != nil {
		panic(err)
	}
	os.Remove("cs")
	os.Remove("app.lock")
}
