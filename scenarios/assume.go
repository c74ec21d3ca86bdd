package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/lists"
)

// Assumptions fix what file systems and kernels do differently and what only a program that
// looks at inode numbers or file times can notice. The zero value fixes nothing: where tasks
// look, a check then decides each case by itself.
//
// Two cases of each are told apart, the ends of what there is. A file system that gives some
// numbers again and others not, as xfs does after a while, lies between them.
type Assumptions struct {
	Inodes InodeAssumption
	Times  TimeAssumption
	Sleeps SleepAssumption
	// Disk is what a loss of power may leave; the zero value leaves that to the setting's machine.
	Disk fsfake.Disk
}

// An InodeAssumption is what becomes of the number of a file that has gone.
type InodeAssumption uint8

// The assumptions about inode numbers.
const (
	// InodesOpen: either of the others.
	InodesOpen InodeAssumption = iota
	// InodesNotReused: it never comes back (tmpfs, btrfs).
	InodesNotReused
	// InodesReused: the next file that is made gets it (ext4; xfs gives it again later).
	InodesReused
)

// A TimeAssumption is whether a change of a file shows in its times.
type TimeAssumption uint8

// The assumptions about file times.
const (
	// TimesOpen: either of the others.
	TimesOpen TimeAssumption = iota
	// TimesShared: any number of changes may share a time: the clock ticks (Linux before
	// 6.13: 4 ms; ext4 with inodes of 128 bytes: 1 s).
	TimesShared
	// TimesShow: a change after somebody looked has a later time (Linux 6.13 and later).
	TimesShow
	// TimesLate: as TimesShared, and each stamp is a tick older than the clock ([fsfake.TimesLate]). It is
	// decided only when it is asked for.
	TimesLate
	// TimesDiffer: each change has a later time than the one before ([fsfake.TimesDiffer]). It is decided of programs
	// that act on the order of file times, and where it is asked for.
	TimesDiffer
)

// A SleepAssumption is what becomes of the clock while somebody sleeps.
type SleepAssumption uint8

// The assumptions about sleeps.
const (
	// SleepsOpen: as SleepsShort, and where that makes a difference as SleepsLast.
	SleepsOpen SleepAssumption = iota
	// SleepsShort: no time passes while somebody sleeps, as if all sleeps ended early.
	SleepsShort
	// SleepsLast: whoever sleeps goes on when the clock has moved by as much, and not before;
	// a round of a retry loop that changes nothing takes no time. See [fsfake.Machine.LetSleepsLast].
	SleepsLast
)

// The words of assumptions, and what they mean in sentences.
var (
	inodeWords = [...]string{"", "inodes-not-reused", "inodes-reused"}
	timeWords  = [...]string{"", "times-shared", "times-show", "times-late", "times-differ"}
	sleepWords = [...]string{"", "sleeps-short", "sleeps-last"}
	inodeWhere = [...]string{"", "inode numbers never come back (tmpfs, btrfs)", "inode numbers are reused (ext4, xfs; not tmpfs, btrfs)"}
	sleepWhere = [...]string{"", "sleeps take no time", "sleeps take as long as they say"}
	timeWhere  = [...]string{
		"", "two changes may share a time stamp (Linux before 6.13, within 4 ms)",
		"a change after a look always shows in the time stamp (Linux ≥ 6.13; before that not within 4 ms)",
		"time stamps are up to 4 ms older than the clock (what nobody has looked at, on Linux)",
		"no two changes get the same time stamp",
	}
)

// noAssumptions is the text of the zero value.
const noAssumptions = "nothing"

// String is the text that [ParseAssumptions] reads: "inodes-reused,times-show", "nothing".
func (a Assumptions) String() string {
	words := given(inodeWords[a.Inodes], timeWords[a.Times], sleepWords[a.Sleeps], a.diskWord())
	if len(words) == 0 {
		return noAssumptions
	}
	return strings.Join(words, ",")
}

// MarshalText is String, for JSON.
func (a Assumptions) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Where says in words where the assumptions are met, to stand after "where"; it is empty for
// none.
func (a Assumptions) Where() string {
	where := given(inodeWhere[a.Inodes], timeWhere[a.Times], sleepWhere[a.Sleeps])
	if disk := a.diskWord(); disk != "" {
		where = append(where, "the disk is "+disk)
	}
	return strings.Join(where, " and ")
}

// diskWord is the name of the disk, "" for none.
func (a Assumptions) diskWord() string {
	if a.Disk == 0 {
		return ""
	}
	return a.Disk.String()
}

// given lists the texts that are not empty.
func given(texts ...string) []string {
	return lists.Filter(texts, func(t string) bool { return t != "" })
}

