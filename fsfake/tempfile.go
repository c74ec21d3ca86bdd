package fsfake

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Temporary names. They hold the pid, the task and a count where package os draws digits,
// so that a name is a function of the task's own past.

// CreateTemp is os.CreateTemp: open with O_EXCL under a new name, again while the name
// exists. The default directory is /tmp.
func (p *Proc) CreateTemp(dir, pattern string) (*File, error) {
	var f *File
	_, err := p.temporary("createtemp", dir, pattern, func(name string) (err error) {
		f, err = p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return f, err
}

// MkdirTemp is os.MkdirTemp: mkdir under a new name, again while the name exists; when the
// directory does not exist, a stat(2) of it words the error. The default directory is /tmp.
func (p *Proc) MkdirTemp(dir, pattern string) (string, error) {
	name, err := p.temporary("mkdirtemp", dir, pattern, func(name string) error { return p.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrNotExist) {
		serr := p.pathCall("stat", Op{Call: CallStat, Path: tempDir(dir), Flags: LookType})
		if errors.Is(serr, fs.ErrNotExist) {
			err = serr
		}
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

func tempDir(dir string) string {
	if dir == "" {
		return "/tmp"
	}
	return dir
}

// temporary has something made under a name that nobody has.
func (p *Proc) temporary(op, dir, pattern string, create func(name string) error) (string, error) {
	if strings.Contains(pattern, "/") {
		return "", &fs.PathError{Op: op, Path: pattern, Err: errSeparator}
	}
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	if dir = tempDir(dir); !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	prefix = dir + prefix
	p.port.Note(PidSeen)
	const attempts = 10000
	for range attempts {
		p.temp++
		name := prefix + strconv.Itoa(p.pid) + "-" + strconv.Itoa(p.task) + "-" + strconv.Itoa(p.temp) + suffix
		if err := create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", &fs.PathError{Op: op, Path: prefix + "*" + suffix, Err: fs.ErrExist}
}

var errSeparator = errors.New("pattern contains path separator")
