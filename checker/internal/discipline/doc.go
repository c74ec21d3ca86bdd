// Package discipline proves that any number of copies of one command leave behind what they leave behind one after the
// other, because each does all that others can notice while it holds one lock (two-phase locking: Eswaran et al., CACM
// 1976; reduction: Lipton, CACM 1975).
//
// A copy is run alone, on the files at the start, on what that leaves, and so on. The names and files that any
// of these runs changes are the shared ones. The proof is that there is one lock, an exclusive lock of the kernel on
// a file whose name never changes, or a name that is made where there is none and removed, such that in each run
//   - the lock is taken once and given back once;
//   - before and after, a copy changes nothing, asks for no other lock, and looks at nothing that is shared, but at
//     who has the lock, whether its file is made yet, and how long a file is;
//   - whatever it sees there, it does nothing else until it has the lock, and then what it does when it runs alone.
//
// So a call outside of the lock answers the same whenever it is made, and copies can be taken for one after the
// other in the order in which they get the lock. Each finds what the one before has left, which is a state of the
// serial run. The length of a file that a copy is shown outside of the lock is one that the file has at some moment of
// that run: each is tried, and the copy must do the same. Nobody waits for ever, since who holds the lock waits for
// nothing.
//
// Processes of one copy may make calls at the same time while it has the lock, all that it has started. It is run in
// every order of these calls then, each keeps to the lock, and all end alike.
//
// It is for every number of copies once a run leaves the files as it has found them. Where each run leaves something
// new, a counter say, the runs are [Copies], and it is assumed, and said, that later ones keep to the lock as well.
//
// The package runs programs on machines. It must not know how verdicts are concluded. Kills, and what asks
// about other processes, threads and clocks, are refused. Programs that no scenario follows in time are run along all
// these runs again with time passing on the way, and must do the same.
package discipline
