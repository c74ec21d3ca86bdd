package bruteforce

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lockpick/fsfake"
)

// Draw returns the protocol with a number: equal numbers give equal protocols.
//
// Most are locks as people write them: exclusive creation, look and create, mkdir, link,
// rename, flock, record locks, a variable shared by tasks, each with polls, takeovers and
// releases of many kinds. Some have two locks, one inside the other or in turn. Some are read-modify-write cycles, and some are just calls that
// wait. Then statements are struck out, doubled, swapped and put in.
func Draw(seed uint64) *Protocol {
	d := &drawer{r: rand.New(rand.NewPCG(seed, 10))}
	d.p.Name = fmt.Sprintf("seed-%d", seed)
	d.setting()
	switch k := d.r.IntN(20); {
	case k < 10:
		d.lock()
	case k < 13:
		d.locks()
	case k < 17:
		d.data()
	default:
		d.soup()
	}
	if d.chance(2) {
		d.files()
	}
	d.p.Ask = slices.DeleteFunc(d.p.Ask, func(name string) bool {
		op, needs := decided[name]
		return needs && !d.p.has(func(s *Stmt) bool { return s.Do == Record && s.Text == op })
	})
	if len(d.p.Ask) == 0 {
		d.ask("deadlock")
	}
	if d.p.Stalls > 0 && !d.p.Alike && d.chance(2) {
		d.punctual()
	}
	if d.p.has(func(s *Stmt) bool { return s.Do == Sleep }) && d.chance(2) {
		d.lasting()
	}
	d.ends(rand.New(rand.NewPCG(seed, 12)))
	d.starts(rand.New(rand.NewPCG(seed, 13)))
	d.signals(rand.New(rand.NewPCG(seed, 14)))
	d.r = rand.New(rand.NewPCG(seed, 11)) // so that all the rest is what it was
	if !d.p.Lasts && d.chance(4) {
		d.failing()
	}
	d.swaps(seed)
	d.skews(rand.New(rand.NewPCG(seed, 18)))
	d.setsBack(rand.New(rand.NewPCG(seed, 19)))
	d.pids(rand.New(rand.NewPCG(seed, 20)))
	d.serial(rand.New(rand.NewPCG(seed, 21)))
	return &d.p
}

// The names that protocols use.
const (
	lockPath = "/lock"
	tempPath = "/new"
	dataPath = "/data"
	cellName = "held"
)

type drawer struct {
	r *rand.Rand
	p Protocol
	// tasks is the number of tasks of each process.
	tasks []int
	// anonymous: nothing may tell one process from another.
	anonymous bool
}

// chance is true once in n times.
func (d *drawer) chance(n int) bool { return d.r.IntN(n) == 0 }

func one[T any](d *drawer, choices ...T) T { return choices[d.r.IntN(len(choices))] }

// setting draws everything but the programs.
func (d *drawer) setting() {
	switch k := d.r.IntN(20); {
	case k < 12:
		d.tasks = []int{1, 1}
	case k < 14:
		d.tasks = []int{1, 1, 1}
	case k < 16:
		d.tasks = []int{2}
	case k < 17:
		d.tasks = []int{3}
	case k < 19:
		d.tasks = []int{2, 1}
	default:
		d.tasks = []int{2, 2}
	}
	d.p.Threads = d.chance(2)
	d.p.Daemons = d.chance(5)
	if d.chance(3) {
		d.p.Crashes = 1
		if d.chance(6) {
			d.p.Crashes = 2
		}
		if d.chance(4) {
			d.p.Mortal = []int{d.r.IntN(len(d.tasks))}
		}
	}
	if d.chance(5) {
		d.p.Stalls = 1
	}
	alike := len(d.tasks) > 1
	for _, n := range d.tasks {
		alike = alike && n == 1
	}
	d.anonymous = alike && d.p.Mortal == nil && d.chance(4)
	d.p.Alike = d.anonymous
}

// programs gives each task what make returns; with anonymous, all the same.
func (d *drawer) programs(make func() []Stmt) {
	var same []Stmt
	if d.anonymous || d.chance(2) {
		same = make()
	}
	for _, n := range d.tasks {
		var tasks [][]Stmt
		for range n {
			body := same
			if body == nil {
				body = make()
			}
			tasks = append(tasks, sound(body))
		}
		d.p.Programs = append(d.p.Programs, tasks)
	}
}

// files are there at the start.
func (d *drawer) files() {
	text := one(d, "", "Z", "A", "x")
	if d.anonymous {
		text = one(d, "", "x")
	}
	d.p.Files = append(d.p.Files, File{one(d, lockPath, lockPath, dataPath), text})
}

