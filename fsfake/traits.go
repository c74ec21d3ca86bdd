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
	// Removes a name, and puts nothing in its place.
	Removes
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
	// Passes waits for who has the other end of a FIFO.
	Passes
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
	// Viewed calls hang on nothing but the caller, the files that it can reach, their locks, and which processes live:
	// on what a view has, of which proofs for any number of processes are made.
	Viewed
	// Own calls change nothing but which descriptors the caller has.
	Own
	// Plain calls have none of these traits.
	Plain
)

// traits are those of each call. They are apart from the table of calls because machines ask for them on their way.
var traits = [numCalls]Trait{
	CallOpen:      Flagged | Viewed,
	CallStat:      Looks | Follows | Stats | Viewed,
	CallLstat:     Looks | Stats | Viewed,
	CallUnlink:    Changes | Removes | Viewed,
	CallRename:    Changes | Makes | Viewed,
	CallLink:      Changes | Makes | Creates | Viewed,
	CallSymlink:   Changes | Makes | Creates | Viewed,
	CallReadlink:  Looks | Viewed,
	CallMkdir:     Changes | Makes | Creates | Viewed,
	CallRmdir:     Changes | Removes | Viewed,
	CallMknod:     Changes | Makes | Creates,
	CallBind:      Changes | Makes | Creates,
	CallConnect:   Asks | Public | Follows,
	CallTruncate:  Changes | Makes | Follows | Truncates | Viewed,
	CallUtimes:    Changes | Makes | Follows | SetsTimes,
	CallLutimes:   Changes | Makes | SetsTimes,
	CallChmod:     Changes | Makes | Follows | Viewed,
	CallChown:     Changes | Makes | Follows,
	CallLchown:    Changes | Makes,
	CallChdir:     Looks | Follows,
	CallRead:      Reads | Viewed,
	CallPread:     Reads | Viewed,
	CallOpenFIFO:  Passes,
	CallTake:      Changes | Passes,
	CallWrite:     Changes | Makes | Writes | Viewed,
	CallPwrite:    Changes | Makes | Writes | Viewed,
	CallLseek:     Moves | Viewed,
	CallClose:     Closes | Viewed | Own,
	CallDup:       Duplicates | Own,
	CallDup2:      Duplicates,
	CallDup3:      Duplicates,
	CallGetfd:     Viewed,
	CallSetfd:     Viewed | Own,
	CallGetfl:     Viewed,
	CallSetfl:     Plain,
	CallFstat:     Stats | Viewed,
	CallFtruncate: Changes | Makes | Truncates | Viewed,
	CallFutimes:   Changes | Makes | SetsTimes,
	CallFchmod:    Changes | Makes | Viewed,
	CallFchown:    Changes | Makes,
	CallFsync:     Viewed,
	CallReaddir:   Moves | Public | Viewed,
	CallFlock:     Makes | Locks | OfDescription | Flagged | Viewed,
	CallSetlk:     Makes | Locks | Records | Viewed,
	CallGetlk:     Records | Viewed,
	CallOFDSetlk:  Makes | Locks | Records | OfDescription | Viewed,
	CallOFDGetlk:  Records | OfDescription | Viewed,
	CallListen:    Asks | Public,
	CallLinkFD:    Changes | Makes,
	CallKill:      Asks | Public | NoFile | Viewed,
	CallStartTime: Asks | Public | Viewed,
	CallProcs:     Asks | Public,
	CallExit:      Ends | NoFile | Viewed,
	CallEnd:       Ends | Public | NoFile | Viewed,
	CallFork:      NoFile,
	CallForkAs:    NoFile,
	CallExec:      NoFile | Own,
	CallGetcwd:    Viewed,
	CallNow:       Asks | NoFile | Viewed,
	CallSleep:     Public | NoFile | Viewed,
	CallWork:      NoFile | Viewed,
	CallChoose:    NoFile,
	CallCellLoad:  NoFile,
	CallCellStore: NoFile,
	CallCellWait:  NoFile,
	CallStart:     Public | NoFile,
	CallCellCAS:   NoFile,
}

// Is reports whether a call has one of these traits.
func (c Call) Is(t Trait) bool { return int(c) < len(traits) && traits[c]&t != 0 }
