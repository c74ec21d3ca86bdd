package toys

import (
	"errors"
	"os"
	"strings"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// The locks of toys that have two.
const (
	First  = "/run/first"
	Second = "/run/second"
)

// Locks lists scenarios with several locks, or with one that is taken several times: what is
// said of one lock must not depend on the other.
func Locks() []scenarios.Scenario {
	fixed := scenarios.Setting{Processes: 2, Fixed: true}
	two := scenarios.Setting{Processes: 2}
	one := scenarios.Setting{Processes: 1}
	inOrder := func(locks ...scenarios.Protocol) func(int) scenarios.Program {
		return func(int) scenarios.Program { return nested(locks...) }
	}
	return []scenarios.Scenario{
		locks("toy/nested-flock/contend", "Two locks, one inside the other, in one order.", two,
			inOrder(Flocks(First), Flocks(Second)),
			holds(scenarios.MutualExclusion), holds(scenarios.ForeignRelease), holds(scenarios.Deadlock), holds(scenarios.Wedge), holds(scenarios.Starvation)),
		locks("toy/abba-flock/contend", "Two locks, in two orders.", fixed,
			func(i int) scenarios.Program {
				if i == 0 {
					return nested(Flocks(First), Flocks(Second))
				}
				return nested(Flocks(Second), Flocks(First))
			},
			holds(scenarios.MutualExclusion), holds(scenarios.ForeignRelease), broken(scenarios.Deadlock)),
		locks("toy/abba-excl/contend", "Two locks, in two orders; who is refused goes away.", fixed,
			func(i int) scenarios.Program {
				if i == 0 {
					return nested(Excl(First), Excl(Second))
				}
				return nested(Excl(Second), Excl(First))
			},
			holds(scenarios.MutualExclusion), holds(scenarios.SpuriousFailure), holds(scenarios.ForeignRelease), holds(scenarios.Deadlock), holds(scenarios.Wedge)),
		locks("toy/in-turn/contend", "One lock and then another, in two orders: mostly each has its own.", fixed,
			func(i int) scenarios.Program {
				if i == 0 {
					return inTurn(Excl(First), Excl(Second))
				}
				return inTurn(Excl(Second), Excl(First))
			},
			holds(scenarios.MutualExclusion), holds(scenarios.SpuriousFailure), holds(scenarios.ForeignRelease)),
		locks("toy/first-removed/contend", "Of two locks the first removes its file before it lets go of it.", two,
			func(int) scenarios.Program {
				return func(t *scenarios.Task) {
					for range 2 {
						nested(unlinks(Flocks(First)), Flocks(Second))(t)
					}
				}
			},
			broken(scenarios.MutualExclusion), broken(scenarios.ForeignRelease)),
		locks("toy/second-removed/contend", "Of two locks the second removes its file before it lets go of it.", two,
			func(int) scenarios.Program {
				return inTurn(Flocks(First), unlinks(Flocks(Second)), unlinks(Flocks(Second)))
			},
			broken(scenarios.MutualExclusion), broken(scenarios.ForeignRelease)),
		locks("toy/taken-away/contend", "A holds two locks; B takes the first away from it.", fixed,
			func(i int) scenarios.Program {
				if i == 0 {
					return nested(Excl(First), Excl(Second))
				}
				return func(t *scenarios.Task) { _ = t.Unlink(First) }
			},
			broken(scenarios.ForeignRelease)),
		locks("toy/crossed/contend", "Two locks, let go of in the order in which they were taken.", two,
			func(int) scenarios.Program { return crossed },
			holds(scenarios.MutualExclusion), holds(scenarios.ForeignRelease)),
		locks("toy/twice/contend", "One task takes a record lock twice, and it is granted twice.", one,
			inOrder(records(First), records(First)), broken(scenarios.MutualExclusion)),
		locks("toy/left/exit", "A process ends and holds the first of two locks.", two,
			func(int) scenarios.Program { return leaves }, holds(scenarios.MutualExclusion)),
		locks("toy/left-excl/exit", "The file of the first of two locks stays.", two,
			func(int) scenarios.Program {
				return func(t *scenarios.Task) { _, _ = takes(t, Excl(First)); inTurn(Excl(Second))(t) }
			}, broken(scenarios.SpuriousFailure), broken(scenarios.Wedge)),
		locks("toy/rw-two/contend", "One reads under the first lock and writes under the second, another the other way round.", fixed,
			func(i int) scenarios.Program { return readsWrites(i, true) }, holds(scenarios.RWExclusion)),
		locks("toy/rw-two-shared/contend", "The same, and whoever writes under the second lock only shares it.", fixed,
			func(i int) scenarios.Program { return readsWrites(i, false) }, broken(scenarios.RWExclusion)),
		locks("toy/leases/contend", "Two leases count their tokens each for itself.", two,
			func(int) scenarios.Program { return leases("/run/leases/first", "/run/leases/second") }, holds(scenarios.Fencing)),
		locks("toy/leases-one-count/contend", "Two leases share one count.", two,
			func(int) scenarios.Program { return leases("/run/leases/first", "/run/leases/first") }, broken(scenarios.Fencing)),
		locks("toy/owners-two/contend", "Two locks have their owners' names in them; another asks.", fixed,
			func(i int) scenarios.Program { return ownersOfTwo(i, Second) }, holds(scenarios.OwnerInfo)),
		locks("toy/owners-two-mixed/contend", "The same, and whoever asks looks into the wrong lock.", fixed,
			func(i int) scenarios.Program { return ownersOfTwo(i, First) }, broken(scenarios.OwnerInfo)),
		locks("toy/merge-two/contend", "Two files, each merged and saved under a lock of its own.", fixed,
			func(i int) scenarios.Program { return merges(i, Second) }, holds(scenarios.LostUpdate)),
		locks("toy/merge-two-mixed/contend", "The same, and one of them takes the first file's lock for both.", fixed,
			func(i int) scenarios.Program { return merges(i, First) }, broken(scenarios.LostUpdate)),
	}
}

func locks(id, summary string, st scenarios.Setting, program func(process int) scenarios.Program, claims ...scenarios.Claim) scenarios.Scenario {
	sc := programs(id, summary, st, program, claims...)
	sc.Watch = []string{First, Second}
	sc.Setup = func(m *fsfake.Machine) {
		for _, dir := range []string{"/run", "/run/leases", "/run/leases/first", "/run/leases/second"} {
			if err := m.Proc(1).Mkdir(dir, 0o755); err != nil {
				panic(err)
			}
		}
	}
	sc.Probe = func(t *scenarios.Task) error {
		for _, l := range []string{First, Second} {
			if strings.Contains(id, "excl") {
				if err := scenarios.Attempt(Excl(l))(t); err != nil {
					return err
				}
			} else if err := scenarios.Attempt(Flocks(l))(t); err != nil {
				return err
			}
		}
		return nil
	}
	return sc
}

// Flocks waits for an flock on a file that stays.
func Flocks(lock string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
}

// unlinks makes a lock remove its file first when it is released.
func unlinks(l scenarios.Protocol) scenarios.Protocol {
	release := l.Release
	l.Release = func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(t.Unlink(l.Path), release(t, h))
	}
	return l
}

