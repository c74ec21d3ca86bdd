//go:build linux

package fsfake_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A cut is a loss of power: all events of a log up to one, but for some of those since the last flush.
type cut struct {
	upTo int
	lost []int // events that are not on the disk; of a torn one, its second half
	torn bool
	run  int
	step int // steps that had ended
}

// how says in few words what kind of loss it is.
func (c cut) how() string {
	switch {
	case c.torn:
		return "in the middle of a write"
	case c.lost != nil:
		return fmt.Sprintf("%d of the writes since the last flush lost", len(c.lost))
	}
	return "between two writes"
}

// mostLostAlone is how many writes since a flush are lost by themselves, or kept by themselves.
const mostLostAlone = 6

// cutsOf lists the losses of power of a log that has a mark "run N" before and "end" after each run, and "step" after
// each step. some draws a number below n.
func cutsOf(log []event, some func(n int) int) []cut {
	var all []cut
	var epoch []int // writes since the last flush
	now := cut{run: -1}
	add := func(upTo int, lost []int, torn bool) {
		c := now
		c.upTo, c.lost, c.torn = upTo, lost, torn
		all = append(all, c)
	}
	for i, e := range log {
		switch word := string(e.data); {
		case e.kind == 'M' && word == "end":
			add(i, nil, false)
			now.run = -1
		case e.kind == 'M' && word == "step":
			now.step++
		case e.kind == 'M':
			fmt.Sscanf(word, "run %d", &now.run)
			now.step = 0
		case e.kind == 'F':
			if now.run >= 0 && len(epoch) > 1 {
				for k := range min(len(epoch), mostLostAlone) {
					add(i, []int{epoch[k]}, false)
					var lost, half []int
					for j, w := range epoch {
						if j != k {
							lost = append(lost, w)
						}
						if some(2) == 0 {
							half = append(half, w)
						}
					}
					if add(i, lost, false); len(epoch) > 3 {
						add(i, half, false)
					}
				}
			}
			epoch = nil
		case now.run >= 0:
			if epoch == nil {
				add(i, nil, false)
			}
			epoch = append(epoch, i)
			if add(i+1, nil, false); len(e.data) > 4096 {
				add(i+1, []int{i}, true)
			}
		default:
			epoch = append(epoch, i)
		}
	}
	return all
}

// A cutter has the image of a disk as it was after so many events of a log, and mounts what cuts leave of it.
type cutter struct {
	log     []event
	image   *os.File
	applied int
	before  map[int][]byte // what was on the disk where an event has written
	dir     string         // for the image of a cut, and its mount
	fs      realFS
}

// left is what is left below a directory of the disk after a cut. Cuts come in their order.
func (c *cutter) left(at cut, below string) (string, error) {
	for ; c.applied < at.upTo; c.applied++ {
		if e := c.log[c.applied]; e.kind == 'W' {
			old := make([]byte, len(e.data))
			_, err := c.image.ReadAt(old, e.at)
			if err == nil || err == io.EOF {
				_, err = c.image.WriteAt(e.data, e.at)
			}
			if err != nil {
				return "", err
			}
			c.before[c.applied] = old
		} else if e.kind == 'F' {
			clear(c.before)
		}
	}
	name := c.dir + "/cut"
	f, err := copied(c.image, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := c.lose(f, at); err != nil {
		return "", err
	}
	mount := c.dir + "/after"
	if err := mountLoop(name, mount, c.fs.disk.String(), c.fs.options, false); err != nil {
		return "", fmt.Errorf("mounting what is left: %w", err)
	}
	text := realTree(filepath.Join(mount, below), "")
	return strings.Join(text, " "), again(func() error { return unix.Unmount(mount, 0) })
}

// lose undoes in an image what a cut loses.
func (c *cutter) lose(f *os.File, at cut) (err error) {
	put := func(data []byte, at int64) {
		_, e := f.WriteAt(data, at)
		err = errors.Join(err, e)
	}
	if at.torn {
		e, half := c.log[at.lost[0]], len(c.log[at.lost[0]].data)/2/4096*4096
		half = max(half, 4096)
		put(c.before[at.lost[0]][half:], e.at+int64(half))
		return err
	}
	if at.lost == nil {
		return nil
	}
	first := at.upTo
	for ; first > 0 && c.log[first-1].kind != 'F'; first-- {
	}
	for i := at.upTo - 1; i >= first; i-- {
		if c.log[i].kind == 'W' {
			put(c.before[i], c.log[i].at)
		}
	}
	for i := first; i < at.upTo; i++ {
		if e := c.log[i]; e.kind == 'W' && !slices.Contains(at.lost, i) {
			put(e.data, e.at)
		}
	}
	return err
}

// copied makes a copy of a file, which has holes where that has.
func copied(from *os.File, name string) (*os.File, error) {
	_ = os.Remove(name)
	to, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := from.Stat()
	if err == nil {
		err = to.Truncate(info.Size())
	}
	for at := int64(0); err == nil; {
		var end int64
		if at, err = unix.Seek(int(from.Fd()), at, unix.SEEK_DATA); err == unix.ENXIO {
			return to, nil
		}
		if err == nil {
			end, err = unix.Seek(int(from.Fd()), at, unix.SEEK_HOLE)
		}
		for err == nil && at < end {
			if _, err = unix.Seek(int(to.Fd()), at, io.SeekStart); err == nil {
				_, err = unix.Sendfile(int(to.Fd()), int(from.Fd()), &at, int(end-at))
			}
		}
	}
	return nil, errors.Join(err, to.Close())
}

// dug takes the blocks of zeros out of a file.
func dug(f *os.File) error {
	info, err := f.Stat()
	block, zeros := make([]byte, 65536), make([]byte, 65536)
	for at := int64(0); err == nil && at < info.Size(); at += int64(len(block)) {
		if at, err = unix.Seek(int(f.Fd()), at, unix.SEEK_DATA); err == unix.ENXIO {
			return nil
		}
		at -= at % int64(len(block))
		n, _ := f.ReadAt(block, at)
		if bytes.Equal(block[:n], zeros[:n]) {
			err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, int64(n))
		}
	}
	return err
}

// realTree is what stands below a real directory, a word for each name.
func realTree(dir, at string) (all []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{at + "=" + err.Error()}
	}
	for _, e := range entries {
		name, here := dir+"/"+e.Name(), at+e.Name()
		switch {
		case e.IsDir():
			all = append(append(all, here+"/"), realTree(name, here+"/")...)
		case e.Type()&os.ModeSymlink != 0:
			to, err := os.Readlink(name)
			all = append(all, here+"->"+to+errorText(err))
		default:
			text, err := os.ReadFile(name)
			all = append(all, here+"="+runs(string(text))+errorText(err))
		}
	}
	return all
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return "!" + err.Error()
}

// runs is a text with a number for how often each of its bytes comes in a row; zeros are 0.
func runs(s string) string {
	var b strings.Builder
	for s != "" {
		n := len(s) - len(strings.TrimLeft(s, s[:1]))
		fmt.Fprintf(&b, "%s*%d", strings.ReplaceAll(s[:1], "\x00", "0"), n)
		s = s[n:]
	}
	return b.String()
}
