package command

import (
	"regexp"
	"strconv"
	"time"

	"lockpick/fsfake"
)

// Times in the names that a command takes, and in the texts that it leaves behind.

// claims reports whether a call takes a name with a time in it that only one process can have. Whoever comes later
// takes another then, and both go on.
func (p *latePort) claims(op, was *fsfake.Op) bool {
	const makes = fsfake.O_CREAT | fsfake.O_EXCL
	name, then := op.Path, was.Path
	if op.Call == fsfake.CallLink || op.Call == fsfake.CallRename {
		name, then = op.Path2, was.Path2
	}
	alone := op.Call.Is(fsfake.Creates) || op.Call == fsfake.CallOpen && op.Flags&makes == makes ||
		op.Call == fsfake.CallRename && op.Flags&fsfake.RENAME_NOREPLACE != 0
	return alone && name != then && !p.own.MatchString(name)
}

// opens notes which descriptors are of files with a time in their names: the same holds of a lock on one.
func (p *latePort) opens(op, was *fsfake.Op, r *fsfake.Result) {
	switch names := [2]string{op.Path, was.Path}; {
	case p.own == nil || !r.OK():
	case op.Call == fsfake.CallOpen && p.own.MatchString(op.Path):
		delete(p.timed, int(r.N))
	case op.Call == fsfake.CallOpen:
		p.timed[int(r.N)] = names
	case op.Call.Is(fsfake.Duplicates):
		p.timed[int(r.N)] = p.timed[op.FD]
	}
}

// alikeButTimes reports whether two calls are the same, but for times and dates in names and texts.
func alikeButTimes(a, b fsfake.Op) bool {
	a.Path, b.Path = withoutTimes(a.Path), withoutTimes(b.Path)
	a.Path2, b.Path2 = withoutTimes(a.Path2), withoutTimes(b.Path2)
	a.Data, b.Data = withoutTimes(a.Data), withoutTimes(b.Data)
	a.Time, b.Time, a.Time2, b.Time2 = 0, 0, 0, 0 // of a sleep, or that a file is given
	a.Len, b.Len, a.Off, b.Off = 0, 0, 0, 0
	return a == b
}

func withoutTimes(text string) string { return dated.ReplaceAllString(text, "0") }

// dated are numbers, and names of days and months, in a text.
var dated = regexp.MustCompile(` *[0-9]+|\b(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?\b` +
	`|\b(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?` +
	`|Aug(ust)?|Sep(tember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?)\b`)

// A dating is a text and until when it may have a time in it.
type dating struct {
	text  string
	until time.Time
}

// withoutDates is [withoutDates], which remembers long texts: a compiled program may lie in the directory.
func (r *record) withoutDates(text string, now time.Time) string {
	const long, most = 16 << 10, 64
	if len(text) < long {
		return withoutDates(text, now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	is := dating{text, now}
	if _, known := r.undated[is]; !known {
		if len(r.undated) >= most || r.undated == nil {
			r.undated = map[dating]string{}
		}
		r.undated[is] = withoutDates(text, now)
	}
	return r.undated[is]
}

// withoutDates replaces the times of day in a text that a run of the commands may have had, until now: seconds since
// 1970 and fractions of them, and dates.
func withoutDates(text string, now time.Time) string {
	const near = 24 * time.Hour // a clock may be ahead, and a text may tell when something ends
	return dates.ReplaceAllStringFunc(text, func(is string) string {
		seconds, err := strconv.ParseInt(is[:min(len(is), 10)], 10, 64)
		at := time.Unix(seconds, 0)
		if err == nil && (at.Before(begin.Add(-near)) || at.After(now.Add(near))) {
			return is
		}
		return "<time>"
	})
}

var dates = regexp.MustCompile(`\b[0-9]{10}([0-9]{3}|[0-9]{6}|[0-9]{9})?([.,][0-9]+)?\b` +
	`|\b20[0-9]{2}-[0-9]{2}-[0-9]{2}([T _][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?` +
	`|\b[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?\b`)