// records waits for a record lock, which a process gets as often as it likes.
func records(lock string) scenarios.Protocol {
	l := Flocks(lock)
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return scenarios.Hold{}, err
		}
		return scenarios.Hold{File: f}, f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
	}
	return l
}

// nested takes locks one inside the other.
func nested(locks ...scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		if len(locks) == 0 {
			t.Work()
			return
		}
		_ = scenarios.Locked(t, locks[0], func() { nested(locks[1:]...)(t) })
	}
}

// inTurn takes locks one after the other.
func inTurn(locks ...scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		for _, l := range locks {
			scenarios.Once(l)(t)
		}
	}
}

// takes takes a lock and does not give it back.
func takes(t *scenarios.Task, l scenarios.Protocol) (scenarios.Hold, error) {
	return t.Acquire(l.Path, func() (scenarios.Hold, error) { return l.Acquire(t) })
}

// crossed takes two locks and gives back the first first.
func crossed(t *scenarios.Task) {
	var release []func()
	for _, l := range []scenarios.Protocol{Flocks(First), Flocks(Second)} {
		h, err := takes(t, l)
		if err != nil {
			return
		}
		release = append(release, func() { _ = t.ReleaseOf(l.Path, func() error { return l.Release(t, h) }) })
	}
	for _, f := range release {
		f()
		t.Work()
	}
}

