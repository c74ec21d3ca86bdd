package command

import (
	"slices"

	"lockpick/internal/outcome"
)

// MountPoints are the places of a table of mounts.
var MountPoints = mountPoints

// SnapshotEverywhere makes every call worth a snapshot.
func SnapshotEverywhere(s *Spec) { s.worth = 1 }

// Ends are the ends of all serial runs of commands, sorted, and how many orders of their own calls were followed. With
// every none is left out that comes to the same as another. inTime: clocks move.
func Ends(s Spec, every, inTime bool) (ends []string, orders int, err error) {
	s.Dir, s.ID, s.everyBirth, s.lasting = defaultDir, "test/ends", every, inTime
	sc, err := s.bare()
	if err != nil {
		return nil, 0, err
	}
	runs, err := s.serial(&sc)
	for _, o := range runs.orders {
		ends = append(ends, o.Outcome.Key(nil))
	}
	slices.Sort(ends)
	if s.ownOrders > 0 && err == nil {
		err = errManyOrders
	}
	if s.everyBirth != every {
		return ends, 0, err
	}
	return ends, s.record.orders, err
}

// DrawnEnds is how many ends commands have that run one after the other in drawn orders of their own calls.
func DrawnEnds(s Spec) (int, error) {
	s.Dir, s.ID, s.ownOrders = defaultDir, "test/ends", 4
	sc, err := s.bare()
	var all []outcome.Order
	for seed := uint64(1); seed <= drawnOrders && err == nil; seed++ {
		var of []outcome.Order
		of, err = s.drawnOrder(&sc, seed)
		for _, k := range of {
			all = outcome.Add(all, k)
		}
	}
	return len(all), err
}

// Blocks lists the first numbers of a number's children, and how many numbers each has.
func Blocks(number int) (at, size []int) {
	for _, b := range blockOf(number).within() {
		at, size = append(at, b.at), append(size, b.size)
	}
	return at, size
}
