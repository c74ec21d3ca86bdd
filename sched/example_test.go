package sched_test

import (
	"fmt"

	"lockpick/sched"
)

func ExampleParseSchedule() {
	s, err := sched.ParseSchedule("A3 B2! A4")
	fmt.Println(len(s), s[4].Task, err)
	fmt.Println(s)

	_, err = sched.ParseSchedule("A3 b2")
	fmt.Println(err)
	// Output:
	// 10 B <nil>
	// A3 B2! A4
	// sched: schedule element 2, "b2": want a process from A to Z, or ~, or * and a number
}

func ExampleGo() {
	co := sched.Go(func(ask func(string) int) {
		sum := ask("one number") + ask("another")
		fmt.Println("the sum is", sum)
	})
	defer co.Stop()
	for q, more := co.Next(); more; q, more = co.Next() {
		fmt.Println("asked for", q)
		co.Answer(21)
	}
	// Output:
	// asked for one number
	// asked for another
	// the sum is 42
}

func ExampleRunToCompletion() {
	a, b := sched.Task{Process: 0, N: 1}, sched.Task{Process: 1, N: 1}
	v := &sched.View{Last: -1, Tasks: []sched.TaskView{{Task: a, Enabled: true}, {Task: b, Enabled: true}}}
	st := sched.RunToCompletion{Preemptions: []sched.Preemption{
		{Step: 2, Choice: sched.Choice{Action: sched.Run, Task: b}},
	}}
	var s sched.Schedule
	for v.Step < 5 {
		c, _ := st.Next(v)
		s = append(s, c)
		v.Step, v.Last = v.Step+1, c.Task.Process
	}
	fmt.Println(s)
	// Output: A2 B3
}
