package fsfake

import (
	"fmt"
	"time"
)

// A Machine is a disk, the kernel above it, its processes and its clock: a value that
// changes only through its methods, can be cloned at any moment, and has a canonical
// key. Everything it answers is a function of the calls made on it.
//
// A Machine is not for concurrent use, with one exception: once it has been cloned,
// and until it is changed again, any number of goroutines may clone and look at it.
type Machine struct {
	// Objects are shared between clones and copied before their first change; see
	// cow.go. Each slice is sorted by identity.
	inodes []*inode
	descs  []*desc
	procs  []*proc
	marks  []Mark     // sorted by task; never changed in place
	seen   []InodeID  // under InodesFirstSeen: inodes whose number was shown, from 1; never changed in place
	shown  []numbered // with Options.ChildPids: what was shown, by family; never changed in place
	// journal has the changes of names that may be lost, where they come in one order; see diskorder.go.
	journal []change

	*setup  // never changed in place; see mutSetup
	*seldom // never changed in place; see mutSeldom

	own                           *token // marks the objects that only this machine holds
	ownInodes, ownDescs, ownProcs bool   // whether the slices above are this machine's alone
	nextInode                     InodeID
	nextDesc                      descID
	maxPid                        int   // the highest pid ever used
	clock                         int64 // nanoseconds since 1970
	nextIno                       uint64
	turn                          uint64 // the last one given to a wait or to an flock
	version                       uint64
	numbered                      uint64 // how many of these changes are numbers that were shown
	preparing                     *error // see Prepare; nil but during it
	leadsTo                       string // during a call, where its path leads over the border
	stamped                       bool   // under TimesDiffer, the call that goes on has its time
}

// A setup is what a machine is like, which calls hardly ever change. Searches keep millions of machines, so
// that all share it.
type setup struct {
	boot           int64 // nanoseconds since 1970
	umask          uint32
	policy         InodePolicy
	times          TimePolicy
	dirLinksHidden bool
	childPids      int
	profile        Profile
	late           int64  // nanoseconds by which stamps lie behind the clock
	sealed         bool   // an overlay, and its image is there; see overlay.go
	imageInos      uint64 // numbers below are the image's
	punctual       []int  // pids, sorted
	lasts          bool   // sleeps take their time
	timely         bool   // nobody is delayed, and no time is taken back; see LetNobodyDelay
	powerLoss      bool   // remember what is durable; see powerloss.go
	disk           Disk   // and what may be left
	queues         bool   // remember who waits behind whom; see queue.go
	border         *border
	sign           string // see SetSign
	large          *large // see KeepStart
}

// A seldom is what few programs change: machines on which nobody does share it.
type seldom struct {
	exits     []Exit      // sorted by pid; never changed in place
	paces     []pace      // sorted by task; never changed in place. See punctual.go
	naps      []nap       // sorted by task; never changed in place. See sleep.go
	signals   []Signalled // that have not come yet, sorted; never changed in place. See signal.go
	stallLeft int64       // nanoseconds
	back      int64       // nanoseconds by which the clock was set back
	base      int64       // what of the clock is never taken back; see sleep.go
	// syncing, unless 0, is a file that the last call wrote to through O_SYNC, or O_DSYNC with syncData.
	syncing  InodeID
	syncData bool
}

// Options says what kind of machine [New] makes. The zero value is a local Linux
// file system with canonical inode numbers and coarse times, umask 022, on 1 January 2026.
type Options struct {
	// Profile is the file system's semantics.
	Profile Profile
	// InodeNumbers is how inodes get the numbers that programs see.
	InodeNumbers InodePolicy
	// FileTimes is how changes of files get the times that programs see.
	FileTimes TimePolicy
	// Start is the clock's first value, and when the machine booted.
	Start time.Time
	// Umask is every process's umask; zero means 022. [NoUmask] is none.
	Umask uint32
	// DirLinksHidden: stat(2) shows one link of every directory, as on btrfs, and not how many
	// directories are in it.
	DirLinksHidden bool
	// ChildPids, unless 0, is how many pids belong to what a process starts: those from its own pid times so many
	// on. Then a file has one number for all processes, under InodesCanonical and InodesReuse: for a program may compare
	// what it is shown with what another one was. Both give the same numbers until one comes back.
	ChildPids int
	// PowerLoss makes the machine remember what is durable, for [Machine.Lose].
	PowerLoss bool
	// Disk is what may be left after a loss of power.
	Disk Disk
}

// NoUmask is the [Options.Umask] of processes that mask no permission bit.
const NoUmask = 1 << 31

// An InodePolicy is how inodes get the numbers that stat(2) shows.
type InodePolicy uint8

