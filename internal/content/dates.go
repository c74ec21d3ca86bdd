package content

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Dates are the times of the files of the start, in nanoseconds since 1970, with the names of those that have them.
// They tell which time a file was given, as by cp -p or touch -r, from one that the clock made.
type Dates map[int64][]string

// DatesBelow are those of the files below a directory, by their names in it.
func DatesBelow(dir string) Dates {
	d := Dates{}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if i, err := e.Info(); err == nil && i.Mode().IsRegular() {
			d.Add(strings.TrimPrefix(name, dir+"/"), i.ModTime())
		}
		return nil
	})
	return d
}

// Add notes a file of the start.
func (d Dates) Add(name string, at time.Time) { d[at.UnixNano()] = append(d[at.UnixNano()], name) }

// old is a time before which no clock is that commands see. What is given such a time was given it as a constant, but
// for one that is counted back from the present by years: so the day alone is told.
var old = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Of is the time of a file as far as it was given: the time of another file of the start, or a day of the past. It is
// "" for a time that the clock made, and for the one that the file itself had at the start.
func (d Dates) Of(name string, at time.Time) string {
	switch of := d[at.UnixNano()]; {
	case slices.Contains(of, name):
		return ""
	case len(of) > 0:
		return "that of " + slices.Min(of)
	case at.Before(old):
		return at.UTC().Format(time.DateOnly)
	}
	return ""
}
