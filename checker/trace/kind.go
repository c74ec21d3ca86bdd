package trace

import "slices"

// A Kind is a kind of cause, by what goes wrong and what is done about it. Its id stays the same from version to
// version: reports, SARIF and acceptances name it. docs/causes.md has a section for each.
type Kind struct {
	// ID is "LP1002"; Name a few words, Says what happens, Fix what to change, each a sentence.
	ID, Name, Says, Fix string
}

// Unexplained is the id of the kind that a cause has when nothing better is known.
const Unexplained = "LP1099"

// KindOf returns the kind that has an id; false when none has.
func KindOf(id string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.ID == id })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Kinds lists all kinds of causes, in the order of their ids.
func Kinds() []Kind { return slices.Clone(kinds) }

var kinds = []Kind{
	{
		"LP1001", "look, then create",
		"A process looks for a file, finds none, and creates it. Another does the same in between.",
		"Create the file with O_EXCL (in sh `set -C`), or make a directory: who finds it there has not got the lock.",
	},
	{
		"LP1002", "read, then write",
		"A process reads a file and writes it anew. What others wrote in between is lost.",
		"Take one lock, on a file of its own, before the read, and keep it until the write has reached the file.",
	},
	{
		"LP1003", "removed by name",
		"A process removes or renames what it has seen at a name. By then another file stands there.",
		"Do not remove a lock that is not your own by its name. Use flock on a file that nobody removes.",
	},
	{
		"LP1004", "closing drops the record lock",
		"A process that closes any descriptor of a file loses all its record locks (fcntl, lockf) on the file.",
		"Use flock, or open the locked file once only and read and write through that descriptor.",
	},
	{
		"LP1005", "given back too early",
		"A process gives its lock back before its last change has reached the file.",
		"Flush or close the file before you unlock, or let the close do both. Read again after you have locked again.",
	},
	{
		"LP1006", "locked too late",
		"A process reads first and locks afterwards. What it read is old by then.",
		"Lock before the first read, and read again whatever was read before.",
	},
	{
		"LP1007", "lock on a file that lost its name",
		"A process locks or writes a file that stands at its name no more. Others open the new one.",
		"Do not remove or replace the lock file. Where it must go, compare the descriptor with the name after locking.",
	},
	{
		"LP1008", "refusal ignored",
		"A process is told that another has the lock, and goes on.",
		"Check the status of the locking command. Use mkdir without -p, and flock -n … || exit.",
	},
	{
		"LP1009", "removed by a process that did not have it",
		"A process removes a lock that another has made.",
		"Set the trap or the finally that removes the lock only after you have got it.",
	},
	{
		"LP1010", "two locks",
		"Two processes lock two different files, different bytes of one, or one file by two kinds of lock.",
		"Let all programs lock one file, named by an absolute path, by one kind of lock.",
	},
	{
		"LP1011", "shared locks",
		"Shared locks do not keep each other out, and their holders write.",
		"Take an exclusive lock (LOCK_EX, F_WRLCK, flock -x) before you change anything.",
	},
	{
		"LP1012", "opened without O_EXCL",
		"A process takes a lock by opening a file with O_CREAT alone, which succeeds when the file is there.",
		"Create the file with O_EXCL (in sh `set -C`), or make a directory.",
	},
	{
		"LP1013", "emptied before the lock",
		"An open with O_TRUNC empties the file before the process has locked it.",
		"Open without O_TRUNC (`>>` or `<>` in sh, `r+` or `a` in Python), lock, and truncate then.",
	},
	{
		"LP1014", "read amid a change",
		"A process reads a file while another is between two calls that change it.",
		"Write a new file and rename it into place, or let readers lock, too.",
	},
	{
		"LP1015", "taken for stale",
		"A process takes a lock for abandoned and removes it, although another has it.",
		"Let the kernel say whether the owner lives: flock on a file that nobody removes goes with its process.",
	},
	{
		"LP1016", "one side does not lock",
		"One process locks, and another changes the same file without the lock.",
		"Let all programs that read or change the file take the lock.",
	},
	{
		"LP1017", "a lock that is remembered",
		"A process goes by what it remembers of a lock, and the lock is another's by now.",
		"Ask the lock each time, and forget it where it is given back.",
	},
	{
		"LP1018", "one name for two drafts",
		"Two processes write their new versions under one temporary name.",
		"Give each process a temporary name of its own (mktemp), and lock where both changes must stay.",
	},
	{
		"LP1019", "between two calls",
		"Another process works on the files between two calls that belong together.",
		"Hold one lock around both calls, in all programs that use the files.",
	},
	{
		"LP1020", "left behind",
		"A lock or a file stays when its maker has ended, and nobody else removes it.",
		"Use a lock that goes with its process (flock), or remove the file on every way out.",
	},
	{
		"LP1021", "deadlock",
		"Processes wait for each other's locks, in a circle.",
		"Let all programs take their locks in one order, or give up and release when the second is refused.",
	},
	{
		"LP1022", "starvation",
		"A process tries again and again, and others always come first.",
		"Wait in the kernel (flock without -n), which wakes who waits.",
	},
	{
		"LP1023", "lost with the power",
		"The power goes before what was written or renamed is on the disk.",
		"fsync the file before the rename, and its directory afterwards.",
	},
	{
		"LP1024", "killed amid a change",
		"A process is killed between two calls that change a file.",
		"Write a new file and rename it into place: a rename is there or is not.",
	},
	{
		"LP1025", "refused, and nobody has it",
		"A process is told that another has the lock, and no process has.",
		"Try again for a while, or wait in the kernel (flock without -n), before you take the answer for true.",
	},
	{
		"LP1026", "both take one",
		"Two processes choose the same thing, and the second finds it gone.",
		"Claim it first by one call that only one can succeed with, such as a rename to a name of your own. " +
			"Or go on where it is done already, as mkdir -p does.",
	},
	{
		"LP1027", "refused, and gives up",
		"A process is told that another has the lock, and ends without its work.",
		"Wait for the lock (flock without -n, `.timeout` in sqlite3).",
	},
	{
		"LP1028", "goes on after its end",
		"A process ends, and what it has started goes on with the work. Who waits for it takes the work for done.",
		"Wait for what was started (`wait` in sh), or end it, too. In place of `timeout 5 flock` use `flock -w 5`.",
	},
	{
		"LP1029", "shared, then exclusive",
		"A process asks for an exclusive lock in place of a shared one. flock gives the one up before it waits.",
		"Take the exclusive lock before the first read, or read again after you have got it.",
	},
	{
		"LP1030", "a signal amid the work",
		"A process sends another one a signal while that is amid its work.",
		"Set the handler before you tell the pid, and have it finish or undo the work. " +
			"Or let who sends the signal take the lock first.",
	},
	{
		Unexplained, "not explained",
		"The schedule shows the violation. Why it happens is not known better.",
		"Read the schedule with --unfold.",
	},
}
