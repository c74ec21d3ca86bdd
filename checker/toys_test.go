package checker

import (
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// More toys: one for each property, each way of waiting and each fault.

// toyFlockTwice takes two kernel locks, in the order given by the process: a deadlock.
func toyFlockTwice(process, _ int) scenarios.Program {
	names := [2]string{"/a", "/b"}
	if process%2 == 1 {
		names = [2]string{"/b", "/a"}
	}
	return func(t *scenarios.Task) {
		for _, name := range names {
			f, err := t.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return
			}
			if f.Flock(fsfake.LOCK_EX) != nil {
				return
			}
		}
	}
}

// toyBlindRelease removes the lock by name when it gives up: it may be another's.
func toyBlindRelease() scenarios.Protocol {
	p := toyExcl()
	acquire := p.Acquire
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		h, err := acquire(t)
		if err != nil {
			_ = t.Unlink(toyLock)
		}
		return h, err
	}
	return p
}

// toyMkdirLease takes a lock over that is older than a minute.
func toyMkdirLease() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if t.Mkdir(toyLock, 0o755) == nil {
				return scenarios.Hold{}, nil
			}
			st, err := t.Stat(toyLock)
			if err != nil || t.Now().Sub(st.ModTime()) < time.Minute {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			_ = t.Rmdir(toyLock)
			return scenarios.Hold{}, t.Mkdir(toyLock, 0o755)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(toyLock) },
	}
}

var toyHeld = fsfake.Cell[bool]{Name: "held"}

// toyCell is a lock in the memory of a process: under an event loop the look and the
// store are one turn.
func toyCell() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			toyHeld.Wait(t.Proc, func(held bool) bool { return !held })
			toyHeld.Store(t.Proc, true)
			t.Work()
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			toyHeld.Store(t.Proc, false)
			t.Work()
			return nil
		},
	}
}

// toyCounter reads a set from a file, adds to it and writes it back; then it asks.
func toyCounter(t *scenarios.Task) {
	scenarios.Record(t, model.Add{Key: t.Process}, func() model.Added {
		data := toyRead(t, "/set")
		_ = t.WriteFile("/set", []byte(data+t.Process), 0o644)
		return model.Added{}
	})
	scenarios.Record(t, model.Contains{Key: t.Process}, func() model.Found {
		data := toyRead(t, "/set")
		for i := range data {
			if data[i:i+1] == t.Process {
				return model.Found{Yes: true}
			}
		}
		return model.Found{}
	})
}

func toyRead(t *scenarios.Task, name string) string {
	f, err := t.Open(name)
	if err != nil {
		return ""
	}
	buf := make([]byte, 16)
	n, _ := f.Read(buf)
	_ = f.Close()
	return string(buf[:n])
}

// toyRegister writes one word in two calls; the other process reads it.
func toyRegister(process, _ int) scenarios.Program {
	if process == 0 {
		return func(t *scenarios.Task) {
			scenarios.Record(t, model.Write{Value: "ab"}, func() model.Written {
				f, err := t.Create("/word")
				if err == nil {
					_, _ = f.WriteString("a")
					_, _ = f.WriteString("b")
				}
				return model.Written{}
			})
		}
	}
	return func(t *scenarios.Task) {
		scenarios.Record(t, model.Read{}, func() model.ReadValue { return model.ReadValue{Value: toyRead(t, "/word")} })
	}
}

// programs is a toy without a lock.
func programs(id string, st scenarios.Setting, p func(process, task int) scenarios.Program, c scenarios.Claim) *scenarios.Scenario {
	return &scenarios.Scenario{ID: id, Setting: st, Claims: []scenarios.Claim{c}, Program: p}
}

// same gives every task one program.
func same(p scenarios.Program) func(int, int) scenarios.Program {
	return func(int, int) scenarios.Program { return p }
}

// toys lists every toy that the engines are compared on, with what is true of it.
func toys() []*scenarios.Scenario {
	type set = scenarios.Setting
	claim := func(p *scenarios.Property, v Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	me, wedge, foreign := scenarios.MutualExclusion, scenarios.Wedge, scenarios.ForeignRelease
	threads := set{Processes: 1, Tasks: []int{2}, Concurrency: scenarios.Threads}
	loop := set{Processes: 1, Tasks: []int{2}}
	return []*scenarios.Scenario{
		toy("toy/stat/contend", toyStatThenWrite(), set{Processes: 2}, claim(me, Broken)),
		toy("toy/stat/crash", toyStatThenWrite(), set{Processes: 2, Crashes: 1}, claim(me, Broken), claim(wedge, Broken)),
		toy("toy/excl/contend", toyExcl(), set{Processes: 2}, claim(me, Holds), claim(foreign, Holds)),
		toy("toy/excl/crash", toyExcl(), set{Processes: 2, Crashes: 2}, claim(me, Holds), claim(wedge, Broken)),
		toy("toy/excl/mortal", toyExcl(), set{Processes: 2, Crashes: 1, Mortal: []int{1}}, claim(me, Holds), claim(wedge, Broken)),
		toy("toy/excl-wait/contend", toyExclWait(), set{Processes: 2}, claim(me, Holds), claim(wedge, Holds)),
		toy("toy/excl-wait/crash", toyExclWait(), set{Processes: 2, Crashes: 1}, claim(me, Holds), claim(wedge, Broken)),
		toy("toy/flock/contend", toyFlock(), set{Processes: 2}, claim(me, Holds), claim(foreign, Holds)),
		toy("toy/flock/crash", toyFlock(), set{Processes: 2, Crashes: 1}, claim(me, Holds), claim(wedge, Holds)),
		toy("toy/blind-release/contend", toyBlindRelease(), set{Processes: 2}, claim(me, Holds), claim(foreign, Broken)),
		toy("toy/blind-release/three", toyBlindRelease(), set{Processes: 3}, claim(me, Broken)),
		toy("toy/mkdir-lease/stall", toyMkdirLease(), set{Processes: 2, Stalls: 1, StallFor: time.Hour}, claim(me, Broken)),
		toy("toy/cell/threads", toyCell(), threads, claim(me, Broken)),
		toy("toy/cell/event-loop", toyCell(), loop, claim(scenarios.Deadlock, Holds)),
		programs("toy/flock-twice/contend", set{Processes: 2}, toyFlockTwice, claim(scenarios.Deadlock, Broken)),
		programs("toy/set/contend", set{Processes: 2}, same(toyCounter), claim(scenarios.LostUpdate, Broken)),
		programs("toy/register/contend", set{Processes: 2}, toyRegister, claim(scenarios.TornRead, Broken)),
	}
}
