package fsfake

// A Trait is what several calls have in common and others ask for. No list of calls stands elsewhere, so that a new
// call is not forgotten in one.
type Trait uint32

// The traits of calls.
const (
	// Changes names, contents, times or modes of files, where the call succeeds. An open may do so as well, by its
	// flags: see [O_CREAT] and [O_TRUNC].
	Changes Trait = 1 << iota
	// Makes something that whoever sets a machine up relies on.
	Makes
	// Creates a name where none is, and nothing where one is. An open does so by its flags.
	Creates
	// Looks at what is there by name, and relies on nothing.
	Looks
	// Follows a symlink at the end of its path. An open does so by its flags.
	Follows
	// Stats tells an inode number and times.
	Stats
	// Reads what a file holds, and Writes it, by descriptor.
	Reads
	Writes
	// Moves the offset of a descriptor without data.
	Moves
	// Truncates a file. An open does so by its flags.
	Truncates
	// SetsTimes of a file.
	SetsTimes
	// Duplicates a descriptor, and may close another.
	Duplicates
	// Closes a descriptor, which may give locks back.
	Closes
	// Locks takes or gives back a lock of the kernel.
	Locks
	// Records is about locks of ranges, which fcntl(2) takes, and OfDescription about locks that belong to an
	// open file description.
	Records
	OfDescription
	// Asks for the time, or for a process.
	Asks
	// Public hangs on what others do, or is seen by them, beside files and locks.
	Public
	// Ends its process.
	Ends
	// NoFile touches no file.
	NoFile
	// Flagged calls read with their flags at the end: O_CREAT|O_EXCL.
	Flagged
	// Plain calls have none of these traits.
	Plain
)

// traits are those of each call. They are apart from the table of calls because machines ask for them on their way.
var traits = [numCalls]Trait{
	CallOpen:      Flagged,
	CallStat:      Looks | Follows | Stats,
	CallLstat:     Looks | Stats,
	CallUnlink:    Changes,
	CallRename:    Changes | Makes,
	CallLink:      Changes | Makes | Creates,
	CallSymlink:   Changes | Makes | Creates,
	CallReadlink:  Looks,
	CallMkdir:     Changes | Makes | Creates,
	CallRmdir:     Changes,
	CallTruncate:  Changes | Makes | Follows | Truncates,
	CallUtimes:    Changes | Makes | Follows | SetsTimes,
	CallLutimes:   Changes | Makes | SetsTimes,
	CallChmod:     Changes | Makes | Follows,
	CallChown:     Changes | Makes | Follows,
	CallLchown:    Changes | Makes,
	CallChdir:     Looks | Follows,
	CallRead:      Reads,
	CallPread:     Reads,
	CallWrite:     Changes | Makes | Writes,
	CallPwrite:    Changes | Makes | Writes,
	CallLseek:     Moves,
	CallClose:     Closes,
	CallDup:       Duplicates,
	CallDup2:      Duplicates,
	CallDup3:      Duplicates,
	CallGetfd:     Plain,
	CallSetfd:     Plain,
	CallGetfl:     Plain,
	CallSetfl:     Plain,
	CallFstat:     Stats,
	CallFtruncate: Changes | Makes | Truncates,
	CallFutimes:   Changes | Makes | SetsTimes,
	CallFchmod:    Changes | Makes,
	CallFchown:    Changes | Makes,
	CallFsync:     Plain,
	CallReaddir:   Moves | Public,
	CallFlock:     Makes | Locks | OfDescription | Flagged,
	CallSetlk:     Makes | Locks | Records,
	CallGetlk:     Records,
	CallOFDSetlk:  Makes | Locks | Records | OfDescription,
	CallOFDGetlk:  Records | OfDescription,
	CallLinkFD:    Changes | Makes,
	CallKill:      Asks | Public | NoFile,
	CallStartTime: Asks | Public,
	CallProcs:     Asks | Public,
	CallExit:      Ends | NoFile,
	CallEnd:       Ends | Public | NoFile,
	CallFork:      NoFile,
	CallForkAs:    NoFile,
	CallExec:      NoFile,
	CallGetcwd:    Plain,
	CallNow:       Asks | NoFile,
	CallSleep:     Public | NoFile,
	CallWork:      NoFile,
	CallChoose:    NoFile,
	CallCellLoad:  NoFile,
	CallCellStore: NoFile,
	CallCellWait:  NoFile,
	CallStart:     Public | NoFile,
	CallCellCAS:   NoFile,
}

// Is reports whether a call has one of these traits.
func (c Call) Is(t Trait) bool { return int(c) < len(traits) && traits[c]&t != 0 }
