package real

import (
	"fmt"

	"lockpick/sched"
)

// A Report is what became of a schedule on the real disk.
type Report struct {
	// Broken: the schedule broke the property on the real disk.
	Broken bool
	// Steps is how many steps of the schedule were taken.
	Steps int
	// Compared counts the calls made on the real kernel, of which every answer was
	// compared with the fake's. Disks counts the comparisons of the whole disk.
	Compared, Disks int
	// Emulated counts, by the name of the call, what only the fake answered: whole calls,
	// and of those that were made the inode numbers and times that it shows.
	Emulated map[string]int
	// Mismatches are the differences between the real run and the fake's. The run ends with
	// the first after which it could only go its own way.
	Mismatches []Mismatch
}

// A Mismatch is a difference between the real run and the fake's.
type Mismatch struct {
	Step int // from 1
	Task sched.Task
	What string // what was compared
	Fake string
	Real string
}

// String returns the mismatch in a line.
func (m Mismatch) String() string {
	return fmt.Sprintf("step %d, %s: %s: %s on the fake, %s in reality", m.Step, m.Task, m.What, m.Fake, m.Real)
}
