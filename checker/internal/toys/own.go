package toys

import (
	"errors"
	"fmt"
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Properties of one's own, and what the toys for them do.

// Take asks for a ticket.
type Take struct{}

// String renders the operation.
func (Take) String() string { return "take" }

// Ticket is the answer.
type Ticket struct{ N int }

// String renders the answer: "number 1".
func (t Ticket) String() string { return fmt.Sprintf("number %d", t.N) }

// Taken is the tickets taken so far.
type Taken struct{ Numbers model.Entries }

// String renders the state: "[0 1]".
func (s Taken) String() string { return s.Numbers.String() }

// mostTickets bounds the numbers that the specification lists.
const mostTickets = 4

// Take answers with a number that nobody has got.
func (s Taken) Take(Take) (next []model.Next[Taken, Ticket]) {
	for n := range mostTickets {
		if !s.Numbers.Has(n) {
			next = append(next, model.Next[Taken, Ticket]{State: Taken{s.Numbers | model.EntriesOf(n)}, Output: Ticket{n}})
		}
	}
	return next
}

// ticketsDiffer is a property with a specification of its own.
var ticketsDiffer = &scenarios.Property{
	ID: "tickets-differ", Meaning: "No two tickets have one number.",
	Spec: model.Define("tickets", Taken{}, model.On(Taken.Take)), Symmetric: true,
}

// tickets takes a ticket.
func tickets(excl bool) scenarios.Program {
	return func(t *scenarios.Task) {
		scenarios.Record(t, Take{}, func() Ticket {
			n := 0
			for ; excl; n++ {
				if err := t.Mkdir(fmt.Sprintf("/run/done/%d", n), 0o755); err == nil {
					return Ticket{n}
				}
			}
			all, _ := t.ReadDir("/run/done")
			_ = t.Mkdir(fmt.Sprintf("/run/done/%d", len(all)), 0o755)
			return Ticket{len(all)}
		})
	}
}

// oneQueue is a property with an invariant of its own.
var oneQueue = &scenarios.Property{
	ID: "one-queue", Meaning: "A job is in one queue at a time.", Symmetric: true,
	Invariant: func(v scenarios.View) string {
		if v.Same("/run/todo/job", "/run/done/job") {
			return "the job is in /run/todo and in /run/done"
		}
		return ""
	},
}

// moves moves a job.
func moves(rename bool) scenarios.Program {
	return func(t *scenarios.Task) {
		if rename {
			_ = t.Rename("/run/todo/job", "/run/done/job")
			return
		}
		if err := t.Link("/run/todo/job", "/run/done/job"); err == nil {
			_ = t.Unlink("/run/todo/job")
		}
	}
}

// writerWaits is a question about cycles of its own.
var writerWaits = &scenarios.Property{
	ID: "writer-starvation", Meaning: "A writer that keeps trying writes in the end.",
	Question: scenarios.Starves,
	Decides: func(input, _ any) bool {
		_, writes := input.(model.WAcquire)
		return writes
	},
	Tell: func(v scenarios.Violation) string {
		return fmt.Sprintf("readers pass the writer in the last %d steps", v.Cycle)
	},
}

// starvesWriter: two readers come and go for ever, the last process wants to write.
func starvesWriter(process int) scenarios.Program {
	return func(t *scenarios.Task) {
		f, err := t.OpenFile(Lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return
		}
		if process == 2 {
			h, err := t.AcquireWrite(Lock, func() (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
						break
					}
				}
				return scenarios.Hold{File: f}, nil
			})
			if err == nil {
				_ = t.ReleaseWrite(h.File.Close)
			}
			return
		}
		for retry := t.Retry(); retry.Next(); {
			_, err := t.AcquireRead(Lock, func() (scenarios.Hold, error) {
				return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_SH | fsfake.LOCK_NB)
			})
			if err == nil {
				_ = t.ReleaseRead(func() error { return f.Flock(fsfake.LOCK_UN) })
			}
		}
	}
}

// claims makes a claim file and links it to the lock's name; who is refused removes the claim again,
// or forgets to.
func claims(tidy bool) scenarios.Program {
	return scenarios.Once(scenarios.Protocol{
		Path: Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			claim := Lock + "." + t.Process
			if err := t.WriteFile(claim, nil, 0o644); err != nil {
				return scenarios.Hold{}, err
			}
			err := t.Link(claim, Lock)
			if err == nil || tidy {
				err = errors.Join(err, t.Unlink(claim))
			}
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(Lock) },
	})
}

// soon is a lock that is taken for dead at an age, and a crash.
func soon(id string, stale time.Duration, claims ...scenarios.Claim) scenarios.Scenario {
	l := expiring(stale)
	return toy(id, "A lock of a certain age is taken for dead, and one process may be killed.", l, scenarios.Setting{Processes: 2, Crashes: 1}, claims...)
}