// The inode policies.
const (
	// InodesCanonical numbers inodes per process, in the order in which the process
	// first saw them. Programs can compare numbers within a process, which is what
	// they may rely on, and interleavings that differ only in allocation order merge.
	InodesCanonical InodePolicy = iota
	// InodesReuse gives a new inode the lowest number that no inode has, as ext4 does: a
	// number returns with the first file that is made after its inode has gone. (xfs gives
	// it again, too, but later.)
	InodesReuse
	// InodesUnique never gives a number twice, and numbers inodes as they are made.
	InodesUnique
	// InodesFirstSeen never gives a number twice, as tmpfs and btrfs do, and numbers inodes in
	// the order in which anybody was first shown them: so a number means the same file to
	// every process, and files that nobody asks about make no difference.
	InodesFirstSeen
	// InodesCompared is InodesCanonical where it was found out that no program does more with two
	// numbers than compare them: whoever knows that numbers never come back need not tell it apart
	// from InodesFirstSeen, and a process may forget numbers that it will never compare again.
	InodesCompared
)

// A TimePolicy is how a change of a file gets the time that stat(2) shows.
type TimePolicy uint8

// The time policies. With all, times move with the machine's clock.
const (
	// TimesCoarse stamps a change with the clock, which moves only when told to: any number
	// of changes share a time. So they do on Linux before 6.13 within a tick of 4 ms, and on
	// ext4 with inodes of 128 bytes within a second.
	TimesCoarse TimePolicy = iota
	// TimesMultigrain makes a change show to whoever looked at the file before, as Linux 6.13
	// and later do on ext4, xfs, btrfs and tmpfs: when the file's times were asked for since
	// its last change, the clock moves by a nanosecond. Other changes share a time as before,
	// also with those of other files.
	TimesMultigrain
	// TimesLate is TimesCoarse with stamps that are a [Tick] older than the clock: Linux stamps what nobody has
	// looked at with the time of the last tick, so that a file may look older than a clock that was read before it was made.
	TimesLate
	// TimesDiffer gives each call that changes files a time of its own, a second later than the one before, as if
	// everybody were slow: so the order of changes shows in the times of any two files.
	TimesDiffer
)

// Tick is how far stamps lie behind the clock under [TimesLate]: 4 ms, a jiffy of a kernel with HZ=250.
const Tick = 4 * time.Millisecond

// New returns a machine with an empty "/" (root's, mode 0755), "/tmp" (sticky, mode
// 1777), and the process 1 ("init", uid 0).
func New(o Options) *Machine {
	if !o.Profile.Modelled() {
		panic(fmt.Sprintf("fsfake: profile %d is not modelled", o.Profile))
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Umask == 0 {
		o.Umask = 0o022
	}
	if o.InodeNumbers == InodesCompared {
		o.InodeNumbers = InodesCanonical
	}
	s := &setup{
		boot: o.Start.UnixNano(), profile: o.Profile,
		umask: o.Umask & 0o777, policy: o.InodeNumbers, times: o.FileTimes, dirLinksHidden: o.DirLinksHidden || o.Profile == Btrfs,
	}
	s.childPids = o.ChildPids
	if o.FileTimes == TimesLate {
		s.late = int64(Tick)
	}
	m := &Machine{
		setup: s, seldom: &seldom{},
		clock:   s.boot,
		nextIno: 2, // the root directory of a Linux file system is inode 2
	}
	root := m.newInode(KindDir, 0o755, 0, 0)
	root.parent, root.nlink = root.id, 2
	tmp := m.newInode(KindDir, 0o1777, 0, 0)
	m.adopt(rootID, tmp.id)
	if s.childPids > 0 { // as what is made before the start
		root.ino, tmp.ino, m.nextIno = m.nextIno, m.nextIno+1, m.nextIno+2
	}
	m.addName(rootID, "tmp", tmp.id)
	m.AddProc(ProcSpec{Pid: 1})
	m.version, m.setup.powerLoss, m.setup.disk = 0, o.PowerLoss, o.Disk // which nobody shares yet
	return m
}

// Version counts the changes that some other task could observe: of names, contents,
// attributes, locks, processes and cells. A poller that saw nothing it wanted need not
// look again while it stands still. It is not part of the machine's key.
func (m *Machine) Version() uint64 { return m.version }

// ReusesInodes reports whether a new file gets the number of one that has gone: under [InodesReuse].
func (m *Machine) ReusesInodes() bool { return m.policy == InodesReuse }

// HasFreed reports whether an inode has gone, so that its number may come back.
func (m *Machine) HasFreed() bool { return int(m.nextInode) != len(m.inodes) }

// Now returns the virtual clock.
func (m *Machine) Now() time.Time { return time.Unix(0, m.clock).UTC() }

// Advance moves the virtual clock; nothing else moves it but sleeps that last. A negative d steps it back.
func (m *Machine) Advance(d time.Duration) {
	m.clock += int64(d)
	m.settle()
}
