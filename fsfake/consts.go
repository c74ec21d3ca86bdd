package fsfake

import "math"

// Flags of open(2). The values are those of Linux on x86, on whatever system the fake
// runs. [Proc.OpenFile] takes the flags of package os, and beside them those that package
// os does not have.
const (
	O_RDONLY    = 0
	O_WRONLY    = 1
	O_RDWR      = 2
	O_ACCMODE   = 3
	O_CREAT     = 0x40
	O_EXCL      = 0x80
	O_NOCTTY    = 0x100
	O_TRUNC     = 0x200
	O_APPEND    = 0x400
	O_NONBLOCK  = 0x800
	O_DSYNC     = 0x1000
	O_DIRECT    = 0x4000
	O_LARGEFILE = 0x8000
	O_DIRECTORY = 0x10000
	O_NOFOLLOW  = 0x20000
	O_NOATIME   = 0x40000
	O_CLOEXEC   = 0x80000
	O_SYNC      = 0x101000
	O_PATH      = 0x200000
	O_TMPFILE   = 0x410000
)

// FD_CLOEXEC is the flag of a descriptor that execve(2) closes.
const FD_CLOEXEC = 1

// Operations of [File.Flock].
const (
	LOCK_SH = 1
	LOCK_EX = 2
	LOCK_NB = 4
	LOCK_UN = 8
)

// Types of record locks, for [File.FcntlLock] and [File.OFDLock].
const (
	F_RDLCK = 0
	F_WRLCK = 1
	F_UNLCK = 2
)

// Flags of [Proc.Rename2].
const (
	RENAME_NOREPLACE = 1
	RENAME_EXCHANGE  = 2
	RENAME_WHITEOUT  = 4
)

// AT_SYMLINK_FOLLOW is the flag of linkat(2) that links what a symlink leads to.
const AT_SYMLINK_FOLLOW = 0x400

// SEEK_DATA and SEEK_HOLE of lseek(2), beside those of package io.
const (
	SEEK_DATA = 3
	SEEK_HOLE = 4
)

// Flags of stat, lstat, fstat and readdir: what of the answer the caller looks at, as the mask of
// statx(2) says it. 0 is all of it. What nobody looks at is not told: an inode number that
// a program is shown is remembered for it, and so a state of its own.
const (
	LookType   = 1 << iota // no inode number, no times
	lookDirIno             // beyond that, the inode number of a directory
	LookIno                // of readdir: inode numbers, too
)

// Flags of pread. Shares makes it a shared mapping that shows what it reads: from then on a change of the file's
// contents is modelled only through the description that was mapped, for then the program sees it. Unshares says that
// nothing is mapped through it any more.
const (
	Shares = 1 << iota
	Unshares
)

// AtLeast, as a flag of ftruncate, makes it fallocate(2) of so many bytes from the file's beginning: a file that is
// longer keeps its content, and is stamped as on ext4 and XFS.
const AtLeast = 1

// UTIME_OMIT, as a time of utimes or futimes, leaves that time of the file as it is.
const UTIME_OMIT = math.MinInt64

// UTIME_NOW, as such a time, is that of the change.
const UTIME_NOW = math.MinInt64 + 1
