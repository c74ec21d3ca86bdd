package anynumber

import "lockpick/fsfake"

// A shown changes what an answer shows: the one to the call number i of a path.
//
// The clock of a configuration stands still. Where changes show in file times (scenarios.TimesShow), each is later
// than those before it by nanoseconds, which never add up to an age. So a program sees another order of times, and
// nothing else: all equal, each that it is shown later than those before, each earlier, or the clock alone moves.
//
// Numbers of files are those of the process: 1 is the first that it was shown. A file system has others, in another
// order, of which two are equal where these are. A program that goes by more than that does something else when all
// are larger, or the other way round.
type shown func(i int, call fsfake.Call, r *fsfake.Result)

func later(i int, call fsfake.Call, r *fsfake.Result) {
	waited(i, call, r)
	dated(r, int64(4*i))
}

func earlier(i int, _ fsfake.Call, r *fsfake.Result) { dated(r, int64(-4*i)) }

func waited(i int, call fsfake.Call, r *fsfake.Result) {
	if call == fsfake.CallNow {
		r.N += int64(4 * i)
	}
}

// dated moves the times of a file.
func dated(r *fsfake.Result, by int64) {
	if st := &r.Stat; st.Ino != 0 {
		st.Btime, st.Atime, st.Mtime, st.Ctime = st.Btime+by, st.Atime+by+1, st.Mtime+by+2, st.Ctime+by+3
	}
}

func larger(_ int, _ fsfake.Call, r *fsfake.Result) {
	if r.Stat.Ino != 0 {
		r.Stat.Ino += 1 << 20
	}
}

func descending(_ int, _ fsfake.Call, r *fsfake.Result) {
	if r.Stat.Ino != 0 {
		r.Stat.Ino = 1<<20 - r.Stat.Ino
	}
}
