package checker

import (
	"os"
	"time"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// More toys: one for each property, each way of waiting and each fault.

// flockTwice takes two kernel locks, in the order given by the process: a deadlock.
func flockTwice(process, _ int) scenarios.Program {
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

// chooseLock locks by one of several protocols; which one is a choice of the schedule. It unlocks by
// the last.
func chooseLock(ps ...scenarios.Protocol) scenarios.Protocol {
	p := ps[len(ps)-1]
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		r := t.Do(fsfake.Op{Call: fsfake.CallChoose, Len: int64(len(ps))})
		return ps[r.N].Acquire(t)
	}
	return p
}

// blindRelease removes the lock by name when it gives up: it may be another's.
func blindRelease() scenarios.Protocol {
	p := fixtures.Excl()
	acquire := p.Acquire
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		h, err := acquire(t)
		if err != nil {
			_ = t.Unlink(fixtures.Lock)
		}
		return h, err
	}
	return p
}

// mkdirLease takes a lock over that is older than a minute.
func mkdirLease() scenarios.Protocol {
	return scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if t.Mkdir(fixtures.Lock, 0o755) == nil {
				return scenarios.Hold{}, nil
			}
			st, err := t.Stat(fixtures.Lock)
			if err != nil || t.Now().Sub(st.ModTime()) < time.Minute {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			_ = t.Rmdir(fixtures.Lock)
			return scenarios.Hold{}, t.Mkdir(fixtures.Lock, 0o755)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(fixtures.Lock) },
	}
}

// heldCell is the memory that says whether the lock is held.
var heldCell = fsfake.Cell[bool]{Name: "held"}

// cellLock is a lock in the memory of a process: under an event loop the look and the
// store are one turn.
func cellLock() scenarios.Protocol {
	return scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			heldCell.Wait(t.Proc, func(held bool) bool { return !held })
			heldCell.Store(t.Proc, true)
			t.Work()
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			heldCell.Store(t.Proc, false)
			t.Work()
			return nil
		},
	}
}

// countsInSet reads a set from a file, adds to it and writes it back; then it asks.
func countsInSet(t *scenarios.Task) {
	scenarios.Record(t, model.Add{Key: t.Process}, func() model.Added {
		data := readFile(t, "/set")
		_ = t.WriteFile("/set", []byte(data+t.Process), 0o644)
		return model.Added{}
	})
	scenarios.Record(t, model.Contains{Key: t.Process}, func() model.Found {
		data := readFile(t, "/set")
		for i := range data {
			if data[i:i+1] == t.Process {
				return model.Found{Yes: true}
			}
		}
		return model.Found{}
	})
}

// readFile records a read of a file.
func readFile(t *scenarios.Task, name string) string {
	f, err := t.Open(name)
	if err != nil {
		return ""
	}
	buf := make([]byte, 16)
	n, _ := f.Read(buf)
	_ = f.Close()
	return string(buf[:n])
}

// registerWord writes one word in two calls; the other process reads it.
func registerWord(process, _ int) scenarios.Program {
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
		scenarios.Record(t, model.Read{}, func() model.ReadValue { return model.ReadValue{Value: readFile(t, "/word")} })
	}
}

// plainToys lists every toy that the engines are compared on, with what is true of it.
func plainToys() []*scenarios.Scenario {
	type set = scenarios.Setting
	claim := func(p *scenarios.Property, v scenarios.Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	me, wedge, foreign := scenarios.MutualExclusion, scenarios.Wedge, scenarios.ForeignRelease
	threads := set{Processes: 1, Tasks: []int{2}, Concurrency: scenarios.Threads}
	loop := set{Processes: 1, Tasks: []int{2}}
	return []*scenarios.Scenario{
		fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), set{Processes: 2}, claim(me, scenarios.Broken)),
		fixtures.New("toy/stat/crash", fixtures.StatThenWrite(), set{Processes: 2, Crashes: 1}, claim(me, scenarios.Broken),
			claim(wedge, scenarios.Broken)),
		fixtures.New("toy/excl/contend", fixtures.Excl(), set{Processes: 2}, claim(me, scenarios.Holds),
			claim(foreign, scenarios.Holds)),
		fixtures.New("toy/excl/crash", fixtures.Excl(), set{Processes: 2, Crashes: 2}, claim(me, scenarios.Holds),
			claim(wedge, scenarios.Broken)),
		fixtures.New("toy/excl/mortal", fixtures.Excl(), set{Processes: 2, Crashes: 1, Mortal: []int{1}},
			claim(me, scenarios.Holds), claim(wedge, scenarios.Broken)),
		fixtures.New("toy/excl-wait/contend", fixtures.ExclWait(), set{Processes: 2}, claim(me, scenarios.Holds),
			claim(wedge, scenarios.Holds)),
		fixtures.New("toy/excl-wait/crash", fixtures.ExclWait(), set{Processes: 2, Crashes: 1}, claim(me, scenarios.Holds),
			claim(wedge, scenarios.Broken)),
		fixtures.New("toy/choose/contend", chooseLock(fixtures.Excl(), fixtures.Excl(), fixtures.StatThenWrite()),
			set{Processes: 2}, claim(me, scenarios.Broken)),
		fixtures.New("toy/choose/crash", chooseLock(fixtures.Excl(), fixtures.Excl()), set{Processes: 2, Crashes: 1},
			claim(me, scenarios.Holds), claim(wedge, scenarios.Broken)),
		fixtures.New("toy/flock/contend", fixtures.Flock(), set{Processes: 2}, claim(me, scenarios.Holds),
			claim(foreign, scenarios.Holds)),
		fixtures.New("toy/flock/crash", fixtures.Flock(), set{Processes: 2, Crashes: 1}, claim(me, scenarios.Holds),
			claim(wedge, scenarios.Holds)),
		fixtures.New("toy/blind-release/contend", blindRelease(), set{Processes: 2}, claim(me, scenarios.Holds),
			claim(foreign, scenarios.Broken)),
		fixtures.New("toy/blind-release/three", blindRelease(), set{Processes: 3}, claim(me, scenarios.Broken)),
		fixtures.New("toy/mkdir-lease/stall", mkdirLease(), set{Processes: 2, Stalls: 1, StallFor: time.Hour},
			claim(me, scenarios.Broken)),
		fixtures.New("toy/cell/threads", cellLock(), threads, claim(me, scenarios.Broken)),
		fixtures.New("toy/cell/event-loop", cellLock(), loop, claim(scenarios.Deadlock, scenarios.Holds)),
		fixtures.Programs("toy/flock-twice/contend", set{Processes: 2}, flockTwice,
			claim(scenarios.Deadlock, scenarios.Broken)),
		fixtures.Programs("toy/set/contend", set{Processes: 2}, fixtures.Same(countsInSet),
			claim(scenarios.LostUpdate, scenarios.Broken)),
		fixtures.Programs("toy/register/contend", set{Processes: 2}, registerWord,
			claim(scenarios.TornRead, scenarios.Broken)),
	}
}
