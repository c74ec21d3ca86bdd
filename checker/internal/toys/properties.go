package toys

import (
	"fmt"
	"os"
	"strconv"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Properties lists, for the properties that no reported system claims and for each way in
// which a property of one's own is judged, a toy that breaks it and one that keeps it.
func Properties() []scenarios.Scenario {
	fixed := scenarios.Setting{Processes: 2, Fixed: true}
	three := scenarios.Setting{Processes: 3, Fixed: true}
	two := scenarios.Setting{Processes: 2}
	alike := func(p scenarios.Program) func(int) scenarios.Program {
		return func(int) scenarios.Program { return p }
	}
	return []scenarios.Scenario{
		programs("toy/rw-markers/contend", "A reader looks for a writer, then says that it reads.", fixed,
			markers, broken(scenarios.RWExclusion)),
		programs("toy/rw-flock/contend", "Readers share an flock, a writer has it alone.", three,
			shared, holds(scenarios.RWExclusion)),
		programs("toy/count/contend", "A counter is read and then written.", two,
			alike(counts(false)), broken(scenarios.LostIncrement)),
		programs("toy/count-flock/contend", "The same under an flock.", two,
			alike(counts(true)), holds(scenarios.LostIncrement)),
		programs("toy/cursor-own/contend", "Each moves the cursor past its own entry, whether or not those before it are there.", fixed,
			func(i int) scenarios.Program { return appends(i+1, false) }, broken(scenarios.CursorConsistency)),
		programs("toy/cursor-flock/contend", "Each appends after the cursor and moves it, under an flock.", fixed,
			func(i int) scenarios.Program { return appends(i+1, true) }, holds(scenarios.CursorConsistency)),
		programs("toy/fence-read/contend", "Tokens are counted in a file that is read and then written.", two,
			alike(fenced(false)), broken(scenarios.Fencing)),
		programs("toy/fence-excl/contend", "A token is a name that nobody had before.", two,
			alike(fenced(true)), holds(scenarios.Fencing)),
		programs("toy/assert-look/contend", "Look, then create; the holder's name must be in the lock.", two,
			alike(asserts(look())), broken(scenarios.Assertion), broken(scenarios.MutualExclusion)),
		programs("toy/assert-excl/contend", "Create or fail; the holder's name must be in the lock.", two,
			alike(asserts(excl())), holds(scenarios.Assertion)),
		programs("toy/tickets-count/contend", "A ticket's number is how many there are.", two,
			alike(tickets(false)), broken(ticketsDiffer)),
		programs("toy/tickets-excl/contend", "A ticket is a name that nobody had before.", two,
			alike(tickets(true)), holds(ticketsDiffer)),
		programs("toy/move-link/contend", "A job is linked into done and then taken out of todo.", two,
			alike(moves(false)), broken(oneQueue)),
		programs("toy/move-rename/contend", "A job is renamed from todo to done.", two,
			alike(moves(true)), holds(oneQueue)),
		programs("toy/writer-flock/starve", "A writer waits while readers come and go.", three,
			starvesWriter, broken(writerWaits)),
	}
}

func programs(id, summary string, st scenarios.Setting, program func(process int) scenarios.Program, claims ...scenarios.Claim) scenarios.Scenario {
	sc := toy(id, summary, excl(), st, claims...)
	sc.Program = func(process, _ int) scenarios.Program { return program(process) }
	sc.Probe, sc.Watch = nil, []string{Lock, "/run/count", "/run/todo/job", "/run/done/job"}
	sc.Setup = func(m *fsfake.Machine) {
		for _, dir := range []string{"/run/readers", "/run/todo", "/run/done"} {
			if err := m.Proc(1).MkdirAll(dir, 0o755); err != nil {
				panic(err)
			}
		}
		for _, name := range []string{"/run/count", "/run/seen", "/run/todo/job"} {
			if err := m.Proc(1).WriteFile(name, []byte("0"), 0o644); err != nil {
				panic(err)
			}
		}
	}
	return sc
}

// markers is a readers-writer lock of marker files.
func markers(process int) scenarios.Program {
	const writer = "/run/writer"
	if process == 1 {
		return func(t *scenarios.Task) {
			_, err := t.AcquireWrite(Lock, func() (scenarios.Hold, error) {
				if err := t.Mkdir(writer, 0o755); err != nil {
					return scenarios.Hold{}, scenarios.ErrLocked
				}
				if readers, err := t.ReadDir("/run/readers"); err != nil || len(readers) > 0 {
					_ = t.Rmdir(writer)
					return scenarios.Hold{}, scenarios.ErrLocked
				}
				return scenarios.Hold{}, nil
			})
			if err == nil {
				_ = t.ReleaseWrite(func() error { return t.Rmdir(writer) })
			}
		}
	}
	return func(t *scenarios.Task) {
		mine := "/run/readers/" + t.Process
		_, err := t.AcquireRead(Lock, func() (scenarios.Hold, error) {
			if _, err := t.Stat(writer); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.Mkdir(mine, 0o755)
		})
		if err == nil {
			_ = t.ReleaseRead(func() error { return t.Rmdir(mine) })
		}
	}
}

// flocked opens the lock and takes an flock on it.
func flocked(t *scenarios.Task, how int) (scenarios.Hold, error) {
	f, err := t.OpenFile(Lock, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{File: f}, f.Flock(how)
}

// shared is a readers-writer lock by flock: the last process writes.
func shared(process int) scenarios.Program {
	return func(t *scenarios.Task) {
		acquire, release, how := t.AcquireRead, t.ReleaseRead, fsfake.LOCK_SH
		if process == 2 {
			acquire, release, how = t.AcquireWrite, t.ReleaseWrite, fsfake.LOCK_EX
		}
		h, err := acquire(Lock, func() (scenarios.Hold, error) { return flocked(t, how|fsfake.LOCK_NB) })
		if err == nil {
			_ = release(h.File.Close)
		}
	}
}

// under runs f, under an flock if locked.
func under(t *scenarios.Task, locked bool, f func()) {
	if locked {
		h, err := flocked(t, fsfake.LOCK_EX)
		if err != nil {
			return
		}
		defer h.File.Close()
	}
	f()
}

func number(t *scenarios.Task, name string) int {
	text, _ := t.ReadFile(name)
	n, _ := strconv.Atoi(string(text))
	return n
}

func setNumber(t *scenarios.Task, name string, n int) {
	_ = t.WriteFile(name, []byte(strconv.Itoa(n)), 0o644)
}

// counts adds one to a counter.
func counts(locked bool) scenarios.Program {
	return func(t *scenarios.Task) {
		scenarios.Record(t, model.Inc{}, func() (v model.Value) {
			under(t, locked, func() {
				v.N = number(t, "/run/count") + 1
				setNumber(t, "/run/count", v.N)
			})
			return v
		})
	}
}

// appends appends an entry to a log, which is a directory, and moves the cursor: entry n,
// or with locked the one after the cursor.
func appends(n int, locked bool) scenarios.Program {
	const cursor = "/run/count"
	return func(t *scenarios.Task) {
		under(t, locked, func() {
			if locked {
				n := scenarios.Record(t, model.ReadCursor{}, func() model.Cursor { return model.Cursor{N: number(t, cursor)} }).N + 1
				move(t, n, cursor)
				return
			}
			move(t, n, cursor)
		})
	}
}

func move(t *scenarios.Task, n int, cursor string) {
	scenarios.Record(t, model.Append{Entry: n}, func() model.Appended {
		_ = t.Mkdir(fmt.Sprintf("/run/done/%d", n), 0o755)
		return model.Appended{}
	})
	scenarios.Record(t, model.Advance{To: n}, func() model.Advanced {
		setNumber(t, cursor, n)
		return model.Advanced{}
	})
}

// fenced asks for a lease, and uses its token when it is sound.
func fenced(excl bool) scenarios.Program {
	return func(t *scenarios.Task) {
		token, err := t.Grant(func() (int, error) {
			if excl {
				for n := 1; ; n++ {
					if err := t.Mkdir(fmt.Sprintf("/run/done/%d", n), 0o755); err == nil {
						return n, nil
					}
				}
			}
			n := number(t, "/run/count") + 1
			setNumber(t, "/run/count", n)
			return n, nil
		})
		if err != nil || !excl { // two grants break it
			return
		}
		t.Use(token, func() (ok bool) {
			under(t, true, func() {
				if ok = token >= number(t, "/run/seen"); ok {
					setNumber(t, "/run/seen", token)
				}
			})
			return ok
		})
	}
}

// asserts takes a lock, writes its name into it and looks whether it is there.
func asserts(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			if err := t.WriteFile(Lock, []byte(t.Process), 0o644); err != nil {
				return
			}
			text, err := t.ReadFile(Lock)
			t.Assert(err == nil && string(text) == t.Process, "the lock names %s, who holds it", t.Process)
		})
	}
}

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