// leaves gives back the second of two locks and ends with the first.
func leaves(t *scenarios.Task) {
	if _, err := takes(t, Flocks(First)); err == nil {
		scenarios.Once(Flocks(Second))(t)
	}
}

// readsWrites reads under one lock and, before it stops, writes under the other.
func readsWrites(process int, alone bool) scenarios.Program {
	names := []string{First, Second}
	return func(t *scenarios.Task) {
		reads, writes := names[process], names[1-process]
		f, err := t.OpenFile(reads, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return
		}
		if _, err := t.AcquireRead(reads, func() (scenarios.Hold, error) {
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_SH | fsfake.LOCK_NB)
		}); err != nil {
			return
		}
		how := fsfake.LOCK_EX
		if !alone && writes == Second {
			how = fsfake.LOCK_SH
		}
		g, err := t.OpenFile(writes, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return
		}
		if _, err := t.AcquireWrite(writes, func() (scenarios.Hold, error) {
			return scenarios.Hold{File: g}, g.Flock(how | fsfake.LOCK_NB)
		}); err == nil {
			_ = t.ReleaseWriteOf(writes, g.Close)
		}
		_ = t.ReleaseReadOf(reads, f.Close)
	}
}

// leases is granted two leases, whose tokens are names in directories.
func leases(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		for i, dir := range []string{first, second} {
			_, err := t.GrantOf([]string{First, Second}[i], func() (int, error) {
				for n := 1; ; n++ {
					if err := t.Mkdir(dir+"/"+string(rune('0'+n)), 0o755); err == nil {
						return n, nil
					}
				}
			})
			if err != nil {
				return
			}
		}
	}
}

// ownersOfTwo: A links its name into two locks, one after the other; B asks who has the second,
// and looks at a name for that.
func ownersOfTwo(process int, at string) scenarios.Program {
	return func(t *scenarios.Task) {
		if process == 1 {
			scenarios.Record(t, model.WhoHolds{Lock: Second}, func() model.Holder {
				text, _ := t.ReadFile(at)
				return model.Holder{Owner: string(text)}
			})
			return
		}
		mine := "/run/" + t.Process
		_ = t.WriteFile(mine, []byte(t.Process), 0o644)
		for _, lock := range []string{First, Second} {
			_, err := t.Acquire(lock, func() (scenarios.Hold, error) { return scenarios.Hold{}, t.Link(mine, lock) })
			if err == nil {
				_ = t.ReleaseOf(lock, func() error { return t.Unlink(lock) })
			}
		}
	}
}

// merges adds what is its own to two files, A to the first and then to the second, B the other
// way round, and A looks whether what it put into the second is there. B takes a lock for the
// second file that is given.
func merges(process int, lockOfSecond string) scenarios.Program {
	return func(t *scenarios.Task) {
		for i := range 2 {
			lock, file := First, "/run/first.data"
			if i != process {
				lock, file = Second, "/run/second.data"
				if process == 1 {
					lock = lockOfSecond
				}
			}
			scenarios.Record(t, model.Add{Key: file + t.Process}, func() model.Added {
				locked(t, lock, func() {
					text, _ := t.ReadFile(file)
					_ = t.WriteFile(file, append(text, t.Process...), 0o644)
				})
				return model.Added{}
			})
		}
		if process == 1 {
			return
		}
		scenarios.Record(t, model.Contains{Key: "/run/second.dataA"}, func() (found model.Found) {
			locked(t, Second, func() {
				text, _ := t.ReadFile("/run/second.data")
				found.Yes = strings.Contains(string(text), t.Process)
			})
			return found
		})
	}
}

// locked runs body under an flock that is not recorded.
func locked(t *scenarios.Task, lock string, body func()) {
	l := Flocks(lock)
	if h, err := l.Acquire(t); err == nil {
		body()
		_ = l.Release(t, h)
	}
}