// lock is a lock and its use.
func (d *drawer) lock() {
	var probe []Stmt
	d.programs(func() []Stmt {
		a, release := d.acquisition()
		if probe == nil {
			probe = a
		}
		s := Stmt{Do: Acquire, Path: lockPath, Body: d.spoil(a), Else: d.critical(), Release: d.spoil(release)}
		body := []Stmt{s}
		switch d.r.IntN(8) {
		case 0:
			body = append(body, s)
		case 1:
			body = append(body, d.who())
		}
		return body
	})
	d.p.Probe = sound(append([]Stmt{{Do: Work}}, probe...))
	d.ask("mutual-exclusion")
	d.ask(one(d, "foreign-release", "deadlock", "wedge", "wedge", "starvation", "spurious-failure", "owner-info"))
}

// critical is what is done while the lock is held.
func (d *drawer) critical() []Stmt {
	switch d.r.IntN(5) {
	case 0:
		return nil
	case 1:
		return []Stmt{d.who()}
	}
	return []Stmt{{Do: Work}}
}

func (d *drawer) who() Stmt {
	return Stmt{Do: Record, Text: OpWho, Path: lockPath, Body: []Stmt{
		{Do: Open, Path: lockPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Close, Slot: 1},
	}}
}

func then(cond string, body ...Stmt) Stmt { return Stmt{Do: If, Cond: cond, Body: body} }

var (
	giveUp = Stmt{Do: Return, Slot: -1}
	bare   = Stmt{Do: Return, N: 1, Slot: -1}
	withFD = Stmt{Do: Return, N: 1}
)

// name is what a process writes to say that it is there.
func (d *drawer) name() string {
	if d.anonymous {
		return "x"
	}
	return "$"
}

// acquisition draws the body of an acquisition, and a release that goes with it.
func (d *drawer) acquisition() (body, release []Stmt) {
	fail := []Stmt{giveUp}
	polls := d.chance(3)
	if polls {
		fail = one(d, []Stmt{{Do: Sleep}}, []Stmt{{Do: Sleep}}, nil)
	}
	fail = append(d.takeover(), fail...)
	unlink := Stmt{Do: Unlink, Path: lockPath}
	switch d.r.IntN(12) {
	case 0, 1:
		body, release = d.exclusive(fail), []Stmt{unlink}
	case 2:
		body = []Stmt{{Do: Stat, Path: lockPath}, {Do: If, Cond: IfOK, Body: fail, Else: []Stmt{
			{Do: Open, Path: lockPath, Flags: one(d, Truncate, Create)}, {Do: Write, Text: d.name()}, {Do: Close}, bare}}}
		release = []Stmt{unlink}
	case 3:
		body = []Stmt{{Do: Mkdir, Path: lockPath}, then(IfOK, bare), then(IfNot, fail...)}
		release = []Stmt{{Do: Rmdir, Path: lockPath}}
	case 4:
		body = []Stmt{{Do: Open, Path: tempPath, Flags: one(d, Create, Truncate, Exclusive)}, {Do: Write, Text: d.name()}, {Do: Close},
			{Do: Link, Path: tempPath, To: lockPath}, then(IfOK, Stmt{Do: Unlink, Path: tempPath}, bare)}
		body = append(body, fail...)
		release = []Stmt{unlink}
	case 5:
		body = []Stmt{{Do: Open, Path: tempPath, Flags: one(d, Create, Exclusive)}, {Do: Write, Text: d.name()}, {Do: Close},
			{Do: Stat, Path: lockPath}, then(IfNot, Stmt{Do: Rename, Path: tempPath, To: lockPath}, then(IfOK, bare))}
		body = append(body, fail...)
		release = []Stmt{one(d, unlink, Stmt{Do: Rename, Path: lockPath, To: tempPath})}
	case 6, 7, 8:
		body, release = d.kernelLock(fail, polls), []Stmt{{Do: Close}}
		if d.chance(3) {
			release = one(d, []Stmt{unlink, {Do: Close}}, []Stmt{{Do: Close}, unlink})
		}
	case 9:
		body = []Stmt{{Do: Await, Path: cellName}, {Do: Store, Path: cellName, N: 1}, bare}
		if d.chance(2) {
			body = append(d.exclusive([]Stmt{{Do: Store, Path: cellName}, giveUp})[:0:0], body[:2]...)
			body = append(body, d.exclusive([]Stmt{{Do: Store, Path: cellName}, giveUp})...)
			release = []Stmt{unlink}
		}
		release = append(release, Stmt{Do: Store, Path: cellName})
		return body, release
	case 10:
		body = []Stmt{{Do: Load, Path: cellName}, {Do: If, Cond: IfMore,
			Body: []Stmt{{Do: Add, Path: cellName, N: 1}, {Do: Return, N: 1, Slot: -1, Shared: true}},
			Else: append(d.unless(one(d, []Stmt{{Do: Mkdir, Path: lockPath}}, []Stmt{{Do: Open, Path: lockPath, Flags: Exclusive}, then(IfOK, Stmt{Do: Close}, Stmt{Do: Stat, Path: lockPath})}), fail),
				Stmt{Do: Store, Path: cellName, N: 1}, bare)}}
		release = []Stmt{{Do: Load, Path: cellName}, {Do: Add, Path: cellName, N: -1}, {Do: Load, Path: cellName},
			then(IfZero, one(d, Stmt{Do: Rmdir, Path: lockPath}, unlink))}
	default:
		body, release = d.exclusive(fail), []Stmt{unlink}
		release = append(release, d.checked(release)...)
	}
	if polls {
		body = []Stmt{{Do: Retry, Body: body}}
	}
	if d.chance(4) {
		release = d.checked(release)
	}
	return body, release
}

