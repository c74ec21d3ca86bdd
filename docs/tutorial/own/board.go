package main

import (
	"fmt"
	"os"
	"strconv"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Sit asks for a seat; it is answered with a Seat.
type Sit struct{}

func (Sit) String() string { return "sit" }

// Seat is a guest's number.
type Seat struct{ N int }

func (s Seat) String() string { return fmt.Sprintf("seat %d", s.N) }

// Taken is how many seats are taken. Seats are given in order.
type Taken struct{ N int }

// Sit gives the next seat. What is not listed here is not right.
func (s Taken) Sit(Sit) []model.Next[Taken, Seat] {
	return model.Only(Taken{s.N + 1}, Seat{s.N + 1})
}

// oneSeatEach is a property: what it means, and the specification that decides it.
var oneSeatEach = &scenarios.Property{
	ID:      "one-seat-each",
	Meaning: "Every guest gets the next free seat, and nobody else gets it.",
	Spec:    model.Define("seats", Taken{}, model.On(Taken.Sit)),
}

const (
	board   = "/srv/board"
	reading = "/srv/board.reading"
	writing = "/srv/board.writing"
)

// guest reads from the board how many seats are taken, and writes one more.
func guest(locked bool) scenarios.Program {
	return func(t *scenarios.Task) {
		scenarios.Record(t, Sit{}, func() Seat {
			if locked {
				f, err := t.OpenFile("/srv/board.lock", os.O_CREATE|os.O_RDWR, 0o644)
				if err != nil || f.Flock(fsfake.LOCK_EX) != nil {
					return Seat{}
				}
				defer f.Close()
			}
			text, _ := t.ReadFile(board)
			n, _ := strconv.Atoi(string(text))
			_ = t.WriteFile(board, []byte(strconv.Itoa(n+1)), 0o644)
			return Seat{n + 1}
		})
	}
}

// reader and writer are a readers-writer lock of two marks.
func reader(t *scenarios.Task) {
	_, err := t.AcquireRead(board, func() (scenarios.Hold, error) {
		if _, err := t.Stat(writing); err == nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, t.Mkdir(reading, 0o755) // too late: the writer has looked
	})
	if err == nil {
		_ = t.ReleaseRead(func() error { return t.Rmdir(reading) })
	}
}

func writer(t *scenarios.Task) {
	_, err := t.AcquireWrite(board, func() (scenarios.Hold, error) {
		if err := t.Mkdir(writing, 0o755); err != nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		if _, err := t.Stat(reading); err == nil {
			_ = t.Rmdir(writing)
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, nil
	})
	if err == nil {
		_, err := t.Stat(reading)
		t.Assert(err != nil, "nobody reads while %s writes", t.Process)
		_ = t.ReleaseWrite(func() error { return t.Rmdir(writing) })
	}
}

// boards are the situations, and what is claimed there.
func boards() []scenarios.Scenario {
	two := scenarios.Setting{Processes: 2}
	roles := scenarios.Setting{Processes: 2, Fixed: true}
	claim := func(p *scenarios.Property, v scenarios.Verdict) scenarios.Claim {
		return scenarios.Claim{Property: p, Verdict: v}
	}
	all := []scenarios.Scenario{
		{
			ID: "board/bare/contend", Summary: "Read, add one, write.", Setting: two,
			Program: func(int, int) scenarios.Program { return guest(false) },
			Claims:  []scenarios.Claim{claim(oneSeatEach, scenarios.Broken)},
		},
		{
			ID: "board/flock/contend", Summary: "The same under an flock.", Setting: two,
			Program: func(int, int) scenarios.Program { return guest(true) },
			Claims:  []scenarios.Claim{claim(oneSeatEach, scenarios.Holds)},
		},
		{
			ID: "board/marks/readers", Summary: "The reader looks before it marks, the writer after.", Setting: roles,
			Program: func(process, _ int) scenarios.Program { return []scenarios.Program{reader, writer}[process] },
			Claims:  []scenarios.Claim{claim(scenarios.RWExclusion, scenarios.Broken), claim(scenarios.Assertion, scenarios.Broken)},
		},
	}
	for i := range all {
		all[i].Watch = []string{board, reading, writing}
		all[i].Setup = func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll("/srv", 0o755) }
	}
	return all
}
