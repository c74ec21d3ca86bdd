//go:build linux && amd64

package tracer_test

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// A program that makes a directory, answered by a machine. The directory /data exists there only.
func ExampleStart() {
	m := fsfake.New(fsfake.Options{Umask: fsfake.NoUmask})
	m.Proc(1).Mkdir("/data", 0o777)
	m.AddProc(fsfake.ProcSpec{Pid: 100, Cwd: "/data"})

	run, err := tracer.Start(tracer.Config{Argv: []string{"mkdir", "lock"}, Dir: "/data", Cwd: "/data"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Stop()
	for {
		set, err := run.Next()
		if err != nil || len(set) == 0 {
			break
		}
		call := set[0]
		answer := m.Do(call.Task, call.Op)
		fmt.Println(call.Task.Pid, call.Op)
		if err := run.Answer(call.Task, answer); err != nil {
			fmt.Println(err)
			return
		}
	}
	exit, _ := run.Exit(100)
	made, _ := m.Proc(1).Stat("/data/lock")
	fmt.Println(exit, made.Mode())
	// Output:
	// 100 mkdir lock
	// 100 exit
	// exit 0 drwxr-xr-x
}
