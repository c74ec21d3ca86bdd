package aferofs_test

import (
	"fmt"

	"github.com/spf13/afero"

	"lockpick/fsfake"
	"lockpick/fsfake/aferofs"
)

// Code that takes an afero.Fs runs on a simulated process.
func ExampleNew() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	sys := aferofs.New(m.Proc(101))

	if err := afero.WriteFile(sys, "/tmp/lock", []byte("101"), 0o600); err != nil {
		fmt.Println(err)
	}
	taken, err := afero.Exists(sys, "/tmp/lock")
	fmt.Println(taken, err)
	// Output: true <nil>
}