// ParseAssumptions reads the text of assumptions: "nothing", or words with commas. The error
// lists the words.
func ParseAssumptions(text string) (Assumptions, error) {
	var a Assumptions
	if text == noAssumptions {
		return a, nil
	}
	for _, word := range strings.Split(text, ",") {
		d := slices.IndexFunc(fsfake.Disks(), func(d fsfake.Disk) bool { return d.String() == word })
		switch i, t, s := at1(inodeWords[:], word), at1(timeWords[:], word), at1(sleepWords[:], word); {
		case i > 0 && a.Inodes == 0:
			a.Inodes = InodeAssumption(i)
		case t > 0 && a.Times == 0:
			a.Times = TimeAssumption(t)
		case s > 0 && a.Sleeps == 0:
			a.Sleeps = SleepAssumption(s)
		case d >= 0 && a.Disk == 0:
			a.Disk = fsfake.Disks()[d]
		default:
			return a, fmt.Errorf("choose %s, one of %s and %s, one of %s, one of %s and %s, "+
				"a disk (posix, ext4, xfs or btrfs), or one of each with commas", noAssumptions,
				inodeWords[InodesNotReused], inodeWords[InodesReused], strings.Join(timeWords[TimesShared:], ", "),
				sleepWords[SleepsShort], sleepWords[SleepsLast])
		}
	}
	return a, nil
}

// at1 returns where a word stands in a list, from 1, or 0.
func at1(words []string, word string) int {
	for i := 1; i < len(words); i++ {
		if words[i] == word {
			return i
		}
	}
	return 0
}

// Allows reports whether a case may be so under the assumptions: it contradicts none.
func (a Assumptions) Allows(c Assumptions) bool {
	return (a.Inodes == 0 || c.Inodes == 0 || a.Inodes == c.Inodes) && (a.Times == 0 || c.Times == 0 || a.Times == c.Times) &&
		(a.Sleeps == 0 || c.Sleeps == 0 || a.Sleeps == c.Sleeps) && (a.Disk == 0 || c.Disk == 0 || a.Disk == c.Disk)
}

// Cases lists the cases of what is looked at, as far as the assumptions leave them open: in
// each, everything looked at is fixed. There is at least one, the assumptions themselves.
func (a Assumptions) Cases(inodes, times bool) []Assumptions {
	out := []Assumptions{a}
	if inodes && a.Inodes == InodesOpen {
		out = []Assumptions{a, a}
		out[0].Inodes, out[1].Inodes = InodesNotReused, InodesReused
	}
	if !times || a.Times != TimesOpen {
		return out
	}
	var all []Assumptions
	for _, c := range out {
		for _, t := range []TimeAssumption{TimesShared, TimesShow} {
			c.Times = t
			all = append(all, c)
		}
	}
	return all
}

// machine returns the options of a machine on which the assumptions are met.
func (a Assumptions) machine(o fsfake.Options) fsfake.Options {
	switch a.Inodes {
	case InodesNotReused:
		if o.InodeNumbers != fsfake.InodesCompared {
			o.InodeNumbers = fsfake.InodesFirstSeen
		}
	case InodesReused:
		o.InodeNumbers = fsfake.InodesReuse
	}
	switch a.Times {
	case TimesShared:
		o.FileTimes = fsfake.TimesCoarse
	case TimesShow:
		o.FileTimes = fsfake.TimesMultigrain
	case TimesLate:
		o.FileTimes = fsfake.TimesLate
	case TimesDiffer:
		o.FileTimes = fsfake.TimesDiffer
	}
	if a.Disk != 0 {
		o.Disk = a.Disk
	}
	return o
}

// onProfile is what is so on a file system. What xfs does lies between the cases: a number comes back, and
// not at once.
func onProfile(p fsfake.Profile) Assumptions {
	switch p {
	case fsfake.Ext4:
		return Assumptions{Inodes: InodesReused}
	case fsfake.Btrfs, fsfake.Tmpfs:
		return Assumptions{Inodes: InodesNotReused}
	}
	return Assumptions{}
}

// DiskOf is what a loss of power may leave in a setting.
func DiskOf(s *Setting) fsfake.Disk { return s.Assume.machine(s.Machine).Disk }

// chosen is what Assume says, and of the rest what is so on the setting's file system.
func (s *Setting) chosen() Assumptions {
	a := s.Assume
	if a.Inodes == InodesOpen && s.Machine.InodeNumbers == fsfake.InodesCanonical {
		a.Inodes = onProfile(s.Machine.Profile).Inodes
	}
	return a
}

// Compared returns a setting in which numbers never come back with [fsfake.InodesCompared]; false
// where they may, or where the setting itself says how files are numbered.
func (s *Setting) Compared() (Setting, bool) {
	out := *s
	out.Machine.InodeNumbers = fsfake.InodesCompared
	return out, s.Assumed().Inodes == InodesNotReused && s.Machine.InodeNumbers == fsfake.InodesCanonical
}

// Assumed is what is fixed in the setting: what Assume and the file system say, and what the
// options of the machine say otherwise than by default.
func (s *Setting) Assumed() Assumptions {
	a := s.chosen()
	if a.Inodes == InodesOpen {
		switch s.Machine.InodeNumbers {
		case fsfake.InodesReuse:
			a.Inodes = InodesReused
		case fsfake.InodesUnique, fsfake.InodesFirstSeen, fsfake.InodesCompared:
			a.Inodes = InodesNotReused
		}
	}
	if a.Times == TimesOpen {
		switch s.Machine.FileTimes {
		case fsfake.TimesMultigrain:
			a.Times = TimesShow
		case fsfake.TimesLate:
			a.Times = TimesLate
		case fsfake.TimesDiffer:
			a.Times = TimesDiffer
		}
	}
	return a
}