// unless tries something, and fails when it does.
func (d *drawer) unless(try, fail []Stmt) []Stmt { return append(try, then(IfNot, fail...)) }

// checked does something only if the lock still names its owner.
func (d *drawer) checked(body []Stmt) []Stmt {
	mine := IfMine
	if d.anonymous {
		mine = IfText
	}
	return []Stmt{{Do: Open, Path: lockPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Close, Slot: 1}, then(mine, body...)}
}

// exclusive creates the lock or fails.
func (d *drawer) exclusive(fail []Stmt) []Stmt {
	body := []Stmt{{Do: Open, Path: lockPath, Flags: Exclusive}, then(IfNot, fail...)}
	got := []Stmt{{Do: Write, Text: d.name()}, {Do: Close}, bare}
	if d.chance(3) {
		got = []Stmt{{Do: Close}, bare}
	}
	body[1].Else = got
	return body
}

// kernelLock locks a file through its descriptor.
func (d *drawer) kernelLock(fail []Stmt, polls bool) []Stmt {
	var lock Stmt
	switch d.r.IntN(6) {
	case 0, 1, 2:
		lock = Stmt{Do: Flock, Flags: one(d, fsfake.LOCK_EX, fsfake.LOCK_EX, fsfake.LOCK_EX|fsfake.LOCK_NB, fsfake.LOCK_SH)}
	case 3, 4:
		lock = d.recordLock(Fcntl)
	default:
		lock = d.recordLock(OFD)
	}
	if polls && d.chance(2) {
		lock.Wait = false
	}
	body := []Stmt{{Do: Open, Path: lockPath, Flags: Create}, lock, then(IfNot, append([]Stmt{{Do: Close}}, fail...)...)}
	if d.chance(3) {
		body = append(body, Stmt{Do: Same, Path: lockPath}, then(IfNot, append([]Stmt{{Do: Close}}, fail...)...))
	}
	if d.chance(4) {
		body = append(body, Stmt{Do: Empty}, Stmt{Do: Write, Text: d.name()})
	}
	return append(body, withFD)
}

func (d *drawer) recordLock(k Kind) Stmt {
	if d.anonymous {
		k = OFD
	}
	return Stmt{Do: k, Flags: one(d, fsfake.F_WRLCK, fsfake.F_WRLCK, fsfake.F_RDLCK), Wait: d.chance(2), N: int64(d.r.IntN(2)), Len: int64(d.r.IntN(2))}
}

// takeover is what is tried when the lock is taken.
func (d *drawer) takeover() []Stmt {
	remove := Stmt{Do: Unlink, Path: lockPath}
	switch k := d.r.IntN(10); {
	case k == 0 && !d.anonymous:
		return []Stmt{{Do: Open, Path: lockPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Close, Slot: 1},
			{Do: Alive}, then(IfNot, remove)}
	case k == 1:
		return []Stmt{{Do: Open, Path: lockPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Close, Slot: 1},
			then(IfNoText, remove)}
	case k < 4 && d.p.Stalls > 0 || k == 2:
		return []Stmt{{Do: Old, Path: lockPath, N: 60}, then(IfOK, remove)}
	case k == 4 && d.chance(2):
		return []Stmt{remove}
	}
	return nil
}

// data are read-modify-write cycles, and readers.
func (d *drawer) data() {
	kind := d.r.IntN(3)
	guard := d.chance(3)
	d.programs(func() []Stmt {
		var body []Stmt
		switch kind {
		case 0:
			d.ask("lost-update")
			body = []Stmt{d.add()}
			if d.chance(2) || d.anonymous {
				body = append(body, d.contains())
			}
			if d.chance(4) {
				body = []Stmt{d.contains()}
			}
		case 1:
			d.ask("torn-read")
			body = []Stmt{one(d, d.write(), d.write(), d.read())}
			if d.chance(2) || d.anonymous {
				body = append(body, d.read())
			}
		default:
			d.ask("duplicate")
			body = d.append()
		}
		for i := range body {
			body[i].Body = d.spoil(body[i].Body)
		}
		if guard {
			a, release := d.acquisition()
			body = []Stmt{{Do: Acquire, Path: lockPath, Body: a, Else: body, Release: release}}
		}
		return body
	})
	if d.chance(3) {
		d.ask("deadlock")
	}
}

