package fsfake

import (
	"slices"
	"syscall"
)

// A Profile is a family of file-system semantics.
type Profile uint8

// The profiles. [New] panics for those that are not modelled. Posix is what programs may rely on
// on a local file system under Linux; where these differ it does what ext4 does. The others of Linux
// do what the file system of that name does (measured on Linux 6.18), as far as [Profile.Differs] says;
// what becomes of inode numbers is [Options.InodeNumbers]'s to say.
const (
	Posix   Profile = iota
	NFS             // not modelled
	Windows         // not modelled
	MacOS           // not modelled
	Ext4
	XFS
	Btrfs
	Tmpfs
	Overlay
)

// profiles is the table of profiles.
var profiles = [...]struct {
	name     string
	modelled bool
	differs  []string
}{
	Posix: {"posix", true, nil}, NFS: {"nfs", false, nil}, Windows: {"windows", false, nil}, MacOS: {"macos", false, nil},
	Ext4: {"ext4", true, nil},
	XFS: {"xfs", true, []string{
		"rename over a directory that is not empty is EEXIST, not ENOTEMPTY",
		"truncate(2) to the size that a file has changes no times",
		"RENAME_EXCHANGE changes no ctime, but of directories that get another parent, and of what they are exchanged with",
	}},
	Btrfs: {"btrfs", true, []string{
		"a directory is listed as it was when it was opened, less what is gone by the time it is read: a name that is made or replaced in between is not listed, until the description is rewound",
		"a directory has one link, however many directories are in it",
		"truncate(2) to the size that a file has changes no times",
	}},
	Tmpfs: {"tmpfs", true, []string{"truncate(2) of an empty file to size 0 changes no times"}},
	Overlay: {"overlay", true, []string{
		"a directory of the image is renamed nowhere (EXDEV)",
		"a file of the image that is open for reading has its links, however many names are removed",
		"the names of a file of the image are files of their own, with the number of one: each has locks of its own, and who writes to one changes that alone",
		"a directory of the image in which something was changed has one link",
	}},
}

// ProfileNames lists the names of the profiles, in the order of their values.
func ProfileNames() []string {
	var out []string
	for _, p := range profiles {
		out = append(out, p.name)
	}
	return out
}

// String returns the name: "btrfs".
func (p Profile) String() string { return profiles[p].name }

// Modelled reports whether a machine can have the profile.
func (p Profile) Modelled() bool { return int(p) < len(profiles) && profiles[p].modelled }

// Differs says in sentences what the profile does otherwise than [Posix].
func (p Profile) Differs() []string { return slices.Clone(profiles[p].differs) }

// Profiles is a set of profiles.
type Profiles uint16

// NewProfiles returns the set of some profiles.
func NewProfiles(list ...Profile) Profiles {
	var s Profiles
	for _, p := range list {
		s |= 1 << p
	}
	return s
}

// Has reports whether a profile is in the set.
func (s Profiles) Has(p Profile) bool { return s&(1<<p) != 0 }

// Profiled are the profiles on which what a call answers, or leaves, may be otherwise than on [Posix]: its
// answer is of one of the kinds that these differ in. What a name that is made, or goes, leaves otherwise on
// btrfs, only a listing shows. The links that a Stat has are another such kind, on btrfs and overlay.
func (r Result) Profiled(op Op) Profiles {
	switch op.Call {
	case CallReaddir:
		return NewProfiles(Btrfs, Overlay)
	case CallTruncate:
		return NewProfiles(XFS, Btrfs, Tmpfs, Overlay)
	case CallRename:
		switch {
		case r.OK() && op.Flags&RENAME_EXCHANGE == 0, r.Errno == EXDEV:
			return NewProfiles(Overlay)
		case r.OK(), r.Errno == ENOTEMPTY, r.Errno == EEXIST:
			return NewProfiles(XFS, Overlay)
		}
	}
	return 0
}

// keepsTimes reports whether truncate(2) of a file of a size to that size changes no times.
func (p Profile) keepsTimes(size int64) bool {
	return p == XFS || p == Btrfs || p == Tmpfs && size == 0
}

// full is what a rename over a directory answers that is not empty.
func (p Profile) full() syscall.Errno {
	if p == XFS {
		return EEXIST
	}
	return ENOTEMPTY
}

// listsOpened reports whether a directory's listing begins when it is opened.
func (p Profile) listsOpened() bool { return p == Btrfs }

// exchanged stamps what was exchanged. On xfs a directory that gets another parent is all that changes,
// and the other one with it.
func (m *Machine) exchanged(from, to *place) {
	if m.profile != XFS {
		m.changed(from.id)
		m.changed(to.id)
		return
	}
	for _, p := range [][2]InodeID{{to.id, from.id}, {from.id, to.id}} {
		if from.dir != to.dir && m.inode(p[0]).kind == KindDir {
			m.changed(p[1])
			m.modify(m.mutInode(p[0]))
		}
	}
}

// entered tells the descriptions of a directory that a name was made in it or replaced.
func (m *Machine) entered(dir InodeID, s string) {
	if !m.profile.listsOpened() {
		return
	}
	for i := range m.descs {
		d := m.descs[i]
		if d.inode != dir || d.isPath() || d.offset != 0 {
			continue
		}
		if at, found := slices.BinarySearch(d.since, s); !found {
			d = m.mutDesc(d.id)
			d.since = slices.Insert(slices.Clone(d.since), at, s)
		}
	}
}

// left tells the descriptions of a directory that a name has gone: whether it was there before makes
// no difference any more, as one that is made anew is new.
func (m *Machine) left(dir InodeID, s string) {
	if !m.profile.listsOpened() {
		return
	}
	for i := range m.descs {
		d := m.descs[i]
		if at, found := slices.BinarySearch(d.since, s); found && d.inode == dir {
			d = m.mutDesc(d.id)
			d.since = slices.Delete(slices.Clone(d.since), at, at+1)
		}
	}
}

// rewound forgets what was made since a directory was opened: it is read, or read anew.
func (m *Machine) rewound(d *desc) {
	if len(d.since) > 0 {
		m.mutDesc(d.id).since = nil
	}
}
