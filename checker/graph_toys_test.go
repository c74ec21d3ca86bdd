package checker

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Toys for the questions that only a graph answers: deadlock, wedge, starvation.

// forEver takes the lock, works and lets go, again and again.
func forEver(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		for again := t.Retry(); again.Next(); {
			_ = scenarios.Locked(t, l, func() { t.Work() })
		}
	}
}

// toyForEver is a scenario in which every process wants the lock for ever.
func toyForEver(id string, l scenarios.Protocol, processes int, c scenarios.Claim) *scenarios.Scenario {
	return programs(id, scenarios.Setting{Processes: processes}, same(forEver(l)), c)
}

// toyTestAndSet creates a file until it succeeds; it closes it at once, so that a round
// leaves nothing behind. It never gives way.
func toyTestAndSet() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(toyLock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
				if err == nil {
					return scenarios.Hold{}, f.Close()
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(toyLock) },
	}
}

// toyTurns is a lock that is handed over in turn: a file says whose turn it is. Both
// processes must want it for ever.
func toyTurns(t *scenarios.Task) {
	const turn = "/turn"
	mine, next := strconv.Itoa(t.Index), strconv.Itoa(1-t.Index)
	l := scenarios.Protocol{
		Path: turn,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if name, err := t.Readlink(turn); err == nil && name == mine {
					return scenarios.Hold{}, nil
				}
				t.Sleep(time.Millisecond)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			temp := turn + mine
			if err := t.Symlink(next, temp); err != nil {
				return err
			}
			return t.Rename2(temp, turn, 0)
		},
	}
	forEver(l)(t)
}

// toyTickets hands out numbers with O_EXCL: whoever creates a number file waits until
// the number before is gone. Numbers go round, so that the space is finite.
func toyTickets() scenarios.Protocol {
	const numbers = 3
	name := func(i int) string { return "/ticket" + strconv.Itoa(i%numbers) }
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			n, err := drawTicket(t, name, numbers)
			if err != nil {
				return scenarios.Hold{}, err
			}
			for retry := t.Retry(); retry.Next(); {
				// Not stat: that shows a new inode each time, and the space would have no end.
				if _, err := t.Readlink(name(n + numbers - 1)); errors.Is(err, fs.ErrNotExist) {
					return scenarios.Hold{Data: n}, nil
				}
				t.Sleep(time.Millisecond)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return t.Unlink(name(h.Data.(int))) },
	}
}

// drawTicket creates the number that "/next" names, and moves "/next" on: it holds a
// kernel lock for that, which hands the file to whoever waits.
func drawTicket(t *scenarios.Task, name func(int) string, numbers int) (int, error) {
	f, err := t.OpenFile("/next", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return 0, err
	}
	if err := f.Flock(fsfake.LOCK_EX); err != nil {
		return 0, err
	}
	buf := make([]byte, 1)
	n := 0
	if k, _ := f.ReadAt(buf, 0); k == 1 {
		n = int(buf[0] - '0')
	}
	ticket, err := t.OpenFile(name(n), os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, err
	}
	_ = ticket.Close()
	_, _ = f.WriteAt([]byte{byte('0' + (n+1)%numbers)}, 0)
	return n, f.Close()
}

// setupTurns gives the first turn to A.
func setupTurns(m *fsfake.Machine) {
	if err := m.Proc(1).Symlink("0", "/turn"); err != nil {
		panic(err)
	}
}

// foreverToys lists the toys that never end.
func foreverToys() []*scenarios.Scenario {
	turns := programs("toy/turns/forever", scenarios.Setting{Processes: 2}, same(toyTurns), starvation(Holds))
	turns.Setup = setupTurns
	return []*scenarios.Scenario{
		turns,
		toyForEver("toy/test-and-set/forever", toyTestAndSet(), 2, starvation(Broken)),
		toyForEver("toy/flock/forever", toyFlock(), 2, starvation(Broken)),
		toyForEver("toy/tickets/forever", toyTickets(), 2, starvation(Broken)),
	}
}