func (d *drawer) add() Stmt {
	s := Stmt{Do: Record, Text: OpAdd, To: d.name(), Body: []Stmt{
		{Do: Open, Path: dataPath, Flags: Create, Slot: 1}, {Do: Read, Slot: 1}, {Do: Write, Slot: 1, Text: "+$"}, {Do: Close, Slot: 1}}}
	if d.anonymous {
		s.Body[2].Text = "x"
	}
	if d.chance(3) {
		s.Body[1] = Stmt{Do: Flock, Slot: 1, Flags: fsfake.LOCK_EX}
		s.Body = append(s.Body[:2], append([]Stmt{{Do: Read, Slot: 1}}, s.Body[2:]...)...)
	}
	return s
}

func (d *drawer) contains() Stmt {
	key := "x"
	if !d.anonymous {
		key = one(d, "$", "A", "B")
	}
	return Stmt{Do: Record, Text: OpContains, To: key, Body: d.look()}
}

func (d *drawer) look() []Stmt {
	return []Stmt{{Do: Open, Path: dataPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Close, Slot: 1}}
}

func (d *drawer) write() Stmt {
	value := one(d, "ab", "cd")
	body := []Stmt{{Do: Open, Path: dataPath, Flags: Truncate}, {Do: Write, Text: value[:1]}, {Do: Write, Text: value[1:]}, {Do: Close}}
	if d.chance(2) {
		body[0].Path = tempPath
		body = append(body, Stmt{Do: Rename, Path: tempPath, To: dataPath})
	}
	return Stmt{Do: Record, Text: OpWrite, To: value, Body: body}
}

func (d *drawer) read() Stmt { return Stmt{Do: Record, Text: OpRead, Body: d.look()} }

// append looks whether an entry is there, and appends it if not.
func (d *drawer) append() []Stmt {
	entry := int64(1 + d.r.IntN(2))
	if d.anonymous {
		entry = 1
	}
	write := Stmt{Do: Record, Text: OpAppend, N: entry, Body: []Stmt{
		{Do: Open, Path: dataPath, Flags: Create, Slot: 1}, {Do: Write, Slot: 1, Text: "x"}, {Do: Close, Slot: 1}}}
	return append(d.look(), then(one(d, IfNoText, IfNoText, IfNoText, IfText), write))
}

// soup is calls that wait for each other.
func (d *drawer) soup() {
	kind := d.r.IntN(4)
	if d.anonymous && kind == 1 {
		kind = 0
	}
	d.programs(func() []Stmt {
		body := []Stmt{{Do: Open, Path: "/a", Flags: Create, Slot: 0}, {Do: Open, Path: "/b", Flags: Create, Slot: 1}}
		if d.chance(3) {
			body = body[1:]
		}
		for range 2 + d.r.IntN(3) {
			body = append(body, d.wait(kind))
		}
		return body
	})
	d.p.Probe = sound([]Stmt{{Do: Open, Path: "/a", Flags: Create}, {Do: Flock, Flags: fsfake.LOCK_EX | one(d, 0, fsfake.LOCK_NB)}, then(IfOK, bare)})
	d.ask("deadlock")
	if d.chance(2) {
		d.ask("wedge")
	}
}

func (d *drawer) wait(kind int) Stmt {
	if d.chance(6) {
		return one(d, Stmt{Do: Close, Slot: d.r.IntN(2)}, Stmt{Do: Sleep}, Stmt{Do: Store, Path: cellName, N: int64(d.r.IntN(2))})
	}
	switch kind {
	case 0:
		return Stmt{Do: Flock, Slot: d.r.IntN(2), Flags: one(d, fsfake.LOCK_EX, fsfake.LOCK_EX, fsfake.LOCK_SH, fsfake.LOCK_UN)}
	case 1, 2:
		s := d.recordLock(one(d, Fcntl, Fcntl, OFD))
		if kind == 1 {
			s.Do = Fcntl
		}
		s.Slot, s.Wait = d.r.IntN(2), !d.chance(5)
		if d.chance(5) {
			s.Flags = fsfake.F_UNLCK
		}
		return s
	}
	return one(d, Stmt{Do: Await, Path: cellName, N: int64(d.r.IntN(2))}, Stmt{Do: Store, Path: cellName, N: int64(d.r.IntN(2))},
		Stmt{Do: Load, Path: cellName}, Stmt{Do: Add, Path: cellName, N: 1}, Stmt{Do: Work})
}
