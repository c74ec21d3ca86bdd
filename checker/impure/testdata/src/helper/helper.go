// Package helper is called by protocols.
package helper

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var calls int

func Stamp() string { return fmt.Sprint(now()) } // want Stamp:`time.Now reads the real clock`

func now() int64 { return time.Now().Unix() } // want now:`time.Now reads the real clock`

func Count() { calls++ } // want Count:`the package variable calls is written to`

type Store struct{ Dir string }

func (s Store) Exists() bool { _, err := os.Stat(s.Dir); return err == nil } // want Exists:`os.Stat acts on the real system`

var mu sync.Mutex

// What is locked here, nobody notices.
func Locked() int {
	mu.Lock()
	defer mu.Unlock()
	return 1
}
