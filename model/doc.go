// Package model holds sequential specifications: what a lock, a register or a
// log may answer when its operations happen one at a time. A recorded history
// of overlapping operations is right if some order of them, respecting real
// time, is legal here; that question is asked of porcupine ([Spec.Porcupine])
// or answered on the way, event by event ([Monitor]).
//
// # What it knows
//
// Operations and answers, as plain comparable values, and states, likewise. A
// specification is a set of pure functions, one per operation, from a state and
// an input to every legal [Outcome]. Each specification judges one property and
// no other, so that one history can be judged by several and each verdict means
// one thing:
//
//	Mutex         mutual-exclusion   two owners never hold together
//	StrictMutex   spurious-failure   "locked" only while somebody holds
//	OwnerRecord   owner-info         the recorded holder is a holder
//	Set           lost-update        what was added stays
//	Counter       lost-increment     every increment counts
//	Log           duplicate          no entry is appended twice
//	CursorLog     cursor-consistency no entry is appended twice, and the cursor tells the truth
//	Register      torn-read          a read answers what some write wrote
//	RWLock        rw-exclusion       a writer is alone, readers may be many
//	Lease         fencing            tokens grow, an overtaken token is refused
//
// Operations are shared where the same act feeds several properties: an
// [Acquire], recorded once, is judged by Mutex, StrictMutex and OwnerRecord.
// A specification ignores what it does not accept.
//
// # What it must not know
//
// Files, processes beyond their names, schedules, time. It imports porcupine
// and the standard library.
//
// # Limits
//
//   - The legal answers of an operation must be few enough to list. Where every
//     answer is legal, [Any] stands for all of them. A specification such as
//     "any number above the last" cannot be written; [Lease] therefore counts
//     its tokens one by one.
//   - Sets of names are kept as sorted text, so names must not contain the byte 0x1f. [Log] holds entries 0 to 63.
//     [Recordable] refuses others before a history has them; a specification that is given one panics.
//   - Deciding linearizability is NP-hard. Both judges are exponential in the
//     number of operations that overlap, not in the length of the history.
//   - Safety only. A history that stops early is never wrong for stopping;
//     wedges, deadlocks and starvation are not questions about histories.
package model
